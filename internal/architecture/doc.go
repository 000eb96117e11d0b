// Package architecture reads a tree of Go source and says how it is built: its packages and their
// sizes, and where it is wider, longer or named otherwise than the project wants. Its tests hold
// the project to that, and to the plan of which package may import which. It reads with go/parser
// alone, so that a tree that does not compile is measured too.
package architecture
