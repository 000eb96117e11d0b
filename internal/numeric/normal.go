// Package numeric is the arithmetic that mechanisms and accountants share: tails of the standard
// normal distribution and of the discrete Gaussian, and the privacy of Gaussian noise, with small
// relative error far into the tail (normal.go); and where a function of one number changes its
// sign, its answer or its direction (root.go).
//
// # Tails
//
// A delta of 1e-12 that is wrong by 1e-15 is fine and one that is wrong by 1e-12 is no guarantee at
// all, so every bound here is relative. Differences of distribution functions, 1 - Phi(x), lose all
// digits beyond x = 8; here everything is a product of positive parts:
//
//	density(x) = exp(-x^2/2)/sqrt(2 pi)
//	mills(x)   = Tail(x)/density(x) = integral over t > 0 of exp(-x t - t^2/2)
//	Tail(x)    = density(x) mills(x)
//
// # Error bounds
//
// The bounds below hold wherever the result is a normal float64. They are measured against 60-digit
// references over the whole range, and at least four times what was seen:
//
//	Tail, mills, logTail      relative error at most 2^-48 (mills for x >= -8)
//	Quantile, LogQuantile     relative error at most 2^-48
//	Delta                     a bracket of relative width 2^-41
package numeric

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

const (
	sqrt2Pi      = 2.50662827463100050241576528481104525301
	halfLog2Pi   = 0.91893853320467274178032973640561763986
	erfcBelow    = 1   // below it the tail comes from math.Erfc, above from a continued fraction
	tailZeroFrom = 39  // Tail(39) is less than half the smallest float64
	squareLimit  = 1e8 // beyond it x^2/2 needs no second float64
)

// Tail returns P(N > x).
func Tail(x float64) float64 {
	switch {
	case math.Abs(x) <= erfcBelow:
		return 0.5 * math.Erfc(x/math.Sqrt2)
	case x < 0:
		return 1 - Tail(-x)
	case x > tailZeroFrom:
		return 0
	default: // NaN comes here and stays NaN.
		return density(x, 0) * mills(x)
	}
}

// logTail returns ln P(N > x). It does not underflow.
func logTail(x float64) float64 {
	switch {
	case x < 0:
		return math.Log1p(-Tail(-x))
	case x <= erfcBelow:
		return math.Log(Tail(x))
	case math.IsInf(x, 1):
		return math.Inf(-1)
	default:
		// All three parts are negative, so nothing cancels.
		return -x*x/2 - halfLog2Pi + math.Log(mills(x))
	}
}

// mills returns Mills' ratio, the tail divided by the density. It is +Inf below about -38.
func mills(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case math.IsInf(x, 1):
		return 0
	case x > erfcBelow:
		return 1 / (x + millsRatio(x, 1))
	default:
		return Tail(x) / density(x, 0)
	}
}

// density is the normal density at x + low, where low is far smaller than x. The square is carried
// in two parts: at x = 38 the rounding of x^2 alone would be worth 2^-44 of the result.
func density(x, low float64) float64 {
	square := x * x
	rest := 0.0
	if math.Abs(x) < squareLimit {
		rest = math.FMA(x, x, -square)/2 + x*low
	}
	return math.Exp(-square/2) * (1 - rest) / sqrt2Pi
}

// millsRatio returns I(j)/I(j-1) at c >= 1, where
//
//	I(j) = integral over t > 0 of t^j exp(-c t - t^2/2), I(0) = mills(c).
//
// Integration by parts gives j I(j-1) = c I(j) + I(j+1), which is Laplace's continued fraction j/(c
// + (j+1)/(c + (j+2)/(c + ...))) for the ratio. It has positive parts only. An error in a late
// ratio r shrinks by r^2/j at each step up, over n steps by about exp(-2 c sqrt n); the depth makes
// that 1e-15 before the start, the fixed point of the recurrence, adds its own two or three digits.
func millsRatio(c float64, j int) float64 {
	n := float64(j + 10 + int(300/(c*c)))
	r := (math.Sqrt(c*c+4*n) - c) / 2
	if c > 1e8 {
		r = 0 // The fixed point is n/c, and c + n/c is c.
	}
	for i := n - 1; i >= float64(j); i-- {
		r = i / (c + r)
	}
	return r
}

// Quantile returns the x with P(N > x) = p, for 0 < p < 1: the inverse of Tail.
// It is NaN for other p, with +Inf at 0 and -Inf at 1.
func Quantile(p float64) float64 {
	switch {
	case p == 0:
		return math.Inf(1)
	case p == 1:
		return math.Inf(-1)
	case p > 0.5:
		return -Quantile(1 - p) // 1 - p is exact.
	case p >= 0.25:
		// 1 - 2p is exact, and so are all digits near the median.
		return math.Sqrt2 * math.Erfinv(1-2*p)
	default:
		return LogQuantile(math.Log(p))
	}
}

