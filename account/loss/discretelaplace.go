package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

type discreteLaplace struct {
	scale float64
	steps int
}

// DiscreteLaplace is the loss of discrete Laplace noise, P(k) ~ exp(-|k|/scale),
// for one number with an integer sensitivity. With a = 1/scale, q = exp(-a), v = exp(-(2z+1)a)
// and D the sensitivity,
//
//	M(z) = exp(z a D) ((1 + v^D)/(1+q) + (1-q)/(1+q) (v - v^D)/(1-v)):
//
// the noise is beyond one of the two centres, or at k = 1 .. D-1 steps between
// them, where the loss is a(D - 2k).
func DiscreteLaplace(scale float64, steps int) (Law, error) {
	if !(scale > 0) || math.IsInf(scale, 0) || steps < 1 {
		return nil,
			fmt.Errorf("%w: discrete Laplace noise of scale %v for a sensitivity of %v: the scale must be above 0, the sensitivity a "+
				"whole number of at least 1", ErrParameter, scale, steps)
	}
	if err := checkEpsilon(float64(steps) / scale); err != nil {
		return nil, err
	}
	return discreteLaplace{scale, steps}, nil
}

func (l discreteLaplace) epsilon() float64 { return float64(l.steps) / l.scale }

// curve is P(noise <= m) - exp(e) P(noise <= m - D), m being the last step whose
// loss is above e.
func (l discreteLaplace) curve(epsilon float64) dp.Bracket {
	if epsilon >= l.epsilon() {
		return dp.Bracket{}
	}
	a, d := 1/l.scale, float64(l.steps)
	// The loss a(D - 2k) is above epsilon for k <= m. Where rounding decides
	// between two values of m, the term in question is zero up to rounding.
	m := math.Ceil((d-epsilon*l.scale)/2) - 1
	q := math.Exp(-a)
	// P(noise <= m) = 1 - q^(m+1)/(1+q) for m >= 0, and for the other centre
	// q^(D-m)/(1+q), as m < D.
	p := 1 - math.Exp(-a*(m+1))/(1+q)
	other := math.Exp(epsilon-a*(d-m)) / (1 + q)
	slack := 16 * unit * (1 + l.epsilon() + epsilon) * (p + other)
	return bracket(p-other, slack)
}

func (l discreteLaplace) infinite() float64 { return 0 }
func (l discreteLaplace) top() float64      { return l.epsilon() * (1 + 2*unit) }

func (l discreteLaplace) cumulant(z complex128) (complex128, float64) {
	e := l.epsilon()
	w, slack := turn(z, e)
	q := math.Exp(-1 / l.scale)
	sum := (1 + w) / complex(1+q, 0)
	if l.steps > 1 {
		// (1-q)/(1-v) is at most 1 in size: |1-v| >= 1-|v| >= 1-q.
		one, slackOne := expm1(-(2*z + 1) * complex(1/l.scale, 0))
		v := 1 + one
		share := complex(math.Expm1(-1/l.scale)/(1+q), 0) / one
		sum += share * (v - w)
		slack = 2*slack + 4*slackOne/size(one) + 16*unit
	}
	log, slack := logOf(sum, slack+8*unit)
	return z*complex(e, 0) + log, slack + 8*unit*size(z)*e
}

func (l discreteLaplace) decay(_, _ float64) float64 { return 0 }

// lattice: the losses are a(D - 2k).
func (l discreteLaplace) lattice() (spacing, bool) { return spacing{2, l.scale}, l.steps%2 == 1 }

// fade takes the sizes of the terms of M one by one. |1 - v| increases with the
// angle of v up to pi, which is reached at the half of the period.
func (l discreteLaplace) fade(t, y float64) float64 {
	if l.steps == 1 {
		return falling(l, t, y)
	}
	e, a := l.epsilon(), 1/l.scale
	one, slack := expm1(-complex((2*t+1)*a, 2*y*a))
	q, w := math.Exp(-a), math.Exp(-(2*t+1)*e)
	most := (1 + w - math.Expm1(-a)*(1+w)/max(size(one)-slack, -math.Expm1(-(2*t+1)*a))) / (1 + q)
	zero, wrong := l.cumulant(complex(t, 0))
	return min(0, math.Log(most)-(real(zero)-t*e)+wrong+64*unit*(1+t*e))
}
