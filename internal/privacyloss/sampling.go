package privacyloss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Direction says which of two neighbouring databases the data is: the one with
// the person (who could be removed), or the one without (to whom one could be
// added). Under sampling the two lose differently, and a guarantee needs both.
type Direction int

const (
	// Remove compares a database with one that lacks one person.
	Remove Direction = iota
	// Add compares a database with one that has one person more.
	Add
)

// base is the pair of a mechanism before sampling: noise around two centres, whose
// ratio of densities s(x), of the second to the first, increases in x.
type base interface {
	// whereLogRatio returns the x where ln s is u, within the ends.
	whereLogRatio(u float64) float64
	// log returns ln s(x).
	log(x float64) float64
	// density returns that of the noise around the first centre, roughly.
	density(x float64) float64
	// ends returns the interval that the lattice covers.
	ends() (low, high float64)
	// integrate integrates over [a, b].
	integrate(a, b float64, falling bool) part
	// masses is integrate without the moment.
	masses(a, b float64) part
	// within narrows the ends so that about spare of the mass is beyond them.
	within(spare float64) base
	// sides returns what lies beyond the ends.
	sides() (below, above side)
}

// part is what a base has on an interval: the mass of the noise around the first
// centre and that around the second, and the moment, under the first, of |s - s(a)|
// or, if falling, of |s(b) - s|; with bounds on their errors.
type part struct {
	zero, one, moment                float64
	zeroSlack, oneSlack, momentSlack float64
}

// side is what lies beyond an end of the lattice's interval.
type side struct {
	zero, one float64 // masses, within 64 units
	atom      bool    // whether the ratio is constant there, and if so
	log       float64 // its logarithm
}

// mixture is the law of a mechanism that looks at a Poisson sample: every person is in it with
// probability rate. For add-remove neighbours the pairs are the mixture (1-rate) noise(0) + rate
// noise(1) against noise(0), and the reverse (Zhu, Dong, Wang 2022, Theorem 11).
type mixture struct {
	of        base
	rate      float64
	direction Direction
}

// within returns the mixture with its noise cut off where less than spare is beyond.
func (m mixture) within(spare float64) mixture {
	m.of = m.of.within(spare)
	return m
}

// Sampled returns the law of Gaussian or Laplace noise on a Poisson sample. A rate
// of 1 is no sampling.
func Sampled(law Law, rate float64, direction Direction) (Law, error) {
	if !(rate >= 1e-12 && rate <= 1) {
		return nil, fmt.Errorf("%w: the sampling rate is %v, but must be between 1e-12 and 1", errParameter, rate)
	}
	if direction != Remove && direction != Add {
		return nil, fmt.Errorf("%w: the direction is %d, but must be Remove or Add", errParameter, direction)
	}
	if rate == 1 {
		return law, nil
	}
	// Ratios of densities are numbers here, and must not overflow.
	switch l := law.(type) {
	case gaussian:
		if l.mu > 10 {
			return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, but must be at most 10 under sampling", errParameter, l.mu)
		}
		return mixture{normalBase{l.mu, normalReach}, rate, direction}, nil
	case laplace:
		if l.epsilon > 300 {
			return nil, fmt.Errorf("%w: epsilon is %v, but must be at most 300 under sampling", errParameter, l.epsilon)
		}
		return mixture{laplaceBase(l), rate, direction}, nil
	}
	return nil, fmt.Errorf("%w: sampling is known here for Gaussian and Laplace noise only", errParameter)
}

func (m mixture) infinite() float64 { return 0 }

func (m mixture) top() float64 {
	below, above := m.of.sides()
	u := math.Inf(1)
	switch {
	case m.direction == Add && below.atom:
		u = below.log
	case m.direction == Add:
		u = math.Inf(-1)
	case above.atom:
		u = above.log
	}
	return m.loss(u) * (1 + 16*unitRoundoff)
}

// atoms are where the ratio is constant.
func (m mixture) atoms() (low, high float64, ok bool) {
	below, above := m.of.sides()
	low, high = m.loss(below.log), m.loss(above.log)
	return min(low, high), max(low, high), below.atom
}

// loss returns the loss where the base ratio is exp(u), within 16 units.
func (m mixture) loss(u float64) float64 {
	change := m.rate * math.Expm1(u)
	l := math.Log1p(change)
	if change < -0.5 {
		// 1 + change would cancel.
		l = math.Log((1 - m.rate) + m.rate*math.Exp(u))
	}
	if m.direction == Add {
		return -l
	}
	return l
}

// rise returns s - 1 where the loss is l, and a bound on its error; s is negative
// if there is no such place.
func (m mixture) rise(l float64) (rise, slack float64) {
	if m.direction == Add {
		l = -l
	}
	rise = math.Expm1(l) / m.rate
	return rise, 4*unitRoundoff*math.Abs(rise) + 4*unitRoundoff*math.Abs(l)*math.Exp(l)/m.rate
}

// whereRise returns the x of a ratio, given as s - 1.
func (m mixture) whereRise(rise float64) float64 {
	if rise <= -1 {
		low, _ := m.of.ends()
		return low
	}
	return m.of.whereLogRatio(math.Log1p(rise))
}