// LogQuantile returns the x with ln P(N > x) = l, for l <= ln(1/4): the inverse
// of logTail, for tails that are too small to be written as a float64.
func LogQuantile(l float64) float64 {
	if !(l <= -1.38) {
		return math.NaN()
	}
	if math.IsInf(l, -1) {
		return math.Inf(1)
	}
	// Newton's iteration. logTail is concave with derivative -1/mills, and the
	// start is to the right of the root since Tail(x) < exp(-x^2/2), so the steps
	// go to the left until rounding stops them; they double the digits.
	x := math.Sqrt(-2 * l)
	for range 64 {
		step := (logTail(x) - l) * mills(x)
		x += step
		if math.Abs(step) <= 1e-9*x {
			break
		}
	}
	return x
}

// Delta brackets the smallest delta for which Gaussian noise with sensitivity over deviation mu > 0
// is (epsilon, delta)-differentially private, epsilon >= 0: Balle, Wang 2018, Theorem 8,
//
//	delta = Tail(a) - exp(epsilon) Tail(b), a = epsilon/mu - mu/2, b = epsilon/mu + mu/2.
//
// Since exp(epsilon) density(b) = density(a) it is density(a) (mills(a) -
// mills(b)), which neither overflows nor compares numbers of different size.
//
// The bracket is of relative width 2^-41 down to 1e-300. Below that the
// lower end is 0 and the upper end at most 1e-300. An argument that is not a
// number, or out of range, gives the bracket from 0 to 1.
func Delta(mu, epsilon float64) dp.Bracket {
	if !(mu > 0) || !(epsilon >= 0) || math.IsInf(mu, 0) || math.IsInf(epsilon, 0) {
		return dp.Bracket{Lower: 0, Upper: 1}
	}
	c := epsilon / mu
	rest := math.FMA(-c, mu, epsilon) / mu
	a, aLow := twoSum(c, -mu/2, rest)
	b, _ := twoSum(c, mu/2, rest)
	switch {
	case math.IsInf(c, 0) || a > tailZeroFrom:
		return dp.Bracket{Lower: 0, Upper: smallestDelta}
	case mu <= 1:
		return bracket(density(a, aLow) * millsDifference(c, mu))
	case a >= 0:
		// For mu > 1 the difference is at least 1/40 of mills(a).
		return bracket(density(a, aLow) * (mills(a) - mills(b)))
	case a < -tailZeroFrom:
		return dp.Bracket{Lower: 1 - deltaMargin, Upper: 1}
	default:
		// Tail(a) = 1 - Tail(-a). The result is at least Delta(1, 1/2) > 0.2.
		return bracket(1 - density(a, aLow)*(mills(-a)+mills(b)))
	}
}

const (
	smallestDelta = 1e-300
	// deltaMargin covers the error of Delta. mills and density are within 2^-48, the
	// worst difference multiplies that by 2*40 < 2^7, and what is measured is
	// below 2^-46: the differences are of numbers that err together.
	deltaMargin = 0x1p-42
)

func bracket(d float64) dp.Bracket {
	if d < smallestDelta {
		return dp.Bracket{Lower: 0, Upper: smallestDelta * (1 + deltaMargin)}
	}
	return dp.Bracket{Lower: d * (1 - deltaMargin), Upper: math.Min(1, d*(1+deltaMargin))}
}

// millsDifference returns mills(c - mu/2) - mills(c + mu/2) for 0 < mu <= 1 and c >= 0, where
// subtraction would lose the digits of mu. Under the integral of the package comment the difference
// of exponentials is exp(-c t) 2 sinh(mu t/2), so in the notation of ratio
//
//	difference = 2 sum over odd j of (mu/2)^j/j! I(j),
//
// a series of positive terms, each less than (mu/2)^2/(j+2) of the one before.
func millsDifference(c, mu float64) float64 {
	const last = 19 // (1/2)^20/(3*5*...*21) is less than 1e-16
	var integral [last + 1]float64
	if c > erfcBelow {
		r := millsRatio(c, last)
		var ratios [last + 1]float64
		ratios[last] = r
		for j := last - 1; j >= 1; j-- {
			r = float64(j) / (c + r)
			ratios[j] = r
		}
		integral[0] = 1 / (c + r)
		for j := 1; j <= last; j++ {
			integral[j] = integral[j-1] * ratios[j]
		}
	} else {
		// Upwards the recurrence is unstable, by exp(2 c sqrt j) at most; for
		// c <= 1 that is far less than the powers of mu/2 over j! take away.
		integral[0] = mills(c)
		integral[1] = 1 - c*integral[0]
		for j := 2; j <= last; j++ {
			integral[j] = float64(j-1)*integral[j-2] - c*integral[j-1]
		}
	}
	sum, power := 0.0, 1.0
	for j := 1; j <= last; j++ {
		power *= mu / 2 / float64(j)
		if j%2 == 1 {
			sum += power * integral[j]
		}
	}
	return 2 * sum
}

