package postquery

// DuckDB is linked with -lstdc++; see engine/duckdb/link.go for why the folder has it.

// #cgo linux LDFLAGS: -L${SRCDIR}/../duckdb/link
import "C"
