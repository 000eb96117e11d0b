package account

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Repeated is a claim that is made by several mechanisms.
type Repeated struct {
	Approx
	Times int
}

// Validate refuses what is no claim. A claim that is made no times is allowed.
func (r Repeated) Validate() error {
	if r.Times < 0 || r.Times > maxTimes {
		return &ParameterError{"the number of times", float64(r.Times), "a whole number from 0 to 2^53"}
	}
	return r.Approx.Validate()
}

// Basic returns the claim of all mechanisms together by basic composition (Dwork, Roth
// 2014, Theorem 3.16): the sum of epsilon with the sum of delta, rounded up.
func Basic(terms []Repeated) (Approx, error) {
	if err := checkAll(terms); err != nil {
		return Approx{}, err
	}
	total := Approx{}
	for _, r := range terms {
		total.Epsilon = addUp(total.Epsilon, mulUp(float64(r.Times), r.Epsilon))
		total.Delta = addUp(total.Delta, mulUp(float64(r.Times), r.Delta))
	}
	total.Delta = math.Min(1, total.Delta)
	epsilon, err := checkFinite(total.Epsilon)
	return Approx{epsilon, total.Delta}, err
}

// sumOver adds up times and the given function of every claim.
func sumOver(terms []Repeated, f func(Approx) span) span {
	total := span{}
	for _, r := range terms {
		if part := f(r.Approx); r.Times > 0 && part.hi > 0 {
			total = total.add(exactly(float64(r.Times)).mul(part))
		}
	}
	return total
}

// The advanced composition theorem of Dwork, Rothblum, Vadhan 2010 (Theorem III.3;
// Dwork, Roth 2014, Theorem 3.20), for claims that differ: mechanisms with
// (e_i, d_i) are together (epsilon, delta)-private with
//
//	epsilon = sum e_i (exp(e_i) - 1) + sqrt(2 ln(1/d') sum e_i^2), delta = d' + sum d_i
//
// for every d' > 0. For k equal claims this is the textbook's sqrt(2 k ln(1/d'))
// e + k e (exp(e) - 1). Without the second term, as it is sometimes quoted, it is
// not a theorem. The brackets hold the theorem's value; use the upper end.

// sumOfDrifts is sum e_i (exp(e_i) - 1).
func sumOfDrifts(terms []Repeated) span {
	return sumOver(terms, func(a Approx) span { e := exactly(a.Epsilon); return zeroOr(a.Epsilon, e.mul(e.expm1())) })
}

func sumOfSquares(terms []Repeated) span {
	return sumOver(terms, func(a Approx) span { e := exactly(a.Epsilon); return zeroOr(a.Epsilon, e.mul(e)) })
}

