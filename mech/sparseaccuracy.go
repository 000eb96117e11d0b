package mech

import "math"

// Accuracy returns an alpha such that, with probability at least 1 - beta, all
// answers to the first k questions that a session takes are right up to alpha:
//
//	"above" is said only where value >= threshold - alpha, and
//	"below" only where value < threshold + alpha.
//
// Both hold where every noise of a question is within a and every noise of the
// threshold within t, with a + t = alpha (Dwork, Roth 2014, Theorem 3.24).
// The threshold gets a share of beta and the questions the rest, by the union
// bound, each with the exact tails of its discrete noise; the best of 63 shares
// is taken. Like all error bars it is never too small. It is free: it reads no
// data.
func (s *Sparse) Accuracy(k int, beta float64) int64 {
	if k < 1 {
		return 0
	}
	thresholds := 1
	if s.config.Refresh {
		thresholds = min(k, s.config.Above)
	}
	best := int64(math.MaxInt64)
	for i := 1; i < 64; i++ {
		share := float64(i) / 64
		// A product and a quotient, rounded: 2^-50 is more than their errors.
		t := s.thresholdLaw.halfWidth(beta * share / float64(thresholds) * (1 - 0x1p-50))
		a := s.queryLaw.halfWidth(beta * (1 - share) / float64(k) * (1 - 0x1p-50))
		best = min(best, addClamped(a, t))
	}
	return best
}

// HalfWidth returns the smallest k with P(|noise| > k) <= beta for the noise of
// a released value, and 0 where the session releases none.
func (s *Sparse) HalfWidth(beta float64) int64 {
	if s.value == nil {
		return 0
	}
	return s.valLaw.halfWidth(beta)
}
