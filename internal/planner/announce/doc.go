// Package announce says which types PostgreSQL announces for the columns of a SELECT. Clients that
// read binary decode by these, so sum(bigint) has to be a numeric here because it is one there.
//
// A type follows from the text and the columns of the policy alone, as in PostgreSQL's own parse
// analysis: operators and functions are chosen among PostgreSQL's by its rules for candidates
// (overload.go, functions.go), and names are followed through joins, subqueries, WITH and views
// (from.go, query.go). It looks at no tree, no value and no interval, and nothing that is computed
// or charged depends on it. What PostgreSQL does not have gets the type of the nearest that it has,
// or none: then whoever asks announces what the value is.
package announce
