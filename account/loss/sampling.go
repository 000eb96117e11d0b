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

// base is the pair of a mechanism before sampling: noise around 0, and around 1,
// whose ratio of densities s(x) increases in x.
type base interface {
	// place returns the x where the ratio is s, within the ends.
	place(s float64) float64
	// ratio returns s(x).
	ratio(x float64) float64
	// ends returns the interval that the lattice covers.
	ends() (low, high float64)
	// integrate returns, over [a, b], the mass of the noise around 0, that around 1,
	// and the moments of |s - s(a)| or, with falling, of |s(b) - s|, under the
	// noise around 0, with bounds on the errors of masses and moment.
	integrate(a, b float64, falling bool) (zero, one, moment, massSlack, momentSlack float64)
	// within narrows the ends so that about spare of the mass is beyond them.
	within(spare float64) base
	// sides returns the masses of both noises beyond the ends, and the ratios there
	// if they are constant.
	sides() (below, above side)
}

// side is what lies beyond an end of the lattice's interval.
type side struct {
	zero, one float64 // masses
	ratio     float64 // if the ratio is constant there, otherwise 0
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
	if !(rate > 0 && rate <= 1) {
		return nil, fmt.Errorf("%w: the sampling rate is %v, and must be above 0 and at most 1", ErrParameter, rate)
	}
	if rate == 1 {
		return law, nil
	}
	switch l := law.(type) {
	case gaussian:
		return mixture{normalBase{1 / math.Sqrt(l.square), reach}, rate, direction}, nil
	case laplace:
		return mixture{laplaceBase{l.epsilon}, rate, direction}, nil
	}
	return nil, fmt.Errorf("%w: sampling is known here for Gaussian and Laplace noise only", ErrParameter)
}

func (m mixture) infinite() float64 { return 0 }

func (m mixture) top() float64 {
	below, above := m.of.sides()
	if m.direction == Add {
		return -math.Log1p(-m.rate*(1-below.ratio)) * (1 + 8*unit)
	}
	if above.ratio == 0 {
		return math.Inf(1)
	}
	return math.Log1p(m.rate*(above.ratio-1)) * (1 + 8*unit)
}

// atoms are where the ratio is constant.
func (m mixture) atoms() (low, high float64, ok bool) {
	below, above := m.of.sides()
	if below.ratio == 0 || above.ratio == 0 {
		return 0, 0, false
	}
	if m.direction == Add {
		return m.loss(above.ratio), m.loss(below.ratio), true
	}
	return m.loss(below.ratio), m.loss(above.ratio), true
}

// loss returns the loss where the base ratio is s.
func (m mixture) loss(s float64) float64 {
	if m.direction == Add {
		return -math.Log1p(m.rate * (s - 1))
	}
	return math.Log1p(m.rate * (s - 1))
}

// curve is delta(e) in closed form: the mass of the noise on the side of the
// place where the loss is e.
func (m mixture) curve(epsilon float64) dp.Bracket {
	// Remove: P - x Q = rate (one) - (x - 1 + rate) zero where positive, at ratios
	// above s. Add: zero - x ((1-rate) zero + rate one), at ratios below s.
	var zero, one, level, slack float64
	low, high := m.of.ends()
	below, above := m.of.sides()
	if m.direction == Remove {
		grow := math.Expm1(epsilon)
		level = (grow + m.rate) / m.rate
		if above.ratio != 0 && level >= above.ratio {
			return dp.Bracket{}
		}
		x := m.of.place(level)
		zero, one, _, slack, _ = m.of.integrate(x, high, false)
		zero, one = zero+above.zero, one+above.one
		if below.ratio != 0 && level < below.ratio {
			zero, one = zero+below.zero, one+below.one
		}
		value := m.rate * (one - level*zero)
		slack = m.rate * (slack*(1+level) + 16*unit*(one+level*zero))
		return clampUnit(dp.Bracket{Lower: value - slack, Upper: value + slack})
	}
	// 1 - x(1-rate) - x rate s > 0.
	shrink := -math.Expm1(-epsilon) // 1 - 1/x
	level = (m.rate - shrink) / m.rate
	if level <= below.ratio {
		return dp.Bracket{}
	}
	x := m.of.place(level)
	zero, one, _, slack, _ = m.of.integrate(low, x, false)
	zero, one = zero+below.zero, one+below.one
	grow := math.Exp(epsilon) * m.rate
	value := grow * (level*zero - one)
	slack = grow * (slack*(1+level) + 16*unit*(one+level*zero))
	return clampUnit(dp.Bracket{Lower: value - slack, Upper: value + slack})
}
