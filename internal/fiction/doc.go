// Package fiction makes up data that a policy could be about. It reads the policy and nothing else:
// what it makes has the tables, the columns, the paths and the people that a policy speaks of, and
// not a value of anybody's.
//
// [Schema] has the shape, and whoever makes rows brings the values: an audit those at which a
// system may forget something, and [Town] those that one would expect, for who tries SQL out.
package fiction
