package mech

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/root"
)

// radialLaw is the law of round(s b), where b is one coordinate of a vector of n real
// numbers with density ~ exp(-|x|).
//
// Such a vector is sqrt(V) z with independent normal z and V of the chi-square law with n + 1
// degrees of freedom, because given V = v the density at |x| = t is in proportion to v^(-n/2)
// exp(-t^2/(2v)), V has v^((n-1)/2) exp(-v/2), and the integral of v^(-1/2) exp(-(t^2/v + v)/2) is
// sqrt(2 pi) exp(-t). So E exp(u b) = E exp(u^2 V/2) = (1 - u^2)^-m with m = (n+1)/2, which is the
// transform of G - G' for two independent Gamma(m) numbers. For whole m, G > t + G' where a Poisson
// number of mean t + G' is below m, and a Poisson number of mean G' is negative binomial: so
//
//	P(b > t) = P(B + K < m),   P(B = l) = C(m+l-1, l) 2^-(m+l),   K Poisson of mean t.
//
// V grows with n, so |b| does, and for even n the law here is that of n + 1: for an odd n it is
// exact.
type radialLaw struct {
	s float64
	m int
}

func newRadialLaw(scale *big.Rat, n int) radialLaw {
	s, _ := scale.Float64()
	return radialLaw{s, n/2 + 1}
}

// summedRadial is up to which m a tail is summed. The vectors beyond have some ten
// thousand coordinates, each nearly normal, and Chernoff's bound is good enough.
const summedRadial = 1 << 13

// beyond returns P(b > t) for t > 0, and a bound on its error relative to itself, but
// for what is below the smallest numbers.
//
// It goes through the pairs (l, m-1-l) from l = m-1 on, with logarithms of the
// probabilities. Each step adds at most a few units in the last place of the largest
// logarithm, and the first one has some of Lgamma's.
func (l radialLaw) beyond(t float64) (p, err float64) {
	m := float64(l.m)
	all, _ := math.Lgamma(2*m - 1)
	one, _ := math.Lgamma(m)
	b, k := all-2*one-(2*m-1)*math.Ln2, -t
	largest := math.Max(all+2*one+2*m, t)
	below := math.Exp(k) // P(K <= j)
	p = math.Exp(b) * below
	for j := 1.0; j < m; j++ {
		k += math.Log(t / j)
		b += math.Log(2 * (m - j) / (2*m - j - 1))
		largest = math.Max(largest, math.Abs(k))
		below += math.Exp(k)
		p += math.Exp(b) * below
	}
	return p, (m + 8) * (largest + 8) * 0x1p-49
}

func (l radialLaw) at(k int64) float64 { return (float64(k) + 0.5) / l.s * (1 - 0x1p-50) }

// tail: |round(x)| > k where |x| >= k + 1/2.
func (l radialLaw) tail(k int64) float64 {
	if k < 0 {
		return 1
	}
	t := l.at(k)
	simple := l.chernoff(t)
	if simple < tiny || l.m > summedRadial {
		return simple
	}
	p, err := l.beyond(t)
	return math.Min(simple, 2*p*(1+err)+float64(l.m)*1e-300)
}

// chernoff is P(|b| > t) <= 2 (1 - u^2)^-m exp(-u t), which holds for every u below 1;
// this u is about the best.
func (l radialLaw) chernoff(t float64) float64 {
	m := float64(l.m)
	u := t / (m + math.Hypot(m, t))
	x := u*t + m*math.Log1p(-u*u)
	return math.Min(1, 2*math.Exp(-x)*(1+(u*t+m+4)*0x1p-46)+2*math.SmallestNonzeroFloat64)
}

func (l radialLaw) halfWidth(beta float64) int64 {
	if !(beta > 0) {
		return math.MaxInt64
	}
	if beta >= 1 {
		return 0
	}
	high := int64(1)
	for high < 1<<62 && l.chernoff(l.at(high)) > beta {
		high *= 2
	}
	_, high = root.Whole(-1, high, func(k int64) bool { return !(l.tail(k) <= beta) })
	return high
}

func (l radialLaw) block(lo, hi int64) (mass, err float64) {
	outer, e := l.beyond(l.at(hi))
	const rounding = 0x1p-48 // of the difference, and of where the blocks end
	if lo <= 0 {
		return 1 - 2*outer, 2*outer*e + rounding
	}
	inner, f := l.beyond(l.at(lo - 1))
	return math.Max(0, inner-outer), inner*f + outer*e + inner*(l.at(hi)+1)*rounding
}

// logMGF: rounding moves the noise by 1/2 at most.
func (l radialLaw) logMGF(t float64) float64 {
	u := t * l.s * (1 + 0x1p-50)
	if u >= 1 {
		return math.Inf(1)
	}
	return (t/2 - float64(l.m)*math.Log1p(-u*u)) * (1 + 0x1p-48)
}

func (l radialLaw) horizon() float64 { return 1 / l.s }

func (l radialLaw) variance() float64 { return 2*float64(l.m)*l.s*l.s + 1.0/12 }
