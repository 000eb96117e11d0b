//go:build !symbols

package duckdb

// A third of the time and of the size of everything that links DuckDB are symbols for debuggers.
// Stack traces and profiles of Go code do not need them; for delve, build with -tags symbols.

// #cgo LDFLAGS: -Wl,-s
import "C"
