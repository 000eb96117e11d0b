// Package chunks hands the rows of a DuckDB query to Go, chunk by chunk, in DuckDB's own threads
// and in DuckDB's own memory. Nothing is copied, and no value is boxed.
//
// A query is printed as one aggregate over a function of ours, SELECT sum(discreet_take(...)) FROM
// ..., and DuckDB calls that function with each chunk as soon as it is computed. To fetch chunks of
// a result is three times slower: they are copied, queued, and fetched by one thread.
//
// # What it promises
//
//  1. It is the only package with unsafe memory in it. What leaves it are Go slices, and
//     they are good until the function that got the chunk returns.
//  2. Every row is handed over once. DuckDB is told that the function is volatile, so that it
//     neither repeats nor saves a call, and the number of rows that DuckDB summed up is compared
//     with the number that was handed over.
//  3. A context that ends interrupts the query.
//  4. An error has one text whatever the data is: what DuckDB says may quote a row. A panic becomes
//     an error.
//  5. The functions can be reached by SQL that the engine prints, and by nobody else: no text of an
//     analyst arrives at DuckDB.
package chunks

import duck "github.com/duckdb/duckdb-go-bindings"

// LibraryVersion is the version of the DuckDB that is linked here.
func LibraryVersion() string { return duck.LibraryVersion() }
