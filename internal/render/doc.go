// Package render says in words and tables what the library says in structs, so that the command
// line and the server say it the same way: answers, prices, what is left, and explanations.
package render
