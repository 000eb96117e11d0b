package loss

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

type laplace struct{ epsilon float64 }

// Laplace is the loss of continuous Laplace noise, epsilon being the l1
// sensitivity over the scale: atoms at -epsilon and epsilon and a density between
// them. With w = exp(-(2z+1) epsilon),
//
//	M(z) = exp(z epsilon) ((z+1) + z w)/(2z+1)
//
// (Mironov 2017, Table II, at order z+1).
func Laplace(epsilon float64) (Law, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	return laplace{epsilon}, nil
}

// delta(e) = 1 - exp((e - epsilon)/2): Balle, Barthe, Gaboardi 2018, Theorem 3.
func (l laplace) curve(epsilon float64) dp.Bracket {
	if epsilon >= l.epsilon {
		return dp.Bracket{}
	}
	return exactBracket(-math.Expm1((epsilon - l.epsilon) / 2))
}

func (l laplace) infinite() float64 { return 0 }
func (l laplace) top() float64      { return l.epsilon }

func (l laplace) cumulant(z complex128) (complex128, float64) {
	w, slack := turn(z, l.epsilon)
	// ((z+1) + z w)/(2z+1) = 1 + z (w-1)/(2z+1).
	part := z / (2*z + 1)
	log, slack := logOnePlus(part*(w-1), slack+8*unit)
	return z*complex(l.epsilon, 0) + log, slack + 8*unit*size(z)*l.epsilon
}

func (l laplace) decay(t, y float64) float64 {
	// M(z) = (exp(z e) + exp(-(z+1) e))/2 + (exp(z e) - exp(-(z+1) e))/(2 (2z+1)).
	w := math.Exp(-(2*t + 1) * l.epsilon)
	most := (1 + w) / 2 * (1 + 1/(2*y))
	return min(0, math.Log(most*(2*t+1)/(t+1+t*w))+64*unit)
}

// latticed returns a sum with few equal Laplace losses, the case in which the series
// converges slowest, as one that goes on a lattice: most of each loss is in its two
// atoms, where the generating function does not decay, and the lattice can hold
// them both. A sample of everybody is no sample, so it is a mixture of rate 1.
func (s Sum) latticed(epsilon float64) Sum {
	if len(s.terms) != 1 {
		return s
	}
	t := s.terms[0]
	l, ok := t.law.(laplace)
	switch {
	case !ok, l.epsilon < 1e-4, l.epsilon > 30:
		return s // extreme laws are next to nothing, or next to their upper atom
	case float64(t.times)*(math.Ln2-math.Log1p(math.Exp(-l.epsilon))) > 20:
		return s // ((1 + exp(-epsilon))/2)^times, the decay of the atoms, is enough
	case s.rough(0).tilt(epsilon)*l.epsilon > 100:
		return s // near the largest loss a lattice would have to be very fine
	}
	return Sum{[]term{{mixture{laplaceBase(l), 1, Remove}, t.times}}}
}
