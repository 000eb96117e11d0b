package tree

// Cube is the sets of one GROUP BY as marginals of one table, so that they can be released
// together: see mech.Residuals.
//
// Nobody has more than one row in the table's query, so one person adds to one of its groups. A
// group of a set is the union of those groups of the table that have its keys: a row that counts
// in the set has one value of every key of the table, because keys that may have others have one
// more value, the last, which stands for all of them and is not shown. So what is counted or
// summed in the set is the sum of the table's groups.
type Cube struct {
	// Query is the table: the private query with all keys of the sets.
	Query Query
	// Hidden says of each key that its last value stands for all that are not listed.
	Hidden []bool
	// Sets are which keys each set has, in its own order, and First is the first of its plans in
	// the statement; the others follow it.
	Sets  [][]int
	First int
}
