package tree

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// Twins are pairs of sums that share what one person moves: of x - l and of u - x, for the ends l
// and u of x, where nobody has more than one row. See [Query.TwinSensitivity].
func (q *Query) Twins() [][2]int {
	if q.Neighbours != dp.AddRemove || q.Choice != nil || !Private(q.From) || !q.From.Single() {
		return nil
	}
	var out [][2]int
	taken := map[int]bool{}
	for i, up := range q.Measures {
		for j, down := range q.Measures {
			if !taken[i] && !taken[j] && i != j && isTwin(up, down) {
				out = append(out, [2]int{i, j})
				taken[i], taken[j] = true, true
			}
		}
	}
	return out
}

// isTwin reports whether one sum is of x - l and the other of u - x, in the same steps, both from 0
// to u - l.
func isTwin(up, down Measure) bool {
	if up.Kind != Sum || down.Kind != Sum || up.Most != nil || down.Most != nil {
		return false
	}
	a, b := up.Arg.Type(), down.Arg.Type()
	rest, ok := down.Arg.(*Arith)
	if !ok || rest.Op != Sub || !isConstant(rest.L, a.Step) || b.Step == nil || a.Step.Cmp(b.Step) != 0 || a.Lo.Sign() != 0 ||
		b.Lo.Sign() != 0 || a.Hi.Cmp(b.Hi) != 0 {
		return false
	}
	x := up.Arg
	if moved, ok := x.(*Arith); ok && (moved.Op == Sub || moved.Op == Add) && isConstant(moved.R, a.Step) {
		x = moved.L
	}
	return Format(x) == Format(rest.R) && rest.R.Type().Step.Cmp(a.Step) == 0
}

// isConstant reports whether an expression is a number that is written in these steps.
func isConstant(e Expr, step *big.Rat) bool {
	l, ok := e.(*Literal)
	return ok && l.Number != nil && step != nil && l.Typ.Step != nil && l.Typ.Step.Cmp(step) == 0
}

// TwinSensitivity is how far one person moves both sums of twins together, in l1.
//
// A row adds a = x - l to the one and b = u - x to the other, each clamped to [0, W], W = u - l.
// Where l <= x <= u that is W together. Where an engine has an x beyond its ends, one of the two is
// clamped to W and the other to 0, which is W as well; where x is NULL both are 0. One person has
// one row, which is in one group, and is there or not: the vector of both sums over all groups
// moves by at most W. Released apart they would be calibrated to W each.
//
// An average is l + W A/(A+B). With Laplace noise of scale W/e on both its variance is about
// (W/e)^2 (1 + t^2)/n^2, where t from -1 to 1 is how far the average is from the middle of its
// ends. A sum around the middle and a count, at e/2 each, have noise of scales W/e and 2/e, and the
// average of them twice that variance. With Gaussian noise both ways are the same: (a, b) is
// (x - (l+u)/2, W/2) turned by an eighth of a circle, which that noise does not notice.
func (q *Query) TwinSensitivity(pair [2]int) dp.Sensitivity {
	return dp.NewL1(new(big.Int).Set(q.Measures[pair[0]].Arg.Type().Hi))
}