// curve is delta(e) in closed form. With x = exp(e) and s the ratio where the loss is e,
//
//	Remove: P - x Q = rate (one - s zero), at ratios above s,
//	Add:    P - x Q = x rate (s zero - one), at ratios below s.
//
// At s itself both are 0, so that its place need not be exact.
func (m mixture) curve(epsilon float64) dp.Bracket {
	if epsilon >= m.top() {
		return dp.Bracket{}
	}
	rise, wrong := m.rise(epsilon)
	x := m.whereRise(rise)
	low, high := m.of.ends()
	below, above := m.of.sides()
	var p part
	var beyond side
	factor := m.rate
	if m.direction == Remove {
		p, beyond = m.of.masses(x, high), above
	} else {
		p, beyond = m.of.masses(low, x), below
		factor *= math.Exp(epsilon)
	}
	zero, one := p.zero+beyond.zero, p.one+beyond.one
	if !(low < x && x < high) && !beyond.atom {
		// The place is beyond the end, and the value at most what is there.
		return dp.Bracket{Lower: 0, Upper: min(1, factor*max(one, zero)*(1+128*unitRoundoff))}
	}
	value := one - (zero + rise*zero)
	if m.direction == Add {
		value = -value
	}
	slack := p.oneSlack + (1+math.Abs(rise))*p.zeroSlack + wrong*zero + 128*unitRoundoff*(one+(1+math.Abs(rise))*zero)
	out := bracket(factor*value, factor*slack)
	if out.Lower < 1e-290 {
		out.Lower = 0 // what is beyond the ends counts
	}
	return out
}

// normalBase is standard normal noise around 0 and around mu: ln s(x) = mu (x -
// mu/2). It goes from 0 and mu outward by reach.
type normalBase struct{ mu, reach float64 }

// normalReach leaves 1e-299 of the mass beyond.
const normalReach = 37

func (n normalBase) within(spare float64) base {
	// The tail at x is below exp(-x^2/2).
	return normalBase{n.mu, min(normalReach, math.Sqrt(-2*math.Log(max(spare, 1e-300))))}
}

func (n normalBase) ends() (float64, float64) { return -n.reach, n.mu + n.reach }

func (n normalBase) sides() (below, above side) {
	// The upper end was rounded, so its tails are taken a little too large.
	near, far := numeric.Tail(n.reach-1e-12), numeric.Tail(n.reach+n.mu-1e-12)
	return side{zero: near, one: far}, side{zero: far, one: near}
}

func (n normalBase) log(x float64) float64     { return n.mu * (x - n.mu/2) }
func (n normalBase) density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

func (n normalBase) whereLogRatio(u float64) float64 {
	return min(n.mu+n.reach, max(-n.reach, u/n.mu+n.mu/2))
}

// The five points of Gauss and Legendre. Their error on an interval of width h is 4e-13 h^10 times
// the tenth derivative, which for the normal density is at most (|x|+4)^10 times the density around
// there: with h(|x|+4) <= 0.3 it is below 1e-17. For the moment, which is mu h times smaller, and
// whose derivative is 10 mu/(|x|+4) times smaller, it is below 1e-15.
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
	loose := unitRoundoff * (64 + 8*pieces + 4*far*far)
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
	left, right := numeric.Tail(math.Abs(low)), numeric.Tail(math.Abs(high))
	// Tails are within 32 units of themselves. If x is off by d, Tail(x) is by less
	// than (x+1) d of itself.
	loose := func(x, of float64) float64 { return unitRoundoff * (64 + 2*(math.Abs(x)+1)*(math.Abs(of)+mu)) }
	slack = left*loose(low, a) + right*loose(high, b)
	switch {
	case low >= 0:
		return left - right, slack
	case high <= 0:
		return right - left, slack
	}
	return 1 - left - right, slack + 2*unitRoundoff
}

// laplaceBase is Laplace noise of scale 1/epsilon around 0 and 1. Below 0 and above
// 1 the ratio is constant; between them ln s(x) = (2x-1) epsilon.
type laplaceBase struct{ epsilon float64 }

func (l laplaceBase) within(float64) base      { return l }
func (l laplaceBase) ends() (float64, float64) { return 0, 1 }

func (l laplaceBase) sides() (below, above side) {
	e := math.Exp(-l.epsilon)
	return side{0.5, 0.5 * e, true, -l.epsilon}, side{0.5 * e, 0.5, true, l.epsilon}
}

func (l laplaceBase) log(x float64) float64     { return (2*x - 1) * l.epsilon }
func (l laplaceBase) density(x float64) float64 { return math.Exp(-x*l.epsilon) * l.epsilon / 2 }

func (l laplaceBase) whereLogRatio(u float64) float64 { return min(1, max(0, 0.5+u/(2*l.epsilon))) }

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
	loose := unitRoundoff * (32 + 8*e)
	p.zeroSlack, p.oneSlack, p.momentSlack = loose*p.zero, loose*p.one, loose*p.moment
	return p
}
