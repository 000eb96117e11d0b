package sqlengine

import "github.com/discreet-dp/discreet/policy"

// Known is what is known of a query before its statements run.
type Known struct {
	Sums   map[int][]int64   // by measure, then by group
	Values map[int][][]int64 // by quantile, then by group
	// Where there are private keys nothing is left to run. Combos are those in which somebody is,
	// in any order, and Persons how many people are in each.
	Combos  [][]policy.Value
	Persons []int64
	// Members are the combinations of each person, where people are weighed, of one person after
	// the other, and Ends where those of each end.
	Members []int32
	Ends    []int
}

// know takes over what is known.
func (r *result) know(k *Known) {
	for m, sums := range k.Sums {
		r.sums[m] = sums
	}
	for m, values := range k.Values {
		r.values[m] = values
	}
	r.keys, r.persons = k.Combos, k.Persons
	r.members, r.ends = k.Members, k.Ends
}
