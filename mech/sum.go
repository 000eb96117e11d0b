package mech

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// Term is a number of independent noises of one mechanism, each multiplied by
// the same weight.
type Term struct {
	Mechanism Mechanism
	Count     int
	Weight    int64
}

// ErrTerm is returned when the terms or the beta of a sum make no sense.
var ErrTerm = errors.New("not a sum of noises")

// HalfWidthOfSum returns a k with P(|S| > k) <= beta, where S is the sum of the
// terms' independent noises, each times its weight. It is never too small. How
// near to the smallest it is, with N the number of noises:
//
//   - one noise: exact, as HalfWidth is;
//   - where all of S that matters is within 2^16 steps of the common divisor of the weights:
//     exact up to an error of about 1e-13 N + 1e-11 in the probability;
//   - beyond that, with equal weights: too large by a share of about 2e-8 N;
//   - beyond that, with different weights: too large by a share of about
//     2e-4 sqrt N up to N = 16, and half that share above.
//
// It takes microseconds for one noise and some tens of milliseconds at most
// otherwise.
func HalfWidthOfSum(beta float64, terms ...Term) (int64, error) {
	if !(beta > 0 && beta < 1) {
		return 0, fmt.Errorf("%w: beta must be above 0 and below 1", ErrTerm)
	}
	s, err := newSum(terms)
	if err != nil {
		return 0, err
	}
	w := s.halfWidth(beta)
	if more := s.off(terms); w <= math.MaxInt64-more {
		return w + more, nil
	}
	return math.MaxInt64, nil
}

// off is how many steps more than the sum of Gaussian noises a sum with averages in it is off. An
// average is within its Off of a normal ([Averaged]), and a discrete Gaussian within 1 of one
// ([Marginal]), so it is within Off and one more of a discrete Gaussian of its own. One alone is
// compared by its probabilities, and needs no more than its Off.
func (s sum) off(terms []Term) int64 {
	all := 0.0
	for _, t := range terms {
		a, ok := t.Mechanism.(*Average)
		if !ok {
			continue
		}
		each := a.off + 1
		if s.copies == 1 {
			each = a.off
		}
		all += float64(each) * float64(t.Count) * math.Abs(float64(t.Weight))
	}
	return roundUp(all)
}

// sum is a sum of noises over the common divisor of the weights.
type sum struct {
	parts   []part
	copies  float64 // the number of noises
	divisor int64
	even    bool // all weights are equal, so they are all 1 here
}

type part struct {
	law    law
	count  int
	weight int64 // positive
}

func newSum(terms []Term) (sum, error) {
	s, radial := sum{even: true}, false
	for _, t := range terms {
		switch {
		case t.Mechanism == nil:
			return s, fmt.Errorf("%w: a term has no mechanism", ErrTerm)
		case t.Count < 0 || t.Count > 1<<30:
			return s, fmt.Errorf("%w: a count must be from 0 to 2^30", ErrTerm)
		case t.Weight == math.MinInt64:
			return s, fmt.Errorf("%w: a weight must be above -2^63", ErrTerm)
		case t.Count == 0 || t.Weight == 0:
			continue
		}
		// The noise is symmetric, so the sign of a weight does not matter.
		w := max(t.Weight, -t.Weight)
		s.parts = append(s.parts, part{t.Mechanism.law(), t.Count, w})
		s.copies += float64(t.Count)
		s.divisor = gcd(s.divisor, w)
		radial = radial || isJoint(t.Mechanism)
	}
	if radial && s.copies > 1 {
		return s, fmt.Errorf("%w: the coordinates of radial noise and of marginals are not independent; ask for the half width of one",
			ErrTerm)
	}
	for i := range s.parts {
		s.parts[i].weight /= s.divisor
		s.even = s.even && s.parts[i].weight == 1
	}
	return s, nil
}

// isJoint reports whether the coordinates of a mechanism's noise depend on each other.
func isJoint(m Mechanism) bool {
	switch m.(type) {
	case *Radial, *Marginal:
		return true
	}
	return false
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

const (
	// Small sums are computed on all of their support.
	exactPoints = 1 << 17
	// Points of the coarse lattice, for equal weights and for different ones.
	evenPoints  = 1 << 16
	mixedPoints = 1 << 17
	// The share of beta that is to pay for S outside of the lattice, and for
	// the residue of rounding. It moves k by about 2^-14 of a standard
	// deviation.
	share = 0x1p-14
)

func (s sum) halfWidth(beta float64) int64 {
	switch {
	case len(s.parts) == 0:
		return 0
	case len(s.parts) == 1 && s.parts[0].count == 1:
		return s.scaled(float64(s.parts[0].law.halfWidth(beta)))
	}
	simple, _ := s.chernoff(beta)
	far, tilt := s.chernoff(beta * share)
	best := math.Inf(1)
	switch {
	case far > 0x1p60:
	case 2*far+4 <= exactPoints:
		best = s.onLattice(beta, tilt, 1, powerOfTwo(2*far+4))
	case s.even:
		best = s.onLattice(beta, tilt, oddStep(far, evenPoints), evenPoints)
	case s.copies <= 16:
		best = s.onLattice(beta, tilt, oddStep(far, mixedPoints), mixedPoints)
	default:
		best = s.onLattice(beta, tilt, oddStep(far, 2*mixedPoints), 2*mixedPoints)
	}
	return s.scaled(math.Min(best, simple))
}

// scaled returns k times the divisor, rounded up.
func (s sum) scaled(k float64) int64 {
	k = math.Ceil(k)
	if k >= 0x1p53 || k*float64(s.divisor) >= 0x1p53 {
		return roundUp(k * float64(s.divisor) * (1 + 0x1p-50))
	}
	return int64(k) * s.divisor
}

// chernoff returns a k with P(|S| > k) <= p, and the t that proves it: for
// every t > 0, P(|S| > k) <= 2 E exp(tS) exp(-tk), so that k = (ln E exp(tS) +
// ln(2/p))/t. Every t gives a valid k; the search for the best one need not be
// exact.
func (s sum) chernoff(p float64) (k, t float64) {
	need := (math.Ln2 - math.Log(p)) * (1 + 0x1p-48)
	horizon, variance := math.Inf(1), 0.0
	for _, q := range s.parts {
		horizon = math.Min(horizon, q.law.horizon()/float64(q.weight))
		variance += float64(q.count) * q.law.variance() * float64(q.weight) * float64(q.weight)
	}
	at := func(t float64) float64 {
		total := need
		for _, q := range s.parts {
			total += float64(q.count) * q.law.logMGF(t*float64(q.weight)*(1+0x1p-50))
		}
		return total / t * (1 + 1e-12)
	}
	// The best t for a Gaussian of this variance; from there on, search between
	// a thousandth of it and the horizon.
	middle := math.Sqrt(2 * need / math.Max(variance, 1e-300))
	low, high := math.Log(math.Min(middle, horizon))-7, math.Log(math.Min(1000*middle, horizon))
	k = math.Inf(1)
	// Mirrored, so that the smaller of two t is kept that are as good.
	root.Valley(func(x float64) float64 {
		now := at(math.Exp(-x))
		if now < k {
			k, t = now, math.Exp(-x)
		}
		return now
	}, -high, -low, (high-low)*3.7e-13)
	return k, t
}