func sumOfDeltas(terms []Repeated) span {
	return sumOver(terms, func(a Approx) span { return exactly(a.Delta) })
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
	if err := checkAll(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := checkAskedDelta(delta); err != nil {
		return dp.Bracket{}, err
	}
	left := exactly(delta)
	if used := sumOfDeltas(terms); used.hi > 0 {
		left = left.sub(used)
	}
	if left.lo == 0 {
		return dp.Bracket{}, ErrDeltaTooSmall
	}
	v := sumOfSquares(terms)
	if v.hi == 0 {
		return dp.Bracket{}, nil
	}
	e := sumOfDrifts(terms).add(exactly(2).mul(left.minusLog()).mul(v).sqrt())
	_, err := checkFinite(e.hi)
	return dp.Bracket{Lower: e.lo, Upper: e.hi}, err
}

// AdvancedDelta returns the theorem's delta at a total epsilon: 1, so nothing, at an
// epsilon that sum e_i (exp(e_i) - 1) uses up.
func AdvancedDelta(terms []Repeated, epsilon float64) (dp.Bracket, error) {
	if err := checkAll(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := checkNonNegative("epsilon", epsilon); err != nil {
		return dp.Bracket{}, err
	}
	d := sumOfDeltas(terms)
	if v := sumOfSquares(terms); v.hi > 0 {
		gap := exactly(epsilon).sub(sumOfDrifts(terms))
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

// AdvancedPerQuery returns the largest epsilon such that k mechanisms with it, and with the given
// delta each, stay within total by [AdvancedEpsilon], its upper end. It is 0 where no epsilon does.
func AdvancedPerQuery(total Approx, k int, delta float64) (float64, error) {
	if err := total.Validate(); err != nil {
		return 0, err
	}
	if err := checkAtLeastOne("the number of queries", k); err != nil {
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
	low, _ := numeric.BisectWhole(0, math.Float64bits(math.Max(1, total.Epsilon)), fits)
	return math.Float64frombits(low), nil
}

// The optimal composition of claims (e_i, d_i) of which nothing else is known: an (e, d) mechanism
// is dominated by one that reveals everything with probability d and otherwise answers by
// randomized response (see [Approx.DeltaAt]), so the composition is dominated by the composition of
// those. It reveals everything with probability 1 - prod (1 - d_i), and otherwise its privacy loss
// L is a sum of independent e_i with probability 1/(1 + exp(-e_i)) and -e_i otherwise, and
//
//	delta(epsilon) = 1 - prod (1 - d_i) (1 - E[max(0, 1 - exp(epsilon - L))]).
//
// For equal claims this is Kairouz, Oh, Viswanath 2015, Theorem 3.3, here exact
// for millions of them ([responses]); for claims that differ, Murtagh, Vadhan
// 2016, Theorem 1.5, which is #P-hard to compute: exact here where the values of L
// can be enumerated ([outcomes]), and otherwise bracketed (package privacyloss).
//
// The brackets are of spans, so rigorous.

// OptimalDelta returns the smallest delta that all mechanisms together have at
// epsilon, in the worst case of mechanisms with these claims.
func OptimalDelta(terms []Repeated, epsilon float64) (dp.Bracket, error) {
	if err := checkAll(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := checkNonNegative("epsilon", epsilon); err != nil {
		return dp.Bracket{}, err
	}
	inner := span{}
	losses, err := newLosses(terms)
	if err != nil {
		return dp.Bracket{}, err
	}
	if losses != nil {
		inner = losses.delta(epsilon)
	}
	d, keep := revealDelta(terms)
	if d.hi > 0 {
		inner = d.add(keep.mul(inner))
	}
	inner = inner.atMost(1)
	return dp.Bracket{Lower: inner.lo, Upper: inner.hi}, nil
}

// OptimalEpsilon returns the smallest epsilon that all mechanisms together have
// at delta. Delta must be above 1 - prod (1 - d_i), or be 0 where that is.
func OptimalEpsilon(terms []Repeated, delta float64) (dp.Bracket, error) {
	if err := checkAll(terms); err != nil {
		return dp.Bracket{}, err
	}
	if err := checkAskedDelta(delta); err != nil {
		return dp.Bracket{}, err
	}
	d, keep := revealDelta(terms)
	x := exactly(delta)
	if d.hi > 0 {
		if delta <= d.hi || keep.lo == 0 {
			return dp.Bracket{}, ErrDeltaTooSmall
		}
		x = x.sub(d).div(keep)
	}
	losses, err := newLosses(terms)
	if err != nil || losses == nil {
		return dp.Bracket{}, err
	}
	e := losses.epsilon(x)
	most := sumOver(terms, func(a Approx) span { return exactly(a.Epsilon) })
	e = span{min(e.lo, most.lo), min(e.hi, most.hi)}
	_, err = checkFinite(e.hi)
	return dp.Bracket{Lower: e.lo, Upper: e.hi}, err
}

// revealDelta returns 1 - prod (1 - d_i) and prod (1 - d_i).
func revealDelta(terms []Repeated) (d, keep span) {
	log := sumOver(terms, func(a Approx) span { return exactly(a.Delta).minusLog1pMinus() })
	if log.hi == 0 {
		return span{}, exactly(1)
	}
	return log.oneMinusExpMinus(), log.expMinus()
}

// losses is a distribution of the privacy loss L of randomized responses.
type losses interface {
	// delta returns E[max(0, 1 - exp(epsilon - L))].
	delta(epsilon float64) span
	// epsilon solves delta(epsilon) = x, with 0 where that is negative.
	epsilon(x span) span
}

// maxResponses is the number of equal claims that takes a second.
const maxResponses = 1e12

// newLosses returns nil where every epsilon is zero.
func newLosses(terms []Repeated) (losses, error) {
	groups := mergeEqual(terms)
	switch len(groups) {
	case 0:
		return nil, nil
	case 1:
		if k := groups[0].Times; k > maxResponses {
			return nil, &ParameterError{"the number of claims", float64(k), "at most 10^12 claims; their sum of rho says nearly the same"}
		}
		return responses{groups[0].Epsilon, groups[0].Times}, nil
	}
	if few, ok := enumerateOutcomes(groups); ok {
		return few, nil
	}
	return invertLosses(groups)
}

// mergeEqual adds up how often each epsilon above zero occurs.
func mergeEqual(terms []Repeated) []Repeated {
	var groups []Repeated
	for _, r := range terms {
		if r.Epsilon == 0 || r.Times == 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g Repeated) bool { return g.Epsilon == r.Epsilon })
		if i < 0 {
			groups = append(groups, Repeated{Approx{Epsilon: r.Epsilon}, 0})
			i = len(groups) - 1
		}
		groups[i].Times += r.Times
	}
	return groups
}
