package verify

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// twins checks sums that are said to share what one person moves. For every value of x, whatever an
// engine takes it for, what is added to both after their clamps has to be within the claim: they
// add x less a constant and a constant less x, in steps of x, and are clamped to intervals that
// begin at 0 and are as long as the claim, and as the constants are apart. So one rises as the
// other falls, and where one is cut the other is at its end.
func (c *checker) twins(q *tree.Query, from rows) {
	pairs := q.Twins()
	if len(pairs) == 0 {
		return
	}
	c.must(c.ds.Neighbours == dp.AddRemove && from.single && from.unit >= 0 && q.Choice == nil,
		"sums share what a person moves who may have several rows, or is replaced")
	seen := map[int]bool{}
	for _, p := range pairs {
		up, down := q.Measures[p[0]], q.Measures[p[1]]
		c.must(!seen[p[0]] && !seen[p[1]] && p[0] != p[1], "a sum is in two pairs")
		seen[p[0]], seen[p[1]] = true, true
		c.must(up.Kind == tree.Sum && down.Kind == tree.Sum, "a pair that is not of sums")
		x, least := up.Arg, zero
		if a, ok := x.(*tree.Arith); ok && (a.Op == tree.Sub || a.Op == tree.Add) {
			if l, constant := a.R.(*tree.Literal); constant {
				x, least = a.L, l.Number
				c.must(sameStep(l.Typ.Step, x.Type().Step), "a constant in other steps")
				if a.Op == tree.Add {
					least = new(big.Int).Neg(l.Number)
				}
			}
		}
		b, ok := down.Arg.(*tree.Arith)
		c.must(ok && b.Op == tree.Sub && same(b.R, x), "two sums that are of different values")
		most, constant := b.L.(*tree.Literal)
		c.must(constant && sameStep(most.Typ.Step, x.Type().Step), "two sums that do not add up to a constant")
		width := new(big.Int).Sub(most.Number, least)
		for _, m := range []tree.Measure{up, down} {
			lo, hi := q.Interval(m)
			c.must(sameStep(m.Arg.Type().Step, x.Type().Step), "two sums in different steps")
			c.must(lo.Sign() == 0 && hi.Cmp(width) == 0, "a sum that is not clamped to what both come to")
		}
		c.must(q.TwinSensitivity(p).L1().Cmp(width) >= 0, "one person moves both sums further than is claimed")
	}
}
