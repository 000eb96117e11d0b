package normal

import "math"

// Lattice is the discrete Gaussian, P(k) = exp(-k^2/(2 s^2))/Z on the integers.
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
type Lattice struct {
	S, S2 float64
	Z     float64 // the sum of g over all integers
}

const (
	// Farthest is an u from which on exp(-u^2/2) is below 1e-312.
	Farthest = 38
	// SumError is more than all relative errors of a sum of g: the exponent is at
	// most 800 and within 2^-51 of itself, which is 4e-13; the rest is below 1e-14.
	SumError = 1e-12
	// SumsBelow is an s from which on a tail need not be summed term by term.
	SumsBelow = 32
)

// NewLattice returns the distribution with this s^2.
func NewLattice(s2 float64) Lattice {
	l := Lattice{S: math.Sqrt(s2), S2: s2}
	if l.S >= SumsBelow {
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
func (l Lattice) Last() int64 { return int64(Farthest*l.S) + 1 }

// Weight is g.
func (l Lattice) Weight(x float64) float64 { return math.Exp(-x * x / (2 * l.S2)) }

// Beyond returns the sum of g(j) over j > k >= 0 and a bound on the absolute
// error, for large s.
func (l Lattice) Beyond(k float64) (sum, err float64) {
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
	// Erfc and Exp are within one unit in the last place of their value at an
	// argument that is off by 2^-52 of itself, which moves them by u^2 2^-51 of
	// themselves.
	err += l.S * i0 * (4 + u*u) * 0x1p-50
	return sum, err
}

// TailBeyond bounds P(|X| > k) from above for k >= 0 and large s.
func (l Lattice) TailBeyond(k float64) float64 {
	sum, err := l.Beyond(k)
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