// twoSum returns x + y + z as a float64 and what it lacks, where z is far
// smaller than x (Knuth's exact addition, and one correction).
func twoSum(x, y, z float64) (sum, rest float64) {
	s := x + y
	v := s - x
	e := (x - (s - v)) + (y - v) + z
	sum = s + e
	return sum, e - (sum - s)
}

// Lattice is the discrete Gaussian, P(k) = exp(-k^2/(2 s^2))/Z on the integers.
//
// Small s: sums of at most some 40 s positive terms. Large s: the sum over the integers beyond k is
// an integral from a = k + 1/2 with a correction and a proven remainder. Write g for exp(-x^2/(2
// s^2)). Taylor's formula on each cell of width one around an integer, twice, gives
//
//	sum of g(j), j > k  =  integral of g from a  +  g'(a)/24  +  E,
//	|E| <= (1/576 + 1/1920) * sum over the cells of max |g4|, g4 the fourth derivative.
//
// With u = x/s, |g4| <= (u^4 + 6u^2 + 3) exp(-u^2/2)/s^4 =: M; the maximum over a cell is at most
// M's mean plus its variation there, so the sum is at most the integrals of M and |M'| from a,
// which are elementary. Relative to the tail, E is about (u/s)^4/440.
type Lattice struct {
	S, S2 float64
	Z     float64 // the sum of g over all integers
}

const (
	// LastDeviation is an u from which on exp(-u^2/2) is below 1e-312.
	LastDeviation = 38
	// SumError is more than all relative errors of a sum of g: the exponent is at
	// most 800 and within 2^-51 of itself, which is 4e-13; the rest is below 1e-14.
	SumError = 1e-12
	// SummedBelowSigma is an s from which on a tail need not be summed term by term.
	SummedBelowSigma = 32
)

// NewLattice returns the distribution with this s^2.
func NewLattice(s2 float64) Lattice {
	l := Lattice{S: math.Sqrt(s2), S2: s2}
	if l.S >= SummedBelowSigma {
		// Poisson summation: Z is sqrt(2 pi) s (1 + 2 exp(-2 pi^2 s^2) + ...),
		// and the correction is below 1e-8000.
		l.Z = math.Sqrt(2*math.Pi) * l.S
		return l
	}
	for j := l.Last(); j >= 1; j-- {
		l.Z += 2 * l.Weight(float64(j))
	}
	l.Z++
	return l
}

// Last is an integer beyond which all g together are below 1e-300.
func (l Lattice) Last() int64 { return int64(LastDeviation*l.S) + 1 }

// Weight is g.
func (l Lattice) Weight(x float64) float64 { return math.Exp(-x * x / (2 * l.S2)) }

// SumBeyond returns the sum of g(j) over j > k >= 0 and a bound on the absolute error, for large s.
func (l Lattice) SumBeyond(k float64) (sum, err float64) {
	u := (k + 0.5) / l.S
	e := math.Exp(-u * u / 2)
	// Integrals of u^n exp(-u^2/2) from u, even and odd n.
	i0 := math.Sqrt(math.Pi/2) * math.Erfc(u/math.Sqrt2)
	i2 := u*e + i0
	i4 := u*u*u*e + 3*i2
	j1 := e
	j3 := (u*u + 2) * e
	j5 := (u*u*u*u + 4*u*u + 8) * e
	sum = l.S*i0 - u/l.S*e/24
	s3 := l.S * l.S2
	err = (1.0/576 + 1.0/1920) * ((i4+6*i2+3*i0)/s3 + (j5+10*j3+15*j1)/(s3*l.S))
	// Erfc and Exp are within one unit in the last place of their value at an argument that is off
	// by 2^-52 of itself, which moves them by u^2 2^-51 of themselves.
	err += l.S * i0 * (4 + u*u) * 0x1p-50
	return sum, err
}

// TailBeyond bounds P(|X| > k) from above for k >= 0 and large s.
func (l Lattice) TailBeyond(k float64) float64 {
	sum, err := l.SumBeyond(k)
	return 2 * (sum + err) / l.Z * (1 + 0x1p-50)
}

// HalfWidth returns the smallest k with P(|X| > k) <= beta. It adds up the tail from its far end
// until it is above beta.
func (l Lattice) HalfWidth(beta float64) int64 {
	var sum float64
	for j := l.Last(); j >= 1; j-- {
		sum += l.Weight(float64(j))
		if 2*sum/l.Z*(1+SumError)+1e-300 > beta {
			return j
		}
	}
	return 0
}
