package ownercmd

import "github.com/discreet-dp/discreet/policy"

// maxJoinedRows is how many rows of a person are joined with each other, by the tables in which a
// person can have many.
func maxJoinedRows(ds *policy.Dataset) map[string]int64 {
	out := map[string]int64{}
	for name, t := range ds.Tables {
		if t.UnitKind == policy.Many {
			out[name] = t.Joined()
		}
	}
	return out
}
