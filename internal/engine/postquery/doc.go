// Package postquery runs the part of a statement that is around its released results: any SELECT
// over tables whose values are noisy and public already, in a DuckDB of its own that holds nothing
// else.
//
// # What it promises
//
//  1. It costs nothing and reveals nothing. What it computes is a function of released values and
//     of the text (post-processing; Dwork and Roth 2014, proposition 2.1). No engine, no ledger and
//     no sealed value is imported here, and the DuckDB of a call is made for it, in memory, and
//     closed after it.
//  2. The analyst's text never arrives in DuckDB. Check prints SQL anew from the parse tree, and
//     what it has no print for is refused: a list of what is allowed, and not of what is forbidden.
//     Names are quoted, constants are written again, comments are gone.
//  3. A table is a released one or a WITH query of the same statement. A function is one of the
//     list in function.go: none of them reads a file, the environment, a setting, the catalog, the
//     clock or a random number, so the same released results always give the same answer.
//  4. Behind Check, DuckDB is locked: no external access, no file system, no extension, no
//     temporary files, no change of the configuration. A mistake in Check would find nothing to
//     reach.
//  5. Work is bounded: Memory, Time, MaxRows, MaxBytes, MaxColumns, and MaxRunning calls at a time,
//     with MaxOwnRunning of those that are about nobody's data beside them. DuckDB does not count
//     the bytes of texts that it is making, so Check bounds these: a function that makes texts
//     longer is allowed in forms of known growth, and its result ends after MaxText characters.
//     What is copied when a statement is planned (NULLIF, CASE x, split_part) counts as often as it
//     is copied. JSON and arrays are made in Go, up to MaxMade bytes for a statement, and DuckDB has
//     only numbers of them.
//  6. Refusals (Check, Describe) depend on the text and the names and types of released columns.
//     Errors of Run depend on released values too, and on nothing else but how busy the machine is.
//
// # What a statement means
//
// It means what it means in PostgreSQL, whose grammar it is written in: whole numbers divide to
// whole numbers, NULL sorts as the largest value, backslash escapes in LIKE, ~ finds a pattern
// anywhere, columns without a name are called as PostgreSQL calls them. It differs where DuckDB has
// nothing of the kind:
//
//   - what is divided by zero is NULL, and so is a number that is not finite;
//   - numeric without digits, and numeric divided by anything, is double precision; round of a
//     double takes halves away from zero;
//   - texts compare by their bytes, patterns are read by package posix where they are constants and
//     are RE2's otherwise, and a text of a double may be written differently;
//   - JSON and arrays are made, read and handed on, but not compared or sorted (jsonb neither); an
//     array has one dimension; there is no WITH RECURSIVE;
//   - a WITH query has a name of its own, not that of a released result or of another one in sight.
package postquery
