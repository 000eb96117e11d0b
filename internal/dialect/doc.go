// Package dialect prints the private part of a question as SQL.
//
// The printer is the same for every database, and so is what it promises: every constant is a
// parameter, but for integers that we spell; whatever computes something from a row is NULL where
// it would fail; numbers and times are integers, in steps of their lattice, days or microseconds
// since 1970-01-01; what is kept of a person who has too much depends on that person's rows alone.
// What differs between databases is a [Dialect], a table beside the driver that uses it, and a
// [Schema] says how the tables are stored.
package dialect
