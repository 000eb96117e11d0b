// Package policywords says in words what a policy means: its budget, its tables and columns, what
// becomes of failures, and what is allowed and hardly meant. It sees the policy and nothing else.
package policywords

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// Budget says what a dataset's budget is.
func Budget(ds *policy.Dataset) string {
	b, rho := ds.Budget, ds.Filter().Limit().Rho
	if b.Pure() {
		return fmt.Sprintf("pure epsilon %v", b.Epsilon)
	}
	text := fmt.Sprintf("epsilon %v at delta %v (rho %s)", b.Epsilon, b.Delta, rho.Short())
	if b.Either() {
		text = fmt.Sprintf("epsilon %v at delta %v (by the sum of epsilon or the sum of rho, at most %s)", b.Epsilon, b.Delta, rho.Short())
	}
	if b.KeysDelta > 0 {
		text += fmt.Sprintf(", including delta %v for private keys", b.KeysDelta)
	}
	return text
}

// Rows says how many rows of a table count, and for whom.
func Rows(t *policy.Table) string {
	switch t.UnitKind {
	case policy.Unique:
		return "one for each person, unique " + t.UnitColumn
	case policy.Many:
		from := ""
		if t.LimitsFromData {
			from = " (chosen by looking at the data)"
		}
		return fmt.Sprintf("for one person %d in a group, in %d groups%s; at most %d joined with each other", t.MaxRows, t.MaxGroups, from,
			t.Joined())
	case policy.NoUnit:
		rows := fmt.Sprintf("public, at most %d for a row joined to it", t.MaxRows)
		if t.UniqueColumn != "" {
			rows += "; one by " + t.UniqueColumn
		}
		return rows
	}
	return "each row is a person"
}

// Path says how one gets from a row of a table to its person.
func Path(t *policy.Table) string {
	path := "-"
	for i, s := range t.Path {
		if i == 0 {
			path = s.Column
		}
		path += " -> " + s.Table + "." + s.Key
		if i+1 < len(t.Path) {
			path += ", " + t.Path[i+1].Column
		}
	}
	return path
}

// Asked is what can be asked of a column, in words.
type Asked struct{ Type, Bounds, Keys, Sum, Group string }

// Column says what can be asked of a column.
func Column(of *policy.Table, c *policy.Column) Asked {
	a := Asked{Type: c.Type.String(), Bounds: "-", Keys: "-", Sum: "no", Group: "no"}
	if c.Bounds != nil {
		a.Bounds = c.Show(c.Bounds.LoSteps) + " .. " + c.Show(c.Bounds.HiSteps)
		if c.Type != policy.Date && c.Type != policy.Timestamp {
			a.Sum = "yes"
		}
		if c.BoundsFromData {
			a.Bounds += " (read off the data)"
		}
	} else if c.Type == policy.Integer || c.Type == policy.Decimal {
		a.Sum = "needs bounds"
	}
	switch n := c.CountPublicValues(); {
	case n > 0:
		a.Keys, a.Group = fmt.Sprintf("%d public", n), "yes"
	case c.Keys == policy.PrivateKeys:
		a.Keys, a.Group = "private", "yes"
	case of.Public:
		a.Keys, a.Group = "public data", "yes"
	}
	return a
}

// Release says when answers leave a server, and who says so.
func Release(ds *policy.Dataset, tick time.Duration) string {
	long := tick.String()
	if tick == time.Minute {
		long = "60s" // as the policy's limit is written
	}
	r := ds.Release
	switch {
	case tick == 0:
		return "answers leave at once, so a clock shows how long they take; 'release: deadline' in the policy hides it"
	case r.TickAlone:
		return fmt.Sprintf("answers leave every %s, as soon as they are ready, so a clock shows how many ticks they take; "+
			"'release: deadline' in the policy hides it", long)
	}
	text := "answers leave at their deadlines, on ticks of " + long
	switch {
	case r.Chosen() && ds.Sizes != nil:
		text += ", chosen by the sizes that the policy declares; 'release' sets another"
	case r.Chosen():
		text += ", chosen by the size of the data; 'release' in the policy sets another"
	}
	if ds.Sizes == nil {
		text += ". Deadlines follow the sizes of the data, which one person can change; 'discreet check --sizes' prints what to declare"
	}
	return text
}

// Failures says how many failures are borne, and what ends it.
func Failures(ds *policy.Dataset) string {
	f := ds.FailureLimits()
	return fmt.Sprintf("failures: after %d of one analyst, or %d of all together, there are no new answers until "+
		"'discreet incidents release'", f.Analyst, f.Dataset)
}

// Warnings are what is allowed and hardly meant.
func Warnings(ds *policy.Dataset) []string {
	out := []string{}
	if f := ds.FailureLimits(); f.Analyst > f.Dataset {
		out = append(out, fmt.Sprintf("failures: %d of one analyst and %d of all together are tolerated, so one analyst can shut "+
			"everybody out; write a larger number for the dataset", f.Analyst, f.Dataset))
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
		text += " (with a delta, quotas are counted in rho, and half an epsilon is about a quarter of its rho)"
	}
	return text
}
