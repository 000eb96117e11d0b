// Package dialect prints the private part of a question as SQL.
//
// The printer is the same for every database, and so is what it promises: every constant is a
// parameter, but for integers that we spell; whatever computes something from a row is NULL where
// it would fail; numbers and times are integers, in steps of their lattice, days or microseconds
// since 1970-01-01; what is kept of a person who has too much depends on that person's rows alone.
// What differs between databases is a [Dialect], a table beside the driver that uses it, and a
// [Schema] says how the tables are stored.
//
// # What the printer takes for granted
//
// TestDialectDecides finds words that databases do not agree on. These habits it does not find: a
// subquery in FROM needs no name (PostgreSQL from version 16 on); WHERE can name a column of its
// own SELECT, in the values of a quantile where nobody has several rows (neither PostgreSQL nor
// Trino); a sum of 64-bit integers has 128 bits (not in Trino); and a cast of a floating-point
// number to an integer rounds it (half to even here and in PostgreSQL, half up in Trino). Whoever
// adds a dialect begins there.
package dialect
