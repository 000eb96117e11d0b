package duckdb

// DuckDB is written in C++ and is linked with -lstdc++, which the linker finds where
// g++ is installed. A machine with gcc alone has the library too, only not under that
// name; the folder link has the name.

// #cgo linux LDFLAGS: -L${SRCDIR}/link
import "C"
