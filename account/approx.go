package account

import "math"

// Approx is (epsilon, delta)-differential privacy (Dwork, Kenthapadi, McSherry,
// Mironov, Naor 2006). A delta of 1 claims nothing.
type Approx struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Validate refuses what is no claim.
func (a Approx) Validate() error {
	if err := nonNegative("epsilon", a.Epsilon); err != nil {
		return err
	}
	return probability("delta", a.Delta)
}

// DeltaAt returns the smallest delta that is implied at another epsilon. Every (e,
// d) mechanism is a post-processing of: reveal everything with probability d, and
// otherwise answer by randomized response with e (Kairouz, Oh, Viswanath 2015, in the
// proof of Theorem 3.3; Murtagh, Vadhan 2016, Lemma 3.2). At epsilon < e that has
//
//	1 - (1-d) (1 - (exp(e) - exp(epsilon))/(1 + exp(e))).
func (a Approx) DeltaAt(epsilon float64) (float64, error) {
	if err := a.Validate(); err != nil {
		return 0, err
	}
	if err := nonNegative("epsilon", epsilon); err != nil {
		return 0, err
	}
	if epsilon >= a.Epsilon {
		return a.Delta, nil
	}
	gap := exactly(a.Epsilon).sub(exactly(epsilon))
	response := gap.oneMinusExpMinus().div(exactly(1).add(exactly(a.Epsilon).expMinus()))
	return a.reveal(response).atMost(1).hi, nil
}

// reveal returns d + (1 - d) delta: revealed, or not and then delta.
func (a Approx) reveal(delta span) span {
	if a.Delta == 0 {
		return delta
	}
	return exactly(a.Delta).add(exactly(1).sub(exactly(a.Delta)).mul(delta))
}

// unreveal solves d + (1 - d) x = delta for x, where that is possible.
func unreveal(delta, d float64) (span, error) {
	switch {
	case d == 0:
		return exactly(delta), nil
	case delta < d || d == 1:
		return span{}, ErrDeltaTooSmall
	case delta == d:
		return span{}, nil
	}
	return exactly(delta).sub(exactly(d)).div(exactly(1).sub(exactly(d))), nil
}

// EpsilonAt returns the smallest epsilon that is implied at another delta, the
// inverse of DeltaAt. There is none at a delta below the claim's own.
func (a Approx) EpsilonAt(delta float64) (float64, error) {
	if err := a.Validate(); err != nil {
		return 0, err
	}
	if err := askedDelta(delta); err != nil {
		return 0, err
	}
	x, err := unreveal(delta, a.Delta)
	if err != nil {
		return 0, err
	}
	if x.hi == 0 {
		return a.Epsilon, nil
	}
	// epsilon + ln(1 - x (1 + exp(-epsilon)))
	y := x.mul(exactly(1).add(exactly(a.Epsilon).expMinus()))
	if y.lo >= 1 {
		return 0, nil
	}
	return exactly(a.Epsilon).sub(span{y.lo, math.Min(y.hi, 1)}.minusLog1pMinus()).atMost(a.Epsilon).hi, nil
}

// Compose returns the claim of all mechanisms together by basic composition; see
// [Basic], and [OptimalEpsilon] for the best there is.
func (a Approx) Compose(others ...Approx) (Approx, error) {
	terms := []Repeated{{a, 1}}
	for _, o := range others {
		terms = append(terms, Repeated{o, 1})
	}
	return Basic(terms)
}

// Parallel returns the claim of mechanisms on disjoint parts: the largest
// epsilon with the largest delta. See [Pure.Parallel] for when it holds.
func (a Approx) Parallel(others ...Approx) (Approx, error) {
	if err := validated(append([]Approx{a}, others...)); err != nil {
		return Approx{}, err
	}
	return Approx{
		largestOf(a, others, func(a Approx) float64 { return a.Epsilon }),
		largestOf(a, others, func(a Approx) float64 { return a.Delta }),
	}, nil
}

// Group returns the claim for k units at once: k epsilon, and delta times 1 +
// exp(epsilon) + ... + exp((k-1) epsilon) (Vadhan 2017, Lemma 2.2, before it is
// simplified).
func (a Approx) Group(k int) (Approx, error) {
	if err := a.Validate(); err != nil {
		return Approx{}, err
	}
	if err := atLeastOne("the size of a group", k); err != nil {
		return Approx{}, err
	}
	epsilon, err := finite(mulUp(float64(k), a.Epsilon))
	if err != nil || a.Delta == 0 || k == 1 {
		return Approx{epsilon, a.Delta}, err
	}
	times := exactly(float64(k))
	if e := exactly(a.Epsilon); a.Epsilon > 0 {
		times = times.mul(e).expm1().div(e.expm1())
	}
	delta := times.mul(exactly(a.Delta)).hi
	if !(delta <= 1) { // NaN where both exponentials overflow
		delta = 1
	}
	return Approx{epsilon, delta}, nil
}

// ApproxZCDP returns the claim as delta-approximate epsilon tanh(epsilon/2)-zCDP:
// outside of the event of probability delta the mechanism that dominates it is
// randomized response; see [Approx.DeltaAt] and [Pure.ZCDP]. (Bun, Steinke 2016, Lemma 8.3,
// with epsilon^2/2.)
func (a Approx) ApproxZCDP() (ApproxZCDP, error) {
	if err := a.Validate(); err != nil {
		return ApproxZCDP{}, err
	}
	rho, err := finite(responseRho(a.Epsilon))
	return ApproxZCDP{Rho: rho, Delta: a.Delta}, err
}
