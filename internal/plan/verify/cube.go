package verify

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Cube checks the table that the sets of a GROUP BY are marginals of: that it is a query like
// others, that one person adds to one of its groups, and that each set has keys of it.
func Cube(ds *policy.Dataset, t *tree.Cube, sets []*tree.Plan) error {
	return guarded(func() {
		c := &checker{ds: ds}
		c.query(&t.Query, asked)
		c.must(c.relation(t.Query.From).single, "a table of people with several rows")
		c.must(t.Query.MaxGroups() == 1, "one person adds to %d groups of the table", t.Query.MaxGroups())
		c.must(t.Query.Choice == nil && len(t.Query.Measures) > 0, "a table of which nothing is released")
		for _, m := range t.Query.Measures {
			c.must(m.Kind == tree.CountRows || m.Kind == tree.CountValues || m.Kind == tree.Sum || m.Kind == tree.CountPersons,
				"a measure that does not add up")
		}
		c.must(len(t.Hidden) == len(t.Query.Keys), "keys that nobody knows whether to hide")
		for i, k := range t.Query.Keys {
			c.must(!k.Private && (!t.Hidden[i] || len(k.Values) > 1), "no value for all others")
		}
		c.must(len(t.Sets) == len(sets), "%d sets of %d", len(t.Sets), len(sets))
		for i, set := range t.Sets {
			c.locate("a set", func() { c.marginal(t, set, &sets[i].Query) })
		}
	})
}

// marginal checks that a set asks for the same about the same rows, by some keys of the table.
func (c *checker) marginal(t *tree.Cube, set []int, q *tree.Query) {
	c.must(len(set) == len(q.Keys) && len(q.Measures) == len(t.Query.Measures), "keys or measures are missing")
	for i, m := range q.Measures {
		other := t.Query.Measures[i]
		c.must(m.Kind == other.Kind && (m.Arg == nil) == (other.Arg == nil) && (m.Arg == nil || same(m.Arg, other.Arg)),
			"it measures something else")
	}
	for i, at := range set {
		c.must(at >= 0 && at < len(t.Query.Keys) && !slices.Contains(set[:i], at), "a key that there is not, or twice")
		k := t.Query.Keys[at]
		listed := k.Values
		if t.Hidden[at] {
			listed = listed[:len(listed)-1]
		}
		c.must(slices.EqualFunc(listed, q.Keys[i].Values, func(a, b policy.Value) bool { return a == b }), "a key with other values")
		own := k.Expr
		if e, ok := own.(*tree.Case); ok && t.Hidden[at] && len(e.Whens) == 1 && !same(own, q.Keys[i].Expr) {
			own = e.Whens[0].Then
		}
		c.must(same(own, q.Keys[i].Expr), "another key")
	}
}
