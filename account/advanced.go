package account

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/root"
)

// The advanced composition theorem of Dwork, Rothblum, Vadhan 2010 (Theorem III.3;
// Dwork, Roth 2014, Theorem 3.20), for claims that differ: mechanisms with
// (e_i, d_i) are together (epsilon, delta)-private with
//
//	epsilon = sum e_i (exp(e_i) - 1) + sqrt(2 ln(1/d') sum e_i^2), delta = d' + sum d_i
//
// for every d' > 0. For k equal claims this is the textbook's sqrt(2 k ln(1/d'))
// e + k e (exp(e) - 1). Without the second term, as it is sometimes quoted, it is
// not a theorem. The brackets hold the theorem's value; use the upper end.

// drift is sum e_i (exp(e_i) - 1) and spread is sum e_i^2.
func drift(terms []Repeated) span {
	return sums(terms, func(a Approx) span { e := exactly(a.Epsilon); return zeroOr(a.Epsilon, e.mul(e.expm1())) })
}

func spread(terms []Repeated) span {
	return sums(terms, func(a Approx) span { e := exactly(a.Epsilon); return zeroOr(a.Epsilon, e.mul(e)) })
}

func deltas(terms []Repeated) span {
	return sums(terms, func(a Approx) span { return exactly(a.Delta) })
}

// zeroOr keeps what is exactly zero exactly zero.
func zeroOr(x float64, s span) span {
	if x == 0 {
		return span{}
	}
	return s
}

// AdvancedEpsilon returns the theorem's epsilon at a total delta, which must be
// above the sum of the claims' own.
func AdvancedEpsilon(terms []Repeated, delta float64) (dp.Bracket, error) {
	if err := validated(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := askedDelta(delta); err != nil {
		return dp.Bracket{}, err
	}
	left := exactly(delta)
	if used := deltas(terms); used.hi > 0 {
		left = left.sub(used)
	}
	if left.lo == 0 {
		return dp.Bracket{}, ErrDeltaTooSmall
	}
	v := spread(terms)
	if v.hi == 0 {
		return dp.Bracket{}, nil
	}
	e := drift(terms).add(exactly(2).mul(left.minusLog()).mul(v).sqrt())
	_, err := finite(e.hi)
	return dp.Bracket{Lower: e.lo, Upper: e.hi}, err
}

// AdvancedDelta returns the theorem's delta at a total epsilon: 1, so nothing, at an
// epsilon that sum e_i (exp(e_i) - 1) uses up.
func AdvancedDelta(terms []Repeated, epsilon float64) (dp.Bracket, error) {
	if err := validated(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := nonNegative("epsilon", epsilon); err != nil {
		return dp.Bracket{}, err
	}
	d := deltas(terms)
	if v := spread(terms); v.hi > 0 {
		gap := exactly(epsilon).sub(drift(terms))
		if !(v.hi <= maxFloat) {
			gap = span{} // The sum overflows and the theorem says nothing.
		}
		rest := span{1, 1}
		if gap.hi > 0 {
			rest = gap.mul(gap).div(exactly(2).mul(v)).expMinus()
		}
		if d.hi == 0 {
			d = rest
		} else {
			d = d.add(rest)
		}
	}
	d = d.atMost(1)
	return dp.Bracket{Lower: d.lo, Upper: d.hi}, nil
}

// AdvancedPerQuery returns the largest epsilon such that k mechanisms with it, and
// with the given delta each, stay within total by [AdvancedEpsilon], its upper
// end. It is 0 where no epsilon does.
func AdvancedPerQuery(total Approx, k int, delta float64) (float64, error) {
	if err := total.Validate(); err != nil {
		return 0, err
	}
	if err := atLeastOne("the number of queries", k); err != nil {
		return 0, err
	}
	// This also refuses deltas that do not fit whatever epsilon is.
	if _, err := AdvancedEpsilon([]Repeated{{Approx{0, delta}, k}}, total.Delta); err != nil {
		return 0, err
	}
	fits := func(bits uint64) bool {
		e, err := AdvancedEpsilon([]Repeated{{Approx{math.Float64frombits(bits), delta}, k}}, total.Delta)
		return err == nil && e.Upper <= total.Epsilon
	}
	// At high, e (exp(e) - 1) alone is above total. The order of positive float64
	// numbers is that of their bits, and what is returned was tried.
	low, _ := root.Whole(0, math.Float64bits(math.Max(1, total.Epsilon)), fits)
	return math.Float64frombits(low), nil
}
