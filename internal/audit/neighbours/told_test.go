package neighbours_test

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/policy"
)

// told prepares a question once more, over the neighbour, and says where what is told for free is
// not the same.
func (t *trial) told(text string, s *plan.Statement, err error) string {
	r, other := generate.Prepare(t.ds, text, plan.Options{Public: t.refs[1].Public()})
	if fmt.Sprint(err) != fmt.Sprint(other) {
		return fmt.Sprintf("%v, and without the target %v", err, other)
	}
	if err != nil {
		return ""
	}
	if len(s.Plans) != len(r.Plans) || s.Empty != r.Empty || fmt.Sprint(s.Outer) != fmt.Sprint(r.Outer) {
		return "another statement without the target"
	}
	for i, p := range s.Plans {
		if p.Query.Hash() != r.Plans[i].Query.Hash() || len(p.Within) != len(r.Plans[i].Within) {
			return "another plan without the target"
		}
	}
	return ""
}

// paid says what is wrong with what a statement costs: whatever is made of people's rows is bought,
// each under its own name and for what its own noise costs, and the price is all of that together.
func (t *trial) paid(s *plan.Statement) string {
	private := func(table *policy.Table) bool { return !table.Public }
	if slices.ContainsFunc(s.Tables, private) {
		return "rows of people are shown beside public ones"
	}
	ds := *t.ds
	ds.Budget = policy.Budget{Epsilon: 100 * dp.One, Delta: dp.One / 1000, KeysDelta: dp.One / 2000, DefaultDelta: dp.One / 4000,
		DefaultEpsilon: dp.One, MaxEpsilon: 10 * dp.One}
	p, err := pricing.Price(&ds, s, api.Settings{}, pricing.Currency{})
	if err != nil {
		return "" // as it would be refused
	}
	var all dp.Cost
	var seen []string
	var cubes []*pricing.Cube
	for i, one := range s.Plans {
		q := &one.Query
		if slices.Contains(seen, q.Hash()) || q.ListsKeys() {
			continue
		}
		seen = append(seen, q.Hash())
		b := p.Purchases[p.AnsweredBy[i]]
		if b.Query.Hash() != q.Hash() {
			return "the answer is that of another question"
		}
		if q.Choice == nil && len(b.Noise) != len(q.Measures) {
			return fmt.Sprintf("%d measures have noise, of %d", len(b.Noise), len(q.Measures))
		}
		switch c := b.Cube; {
		case c == nil:
			for _, n := range b.Noise {
				if n.Mechanism != nil {
					all = all.Add(n.Mechanism.Cost())
				}
			}
		case !slices.Contains(cubes, c): // all its members are made of one release
			cubes = append(cubes, c)
			if c.Query.MaxGroups() != 1 {
				return "somebody is in several cells of a cube"
			}
			for _, n := range c.Noise {
				all = all.Add(n.Cost())
			}
		}
		if b.Choice != nil {
			all = all.Add(b.Choice.Top.Cost())
		}
	}
	if cost := pricing.Cost(p.Purchases); cost.Epsilon < all.Epsilon || cost.Rho < all.Rho {
		return fmt.Sprintf("noise that costs %v is charged with %v", all, cost)
	}
	return ""
}
