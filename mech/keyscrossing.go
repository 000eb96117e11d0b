package mech

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// crossing is a threshold on a noisy count. What is tested and what the tail is
// bounded for is the same number, least, so that the two cannot disagree on
// whether the threshold itself passes.
type crossing struct {
	noise Mechanism
	tau   int64
}

// least returns the smallest noise that lets a count of n pass. A count is
// never negative, and tau is positive, so that nothing can overflow.
func (c crossing) least(n int64) int64 { return c.tau - max(n, 0) }

// passes reports whether a count of n passes with this noise.
func (c crossing) passes(n, noise int64) bool { return noise >= c.least(n) }

// passing is an upper bound on the probability that a count of n passes: the
// noise is symmetric, so P(noise >= k) is half of P(|noise| > k-1) for k > 0.
// Halving is exact.
func (c crossing) passing(n int64) float64 {
	k := c.least(n)
	if k <= 0 {
		return 1
	}
	return c.noise.Tail(k-1) / 2
}

// any is an upper bound on the probability that one or more of k counts of n
// pass: 1 - (1-p)^k. Log1p and Expm1 are within a unit in the last place of
// their values, and neither loses digits where p is small.
func (c crossing) any(n int64, k int) float64 { return anyOf(c.passing(n), k) }

// anyOf is that of a probability.
func anyOf(p float64, k int) float64 {
	if p >= 1 {
		return 1
	}
	return math.Min(1, -math.Expm1(float64(k)*math.Log1p(-p))*(1+0x1p-48)+math.SmallestNonzeroFloat64)
}

// newCrossing returns the lowest threshold above n that k counts of n pass with
// a probability of at most beta. The tail is a proven upper bound for every
// threshold that is tried, so the one that is found holds, even if rounding
// should make it one too high.
func newCrossing(m Mechanism, n int64, k int, beta float64) (crossing, error) {
	at := func(tau int64) crossing { return crossing{m, tau} }
	// The union bound is enough up to rounding, for which one step more is.
	reach := m.HalfWidth(beta / float64(k))
	if reach > math.MaxInt64/4 {
		return crossing{}, fmt.Errorf("%w: the threshold would not fit in 64 bits; spend more", ErrKeys)
	}
	high := n + 2*reach + 2
	if at(high).any(n, k) > beta {
		return crossing{}, fmt.Errorf("%w: no threshold has a tail as small as %v; spend a larger delta", ErrKeys, beta)
	}
	_, tau := root.Whole(n, high, func(tau int64) bool { return !(at(tau).any(n, k) <= beta) })
	return at(tau), nil
}
