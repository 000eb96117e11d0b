package mech

import (
	"math"
	"math/big"
)

// gaussianLaw is P(k) = exp(-k^2/(2 s^2))/Z.
//
// Small s: sums of at most some 40 s positive terms. Large s: the sum over the
// integers beyond k is an integral from a = k + 1/2 with a correction and a
// proven remainder. Write g for exp(-x^2/(2 s^2)). Taylor's formula on each
// cell of width one around an integer, twice, gives
//
//	sum of g(j), j > k  =  integral of g from a  +  g'(a)/24  +  E,
//	|E| <= (1/576 + 1/1920) * sum over the cells of max |g4|, g4 the fourth derivative.
//
// With u = x/s, |g4| <= (u^4 + 6u^2 + 3) exp(-u^2/2)/s^4 =: M; the maximum
// over a cell is at most M's mean plus its variation there, so the sum is at
// most the integrals of M and |M'| from a, which are elementary. Relative to
// the tail, E is about (u/s)^4/440.
type gaussianLaw struct {
	s, s2 float64
	z     float64 // the sum of g over all integers
}

const (
	// Below this s a tail is summed term by term.
	summedTail = 32
	// Below this s a block is summed term by term. Blocks are many and their
	// errors add up, so they get the exact sum for longer.
	summedBlock = 1024
	// All relative errors of a sum of g: the exponent is at most 800 and within
	// 2^-51 of itself, which is 4e-13; the rest is below 1e-14.
	sumError = 1e-12
	// exp(-u^2/2) is below 1e-312 from here.
	farthest = 38
)

func newGaussianLaw(sigma2 *big.Rat) gaussianLaw {
	s2, _ := sigma2.Float64()
	l := gaussianLaw{s: math.Sqrt(s2), s2: s2}
	if l.s >= summedTail {
		// Poisson summation: Z is sqrt(2 pi) s (1 + 2 exp(-2 pi^2 s^2) + ...),
		// and the correction is below 1e-8000.
		l.z = math.Sqrt(2*math.Pi) * l.s
		return l
	}
	for j := l.last(); j >= 1; j-- {
		l.z += 2 * l.g(float64(j))
	}
	l.z++
	return l
}

// last is an integer beyond which all g together are below 1e-300.
func (l gaussianLaw) last() int64 { return int64(farthest*l.s) + 1 }

func (l gaussianLaw) g(x float64) float64 { return math.Exp(-x * x / (2 * l.s2)) }

// beyond returns the sum of g(j) over j > k >= 0 and a bound on the absolute
// error, for large s.
func (l gaussianLaw) beyond(k float64) (sum, err float64) {
	u := (k + 0.5) / l.s
	e := math.Exp(-u * u / 2)
	// Integrals of u^n exp(-u^2/2) from u, even and odd n.
	i0 := math.Sqrt(math.Pi/2) * math.Erfc(u/math.Sqrt2)
	i2 := u*e + i0
	i4 := u*u*u*e + 3*i2
	j1 := e
	j3 := (u*u + 2) * e
	j5 := (u*u*u*u + 4*u*u + 8) * e
	sum = l.s*i0 - u/l.s*e/24
	s3 := l.s * l.s2
	err = (1.0/576 + 1.0/1920) * ((i4+6*i2+3*i0)/s3 + (j5+10*j3+15*j1)/(s3*l.s))
	// Erfc and Exp are within one unit in the last place of their value at an
	// argument that is off by 2^-52 of itself, which moves them by u^2 2^-51 of
	// themselves.
	err += l.s * i0 * (4 + u*u) * 0x1p-50
	return sum, err
}

func (l gaussianLaw) tail(k int64) float64 {
	if k < 0 {
		return 1
	}
	if float64(k) >= farthest*l.s {
		return l.subgaussian(float64(k))
	}
	var p float64
	if l.s >= summedTail {
		sum, err := l.beyond(float64(k))
		p = 2 * (sum + err) / l.z * (1 + 0x1p-50)
	} else {
		var sum float64
		for j := l.last(); j > k; j-- {
			sum += l.g(float64(j))
		}
		p = 2*sum/l.z*(1+sumError) + 1e-300
	}
	return math.Min(1, p)
}

// subgaussian is P(|X| >= k) <= 2 exp(-k^2/(2 s^2)): Chernoff's bound with
// logMGF.
func (l gaussianLaw) subgaussian(k float64) float64 {
	x := k * k / (2 * l.s2)
	return math.Min(1, 2*math.Exp(-x)*(1+(x+4)*0x1p-49)+2*math.SmallestNonzeroFloat64)
}

func (l gaussianLaw) halfWidth(beta float64) int64 {
	if !(beta > 0) {
		return math.MaxInt64
	}
	if beta >= 1 {
		return 0
	}
	// P(|X| > k) <= 2 exp(-(k+1)^2/(2 s^2)) gives a k that is always enough.
	enough := roundUp(l.s * math.Sqrt(2*(math.Ln2-math.Log(beta))) * (1 + 0x1p-48))
	switch {
	case beta < tiny:
		return enough
	case l.s < summedTail:
		return l.summedHalfWidth(beta)
	}
	low, high := int64(-1), enough
	for high-low > 1 {
		if mid := low + (high-low)/2; l.tail(mid) <= beta {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// summedHalfWidth adds up the tail from its far end until it is above beta.
func (l gaussianLaw) summedHalfWidth(beta float64) int64 {
	var sum float64
	for j := l.last(); j >= 1; j-- {
		sum += l.g(float64(j))
		if 2*sum/l.z*(1+sumError)+1e-300 > beta {
			return j
		}
	}
	return 0
}

func (l gaussianLaw) block(lo, hi int64) (mass, err float64) {
	if lo <= 0 {
		if hi == 0 {
			return 1 / l.z, sumError / l.z
		}
		mass, err = l.block(1, hi)
		return 2*mass + 1/l.z, 2*err + sumError/l.z
	}
	if lo == hi || l.s < summedBlock {
		var sum float64
		for j := min(hi, l.last()); j >= lo; j-- {
			sum += l.g(float64(j))
		}
		mass = sum / l.z
		return mass, mass*sumError + 1e-300
	}
	a, errA := l.beyond(float64(lo - 1))
	b, errB := l.beyond(float64(hi))
	mass = math.Max(0, a-b) / l.z
	return mass, (errA+errB)/l.z + mass*0x1p-50
}

// logMGF: E exp(tX) is exp(t^2 s^2/2) times the quotient of the sum of g over
// the integers shifted by t s^2 and the sum over the integers, and no shift
// makes that sum larger (Poisson summation; Canonne, Kamath, Steinke 2020 say
// it of their discrete Gaussian's tails).
func (l gaussianLaw) logMGF(t float64) float64 { return t * t * l.s2 / 2 * (1 + 0x1p-50) }

func (l gaussianLaw) horizon() float64 { return math.Inf(1) }

// variance is that of the continuous Gaussian from s = 1 up, and the sum of the
// first terms below.
func (l gaussianLaw) variance() float64 {
	if l.s >= 1 {
		return l.s2
	}
	sum := 0.0
	for k := 1.0; k < 8; k++ {
		sum += 2 * k * k * l.g(k)
	}
	return sum / l.z
}
