package survey

import (
	"math"
	"slices"
)

// law is the binomial distribution, without the parts whose masses are below 1e-30 of
// the largest.
type law struct {
	first int64
	mass  []float64 // of first, first+1, ...
}

// newLaw starts at the mode with weight 1 and multiplies outwards by (n-k)/(k+1)
// p/(1-p) or its inverse, and divides by the sum: no factorial and no logarithm. A
// mass that is m steps from the mode is within 8(m+1) units in the last place, and m
// is some 12 standard deviations at most.
func newLaw(n int64, p float64) law {
	if n == 0 || p <= 0 {
		return law{0, []float64{1}}
	}
	if p >= 1 {
		return law{n, []float64{1}}
	}
	const smallest = 1e-30
	odds := p / (1 - p)
	mode := min(int64(float64(n+1)*p), n)
	mass := make([]float64, 0, int(24*math.Sqrt(float64(n)*p*(1-p)))+128)
	for k, w := mode, 1.0; k > 0; k-- {
		if w *= float64(k) / (float64(n-k+1) * odds); w < smallest {
			break
		}
		mass = append(mass, w)
	}
	first := mode - int64(len(mass))
	slices.Reverse(mass)
	mass = append(mass, 1)
	for k, w := mode, 1.0; k < n; k++ {
		if w *= float64(n-k) * odds / float64(k+1); w < smallest {
			break
		}
		mass = append(mass, w)
	}
	total := 0.0
	for _, w := range mass {
		total += w
	}
	for i := range mass {
		mass[i] /= total
	}
	return law{first, mass}
}

// from is P(X >= k).
func (l law) from(k int64) float64 {
	if k <= l.first {
		return 1
	}
	sum := 0.0
	for i := int64(len(l.mass)) - 1; i >= k-l.first; i-- {
		sum += l.mass[i]
	}
	return sum
}

// to is P(X <= k).
func (l law) to(k int64) float64 {
	if k >= l.first+int64(len(l.mass))-1 {
		return 1
	}
	sum := 0.0
	for i := int64(0); i <= k-l.first; i++ {
		sum += l.mass[i]
	}
	return sum
}

// plusFrom is P(X + Y >= k) for an independent Y: as X goes up, what Y has to reach goes
// down, and the probability of that is a running sum, the small masses first.
func (l law) plusFrom(y law, k int64) float64 {
	sum, reach := 0.0, 0.0
	next := int64(len(y.mass)) - 1
	for i, p := range l.mass {
		for need := k - l.first - int64(i) - y.first; next >= need && next >= 0; next-- {
			reach += y.mass[next]
		}
		sum += p * reach
	}
	return sum
}

// plusTo is P(X + Y <= k) for an independent Y.
func (l law) plusTo(y law, k int64) float64 {
	sum, reach := 0.0, 0.0
	next := int64(0)
	for i := len(l.mass) - 1; i >= 0; i-- {
		for room := k - l.first - int64(i) - y.first; next <= room && next < int64(len(y.mass)); next++ {
			reach += y.mass[next]
		}
		sum += l.mass[i] * reach
	}
	return sum
}
