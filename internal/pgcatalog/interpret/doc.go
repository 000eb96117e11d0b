// Package interpret runs queries of PostgreSQL's grammar over tables in memory: in Go, without
// memory that is not Go's, in a bounded number of steps. What the tables hold is for whoever gives
// them (Database); what can be called is a table of signatures and functions (Library).
//
// A query is parsed (Parse) and bound (Library.Prepare), which decides all types, so that its
// columns are known before anything runs, and then run (Statement.Run). To bind makes a closure of
// every expression, and of every SELECT a function from the row around it to its rows.
//
// # What can be asked
//
// One SELECT, VALUES or TABLE: inner, left and right joins, LATERAL, subqueries, WITH (RECURSIVE),
// GROUP BY, HAVING, DISTINCT (ON), row_number() and rank() OVER, UNION, EXCEPT, ORDER BY, LIMIT,
// arrays of one dimension and their slices, records, casts, regular expressions, and the functions
// of the library. Parameters are $1, $2, ... Types are those of PostgreSQL, and errors have its
// codes and texts. A numeric is exact, with up to 1000 digits; an interval and a document of JSON
// are kept as their texts, and texts are in the order of their bytes. Regular expressions are
// those of RE2: no look-around, no back references.
//
// What PostgreSQL has and this package has not is refused with 0A000 and a reason (package
// inventory). A function that only does an operator is answered where the operator is. The
// functions of questions (internal/planner/expr) are others: they are total, and PostgreSQL's
// fail.
//
// # Limits
//
// A text has at most 64 KiB, 6000 words and 64 levels of parentheses, which is checked before it is
// parsed, and 300 SELECTs. A run takes the steps and bytes that it is given (Limits), and a result
// has at most 100,000 rows and 16 MiB. What needs more ends with 54000.
package interpret
