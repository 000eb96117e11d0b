// Package duckdb runs the private part of a question in an embedded DuckDB and returns exact
// integers, sealed.
//
// # What it promises
//
//  1. The analyst's text never arrives here. SQL is printed from plan's closed tree, with every
//     constant as a parameter, except that an integer which a column is compared with is spelled by
//     us.
//  2. DuckDB is locked before the first question: no external access beyond the files that the
//     policy names, no extension is loaded or installed, the configuration cannot be changed, and
//     its randomness is not used.
//  3. Every value is an integer before it is added up. A column is cast with TRY_CAST (what does
//     not fit is NULL), rounded to its lattice and clamped to its bounds, row by row; sums are
//     HUGEINT. A row is at most 2^53 steps, a person at most 2^20 rows, so 2^54 people fit below
//     the 2^127 where HUGEINT would overflow. The final sum is clamped to 62 bits, which moves
//     neighbouring sums apart by nothing: clamping never lengthens a distance.
//  4. A person is bounded after everything else, joins among it: one partial per (person, group),
//     at most MaxGroups of them by the smallest salted hash, each partial clamped; of distinct
//     values and of those of a quantile at most MaxRows in a group. Package bound does that for
//     counts and sums, with rows that it gets from DuckDB in bulk; for the rest, and for a unit of
//     a type whose values it cannot tell apart, SQL statements do. Which groups are kept depends on
//     that person's rows alone. Where nobody has more than one row none of this is needed, and none
//     is done.
//  5. Types of a CSV file are the policy's. Nothing about the file is guessed from its rows,
//     because a guess that one person's row can change is an answer about that row.
//  6. Who a row is about is compared as it is stored, in one type for all columns that say so, and
//     a table whose path has several steps is joined along it. Rows that lead to nobody are left
//     out, except where a table has one row for each person: there a row without a name is one of
//     its own.
//  7. Private keys are all returned, sealed, with the number of people behind each, and in the
//     order of their values: neither a limit nor the order in which rows are stored decides which
//     are seen.
//  8. What goes wrong while a question runs is reported as engine.ErrRun, the same text whatever
//     the data is.
//  9. Rows to train on ([Engine.Fetch]) are codes, and leave DuckDB in bulk and unsorted. Of a
//     person at most MaxRows are there, after all joins: those with the smallest salted hash of the
//     person and of what is in the row, and between equal hashes by what is in it. So which are
//     kept depends on that person's rows alone, and not on where they are stored.
package duckdb
