// Package architecture holds no code. Its test keeps the house in order: which package
// may import which, and what nobody may import.
package architecture
