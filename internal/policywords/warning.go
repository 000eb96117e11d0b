package policywords

import (
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// Warnings are what is allowed and hardly meant.
func Warnings(ds *policy.Dataset) []string {
	out := []string{}
	if f := ds.Borne(); f.Analyst > f.Dataset {
		out = append(out, fmt.Sprintf("failures: %d of one analyst are borne and %d of all together, so one analyst shuts everybody out; "+
			"write a larger number for the dataset", f.Analyst, f.Dataset))
	}
	for _, name := range ds.AnalystNames() {
		if q, _ := ds.Quota(name); paysForNothing(ds.Budget, q.Limit()) {
			out = append(out, emptyQuotaWarning("analyst", name, ds.Budget))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ds.Groups)) {
		if q, _ := ds.GroupQuota(name); paysForNothing(ds.Budget, q.Limit()) {
			out = append(out, emptyQuotaWarning("group", name, ds.Budget))
		}
	}
	return out
}

// paysForNothing reports whether a quota does not pay for one question at the default price.
func paysForNothing(b policy.Budget, limit dp.Cost) bool {
	if b.Pure() {
		return b.DefaultEpsilon > limit.Epsilon
	}
	if b.Either() && b.DefaultEpsilon <= limit.Epsilon {
		return false
	}
	return dp.RhoOfPure(b.DefaultEpsilon.Float()) > limit.Rho.Float()
}

func emptyQuotaWarning(noun, name string, b policy.Budget) string {
	text := fmt.Sprintf("the quota of the %s %s does not pay for one question at the default price, epsilon %s; "+
		"write a larger quota, or a smaller per_query: {default: ...}", noun, name, b.DefaultEpsilon.Short())
	if !b.Pure() {
		text += " (with a delta quotas are counted in rho, and half of an epsilon is about a quarter of its rho)"
	}
	return text
}
