package loss

import (
	"math"

	"github.com/discreet-dp/discreet/internal/normal"
)

// normalBase is standard normal noise around 0 and around mu: ln s(x) = mu (x -
// mu/2). It goes from 0 and mu outward by reach.
type normalBase struct{ mu, reach float64 }

// reach leaves 1e-299 of the mass beyond.
const reach = 37

func (n normalBase) within(spare float64) base {
	// The tail at x is below exp(-x^2/2).
	return normalBase{n.mu, min(reach, math.Sqrt(-2*math.Log(max(spare, 1e-300))))}
}

func (n normalBase) ends() (float64, float64) { return -n.reach, n.mu + n.reach }

func (n normalBase) sides() (below, above side) {
	// The upper end was rounded, so its tails are taken a little too large.
	near, far := normal.Tail(n.reach-1e-12), normal.Tail(n.reach+n.mu-1e-12)
	return side{zero: near, one: far}, side{zero: far, one: near}
}

func (n normalBase) log(x float64) float64 { return n.mu * (x - n.mu/2) }

func (n normalBase) density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

func (n normalBase) place(u float64) float64 {
	return min(n.mu+n.reach, max(-n.reach, u/n.mu+n.mu/2))
}

// The five points of Gauss and Legendre. Their error on an interval of width h is
// 4e-13 h^10 times the tenth derivative, which for the normal density is at most
// (|x|+4)^10 times the density around there: with h(|x|+4) <= 0.3 it is below 1e-17.
// For the moment, which is mu h times smaller, and whose derivative is 10 mu/(|x|+4)
// times smaller, it is below 1e-15.
var (
	legendreAt     = [5]float64{-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831, 0.9061798459386640}
	legendreWeight = [5]float64{0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665, 0.2369268850561891}
)

// integrate sums positive numbers only, so that its errors are relative. Tails,
// subtracted, would be faster on long intervals.
func (n normalBase) integrate(a, b float64, falling bool) (p part) {
	from, way := a, 1.0
	if falling {
		from, way = b, -1
	}
	pieces := math.Ceil((b - a) * (4 + n.reach + 2*n.mu) / 0.3)
	half := (b - a) / pieces / 2
	for k := 0.0; k < pieces; k++ {
		for i, u := range legendreAt {
			away := half * (2*k + 1 + u) // from the end that counts, without cancelling
			x := from + way*away
			w := legendreWeight[i] * math.Exp(-x*x/2)
			rise := math.Expm1(way * n.mu * away)
			p.zero += w
			p.one += w * (1 + rise)
			p.moment += w * math.Abs(rise)
		}
	}
	at := math.Exp(n.log(from))
	scale := half / math.Sqrt(2*math.Pi)
	p.zero, p.one, p.moment = p.zero*scale, p.one*scale*at, p.moment*scale*at
	far := max(math.Abs(a), math.Abs(b)) + n.mu
	loose := unit * (64 + 8*pieces + 4*far*far)
	p.zeroSlack, p.oneSlack = loose*p.zero, loose*p.one
	p.momentSlack = loose * (p.moment + at*p.zero*min(1, n.mu*2*half))
	return p
}

func (n normalBase) masses(a, b float64) (p part) {
	p.zero, p.zeroSlack = normalMass(a, b, 0)
	p.one, p.oneSlack = normalMass(a, b, n.mu)
	return p
}

// normalMass is the normal mass of [a, b] around mu, with a bound on its error.
func normalMass(a, b, mu float64) (mass, slack float64) {
	low, high := a-mu, b-mu
	left, right := normal.Tail(math.Abs(low)), normal.Tail(math.Abs(high))
	// Tails are within 32 units of themselves. If x is off by d, Tail(x) is by less
	// than (x+1) d of itself.
	loose := func(x, of float64) float64 { return unit * (64 + 2*(math.Abs(x)+1)*(math.Abs(of)+mu)) }
	slack = left*loose(low, a) + right*loose(high, b)
	switch {
	case low >= 0:
		return left - right, slack
	case high <= 0:
		return right - left, slack
	}
	return 1 - left - right, slack + 2*unit
}

// laplaceBase is Laplace noise of scale 1/epsilon around 0 and 1. Below 0 and above
// 1 the ratio is constant; between them ln s(x) = (2x-1) epsilon.
type laplaceBase struct{ epsilon float64 }

func (l laplaceBase) within(float64) base { return l }

func (l laplaceBase) ends() (float64, float64) { return 0, 1 }

func (l laplaceBase) sides() (below, above side) {
	e := math.Exp(-l.epsilon)
	return side{0.5, 0.5 * e, true, -l.epsilon}, side{0.5 * e, 0.5, true, l.epsilon}
}

func (l laplaceBase) log(x float64) float64 { return (2*x - 1) * l.epsilon }

func (l laplaceBase) density(x float64) float64 { return math.Exp(-x*l.epsilon) * l.epsilon / 2 }

func (l laplaceBase) place(u float64) float64 {
	return min(1, max(0, 0.5+u/(2*l.epsilon)))
}

func (l laplaceBase) masses(a, b float64) part { return l.integrate(a, b, false) }

func (l laplaceBase) integrate(a, b float64, falling bool) (p part) {
	e, w := l.epsilon, b-a
	grow := -math.Expm1(-w * e)
	p.zero = 0.5 * math.Exp(-a*e) * grow
	p.one = 0.5 * math.Exp((b-1)*e) * grow
	// The integral of (s(x) - s(a)) exp(-x e) e/2 over [a, b]; falling, with b for a.
	from := a
	if falling {
		from = b
	}
	sinh := math.Sinh(w * e / 2)
	p.moment = 2 * math.Exp((from-1)*e) * sinh * sinh
	loose := unit * (32 + 8*e)
	p.zeroSlack, p.oneSlack, p.momentSlack = loose*p.zero, loose*p.one, loose*p.moment
	return p
}
