package ownercmd

import (
	"fmt"

	"github.com/discreet-dp/discreet/policy"
)

// describeFailures says how many failures are borne, and what ends it.
func describeFailures(ds *policy.Dataset) string {
	f := ds.Borne()
	return fmt.Sprintf("failures: after %d of one analyst, or %d of all together, there are no new answers until "+
		"'discreet incidents release'", f.Analyst, f.Dataset)
}

// policyWarnings are what is allowed and hardly meant.
func policyWarnings(ds *policy.Dataset) []string {
	out := []string{}
	if f := ds.Borne(); f.Analyst > f.Dataset {
		out = append(out, fmt.Sprintf("failures: %d of one analyst are borne and %d of all together, so one analyst shuts everybody out; "+
			"write a larger number for the dataset", f.Analyst, f.Dataset))
	}
	return out
}

// maxJoined is how many rows of a person are joined with each other, by the tables in which a
// person can have many.
func maxJoined(ds *policy.Dataset) map[string]int64 {
	out := map[string]int64{}
	for name, t := range ds.Tables {
		if t.UnitKind == policy.Many {
			out[name] = t.Joined()
		}
	}
	return out
}
