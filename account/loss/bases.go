package loss

import (
	"math"

	"github.com/discreet-dp/discreet/internal/normal"
)

// normalBase is Gaussian noise around 0 and 1: s(x) = exp((2x-1)/(2 sigma^2)). It
// goes from 0 and 1 outward by reach standard deviations.
type normalBase struct{ sigma, reach float64 }

// reach leaves 1e-300 of the mass beyond.
const reach = 37

func (n normalBase) within(spare float64) base {
	// The tail at x is below exp(-x^2/2).
	return normalBase{n.sigma, min(reach, math.Sqrt(-2*math.Log(max(spare, 1e-300))))}
}

func (n normalBase) ends() (float64, float64) { return -n.reach * n.sigma, 1 + n.reach*n.sigma }

func (n normalBase) sides() (below, above side) {
	near, far := normal.Tail(n.reach), normal.Tail(n.reach+1/n.sigma)
	return side{zero: near, one: far}, side{zero: far, one: near}
}

func (n normalBase) ratio(x float64) float64 { return math.Exp((x - 0.5) / (n.sigma * n.sigma)) }

func (n normalBase) place(s float64) float64 {
	low, high := n.ends()
	if s <= 0 {
		return low
	}
	return min(high, max(low, 0.5+n.sigma*n.sigma*math.Log(s)))
}

// The five points of Gauss and Legendre. On an interval of 0.03 sigma, where the
// density changes by at most exp(0.36), their relative error is below 1e-16: it is
// 4e-13 times the tenth power of the logarithmic derivative times the width.
var (
	legendreAt     = [5]float64{-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831, 0.9061798459386640}
	legendreWeight = [5]float64{0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665, 0.2369268850561891}
)

func (n normalBase) integrate(a, b float64, falling bool) (zero, one, moment, massSlack, momentSlack float64) {
	square := n.sigma * n.sigma
	if b-a <= 0.03*min(n.sigma, square) {
		middle, half := (a+b)/2, (b-a)/2
		from := a
		if falling {
			from = b
		}
		at := n.ratio(from)
		for i, u := range legendreAt {
			x := middle + half*u
			p := legendreWeight[i] * math.Exp(-x*x/(2*square))
			rise := math.Expm1((x - from) / square)
			zero += p
			one += p * (1 + rise)
			moment += p * math.Abs(rise)
		}
		scale := half / (n.sigma * math.Sqrt(2*math.Pi))
		zero, one, moment = zero*scale, one*scale*at, moment*scale*at
		far := max(math.Abs(a), math.Abs(b)) / n.sigma
		loose := unit * (32 + 8*far*far + 8*far/n.sigma)
		return zero, one, moment, loose * (zero + one), loose * (moment + at*zero*(b-a)/square)
	}
	zero = between(a/n.sigma, b/n.sigma)
	one = between((a-1)/n.sigma, (b-1)/n.sigma)
	// The tails are within a few units of themselves; what they are taken from is
	// at most the whole tail at the nearer end.
	massSlack = 16 * unit * (outer(a/n.sigma, b/n.sigma) + outer((a-1)/n.sigma, (b-1)/n.sigma))
	if falling {
		at := n.ratio(b)
		moment = max(0, at*zero-one)
		momentSlack = massSlack*(1+at) + unit*at*zero*(16+8*math.Abs(b)/square)
	} else {
		at := n.ratio(a)
		moment = max(0, one-at*zero)
		momentSlack = massSlack*(1+at) + unit*at*zero*(16+8*math.Abs(a)/square)
	}
	return zero, one, moment, massSlack, momentSlack
}

// between is the standard normal mass of [a, b].
func between(a, b float64) float64 {
	switch {
	case a >= 0:
		return normal.Tail(a) - normal.Tail(b)
	case b <= 0:
		return normal.Tail(-b) - normal.Tail(-a)
	}
	return 1 - normal.Tail(-a) - normal.Tail(b)
}

// outer is the size of the numbers that between subtracts.
func outer(a, b float64) float64 {
	switch {
	case a >= 0:
		return normal.Tail(a)
	case b <= 0:
		return normal.Tail(-b)
	}
	return 1
}

// laplaceBase is Laplace noise of scale 1/epsilon around 0 and 1. Below 0 and above
// 1 the ratio is constant; between them s(x) = exp((2x-1) epsilon).
type laplaceBase struct{ epsilon float64 }

func (l laplaceBase) within(float64) base { return l }

func (l laplaceBase) ends() (float64, float64) { return 0, 1 }

func (l laplaceBase) sides() (below, above side) {
	e := math.Exp(-l.epsilon)
	return side{zero: 0.5, one: 0.5 * e, ratio: e}, side{zero: 0.5 * e, one: 0.5, ratio: math.Exp(l.epsilon)}
}

func (l laplaceBase) ratio(x float64) float64 { return math.Exp((2*x - 1) * l.epsilon) }

func (l laplaceBase) place(s float64) float64 {
	if s <= 0 {
		return 0
	}
	return min(1, max(0, 0.5+math.Log(s)/(2*l.epsilon)))
}

func (l laplaceBase) integrate(a, b float64, falling bool) (zero, one, moment, massSlack, momentSlack float64) {
	e, w := l.epsilon, b-a
	grow := -math.Expm1(-w * e)
	zero = 0.5 * math.Exp(-a*e) * grow
	one = 0.5 * math.Exp((b-1)*e) * grow
	// The integral of (s(x) - s(a)) exp(-x e) e/2 over [a, b]; falling, with b for a.
	from := a
	if falling {
		from = b
	}
	sinh := math.Sinh(w * e / 2)
	moment = 2 * math.Exp((from-1)*e) * sinh * sinh
	// The width is a difference of numbers up to 1, each rounded.
	loose := unit*(32+8*e) + 4*unit/max(w, unit)
	return zero, one, moment, loose * (zero + one), 2 * loose * moment
}
