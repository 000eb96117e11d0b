package tree

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// Sensitivity returns how far one person can move a measure's vector over all
// groups, in steps, in the given norm.
//
// The argument. The engine reduces a person to one partial per group, keeps at most C =
// MaxGroups of them, and clamps each to [lo, hi], which holds 0 (Interval): what MaxRows rows come
// to, or less where a sum of one person is bounded by itself (Measure.Most). Which
// groups are kept depends on that person's rows and on nobody else's. So a
// person contributes a vector with at most C entries that are not 0, each in
// [lo, hi]. Let M be the larger of -lo and hi, and R = hi - lo <= 2M.
//
//   - add-remove: one such vector appears or disappears: l1 <= C M, l2^2 <= C M^2.
//   - substitute: one vector replaces another. Where both have an entry, in j
//     groups, they differ by at most R; in the others, at most 2(C-j), by at
//     most M. So l1 <= j R + 2 (C-j) M and l2^2 <= j R^2 + 2 (C-j) M^2, both
//     linear in j and so largest at one end: j = C, or the fewest that two sets
//     of C groups among all G can share, max(0, 2C - G).
func (q *Query) Sensitivity(m Measure, norm dp.Norm) dp.Sensitivity {
	lo, hi := q.Interval(m)
	larger := new(big.Int).Neg(lo)
	if larger.Cmp(hi) < 0 {
		larger = hi
	}
	width := new(big.Int).Sub(hi, lo)
	power := func(x *big.Int) *big.Int {
		if norm == dp.L2 {
			return new(big.Int).Mul(x, x)
		}
		return x
	}
	c, g := q.MaxGroups(), int64(q.Groups())
	if len(q.PrivateKeys()) > 0 {
		g = 2 * c // nobody knows how many groups there are
	}
	var d *big.Int
	if q.Neighbours == dp.AddRemove {
		d = Times(c, power(larger))
	} else {
		at := func(j int64) *big.Int {
			d := Times(j, power(width))
			return d.Add(d, Times(2*(c-j), power(larger)))
		}
		d = at(c)
		if e := at(max(0, 2*c-g)); e.Cmp(d) > 0 {
			d = e
		}
	}
	if norm == dp.L2 {
		return dp.NewL2Squared(d)
	}
	return dp.NewL1(d)
}

func Times(n int64, x *big.Int) *big.Int { return new(big.Int).Mul(big.NewInt(n), x) }
