package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
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
	// place returns the x where ln s is u, within the ends.
	place(u float64) float64
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

// mixture is the law of a mechanism that looks at a Poisson sample: every person
// is in it with probability rate. For add-remove neighbours the pairs are the
// mixture (1-rate) noise(0) + rate noise(1) against noise(0), and the reverse
// (Zhu, Dong, Wang 2022, Theorem 11).
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
		return nil, fmt.Errorf("%w: the sampling rate is %v, and must be between 1e-12 and 1", ErrParameter, rate)
	}
	if direction != Remove && direction != Add {
		return nil, fmt.Errorf("%w: the direction is %d, and must be Remove or Add", ErrParameter, direction)
	}
	if rate == 1 {
		return law, nil
	}
	// Ratios of densities are numbers here, and must not overflow.
	switch l := law.(type) {
	case gaussian:
		if l.mu > 10 {
			return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, and must be at most 10 under sampling", ErrParameter, l.mu)
		}
		return mixture{normalBase{l.mu, reach}, rate, direction}, nil
	case laplace:
		if l.epsilon > 300 {
			return nil, fmt.Errorf("%w: epsilon is %v, and must be at most 300 under sampling", ErrParameter, l.epsilon)
		}
		return mixture{laplaceBase(l), rate, direction}, nil
	}
	return nil, fmt.Errorf("%w: sampling is known here for Gaussian and Laplace noise only", ErrParameter)
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
	return m.loss(u) * (1 + 16*unit)
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
	return rise, 4*unit*math.Abs(rise) + 4*unit*math.Abs(l)*math.Exp(l)/m.rate
}

// place returns the x of a ratio, given as s - 1.
func (m mixture) place(rise float64) float64 {
	if rise <= -1 {
		low, _ := m.of.ends()
		return low
	}
	return m.of.place(math.Log1p(rise))
}

// curve is delta(e) in closed form. With x = exp(e) and s the ratio where the loss
// is e,
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
	x := m.place(rise)
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
		return dp.Bracket{Lower: 0, Upper: min(1, factor*max(one, zero)*(1+128*unit))}
	}
	value := one - (zero + rise*zero)
	if m.direction == Add {
		value = -value
	}
	slack := p.oneSlack + (1+math.Abs(rise))*p.zeroSlack + wrong*zero + 128*unit*(one+(1+math.Abs(rise))*zero)
	out := bracket(factor*value, factor*slack)
	if out.Lower < 1e-290 {
		out.Lower = 0 // what is beyond the ends counts
	}
	return out
}
