package mech

import (
	"math"
	"math/big"
)

// laplaceLaw is P(k) = (1-q)/(1+q) q^|k| with q = exp(-1/b).
type laplaceLaw struct{ b, q float64 }

func newLaplaceLaw(scale *big.Rat) laplaceLaw {
	b, _ := scale.Float64()
	return laplaceLaw{b, math.Exp(-1 / b)}
}

// tail is 2 q^(k+1)/(1+q). The exponent x has a relative error below 2^-51, so
// its exponential is within x 2^-51 and two units in the last place, until it
// is so small that the last place is the smallest number there is.
func (l laplaceLaw) tail(k int64) float64 {
	if k < 0 {
		return 1
	}
	x := (float64(k) + 1) / l.b
	p := 2 * math.Exp(-x) / (1 + l.q)
	return math.Min(1, p*(1+(x+4)*0x1p-50)+2*math.SmallestNonzeroFloat64)
}

// halfWidth solves 2 q^(k+1)/(1+q) <= beta: k+1 >= b (ln 2 - ln beta -
// ln(1+q)).
func (l laplaceLaw) halfWidth(beta float64) int64 {
	if !(beta > 0) {
		return math.MaxInt64
	}
	if beta >= 1 {
		return 0
	}
	up, down := -math.Log(beta)+math.Ln2, math.Log1p(l.q)
	// Every operation is within 2^-52 of the parts it adds; we allow 2^-49 of
	// their sum.
	x := l.b * ((up - down) + (up+down)*0x1p-49)
	return roundUp(math.Max(0, math.Ceil(x)-1))
}

// block is a geometric sum. Its factors are accurate relative to themselves,
// except that the exponent's error grows with it.
func (l laplaceLaw) block(lo, hi int64) (mass, err float64) {
	if lo <= 0 {
		out := 2 * math.Exp(-(float64(hi)+1)/l.b) / (1 + l.q)
		// Near one side of 1 or the other, both differences are exact to a few
		// 2^-53.
		if hi == 0 {
			return math.Tanh(1 / (2 * l.b)), 0x1p-50
		}
		return 1 - out, 0x1p-50
	}
	x := float64(lo) / l.b
	mass = math.Exp(-x) * -math.Expm1(-(float64(hi-lo)+1)/l.b) / (1 + l.q)
	return mass, mass * (x + 4) * 0x1p-50
}

// logMGF: E exp(tX) = (1-q)^2/((1-q e^t)(1-q e^-t)) = 1/(1 - r^2), where r =
// sinh(t/2)/sinh(1/(2b)).
func (l laplaceLaw) logMGF(t float64) float64 {
	y := 1 / l.b
	if t >= y {
		return math.Inf(1)
	}
	r := math.Exp((t-y)/2) * math.Expm1(-t) / math.Expm1(-y)
	r2 := r * r * (1 + (4+y)*0x1p-49)
	if r2 >= 1 {
		return math.Inf(1)
	}
	return -math.Log1p(-r2) * (1 + 0x1p-50)
}

func (l laplaceLaw) horizon() float64 { return 1 / l.b }

func (l laplaceLaw) variance() float64 {
	s := math.Sinh(1 / (2 * l.b))
	return 1 / (2 * s * s)
}

// roundUp turns a non-negative float64 into the nearest int64 that is not below
// it.
func roundUp(f float64) int64 {
	if !(f < 0x1p63) {
		return math.MaxInt64
	}
	return int64(math.Ceil(f))
}
