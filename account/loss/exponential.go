package loss

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

type exponential struct{ epsilon float64 }

// Exponential is a loss that dominates the exponential mechanism, and everything
// else of epsilon-bounded range (Durfee, Rogers 2019): where the losses of one
// pair of databases lie within an interval [t - epsilon, t].
//
// For a given t the worst pair has two outcomes, of losses t and t - epsilon
// (Dong, Durfee, Rogers 2020). With E = exp(epsilon), u = exp(t), x = exp(e), its
// curve is (E - u)(1 - x/u)/(E - 1), and the largest over t is at u = sqrt(x E):
//
//	delta(e) = (sqrt E - sqrt x)^2/(E - 1),   1/E <= x <= E.
//
// A largest of convex curves is convex, so it is the curve of a pair (Zhu, Dong,
// Wang 2022, Proposition 8), whose loss has density proportional to exp(l/2) on
// [-epsilon, epsilon]. So M(z) = sinh((z+1/2) epsilon)/((2z+1) sinh(epsilon/2)).
func Exponential(epsilon float64) (Law, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	return exponential{epsilon}, nil
}

func (x exponential) curve(epsilon float64) dp.Bracket {
	if epsilon >= x.epsilon {
		return dp.Bracket{}
	}
	gap := math.Expm1((epsilon - x.epsilon) / 2)
	return exactBracket(gap * gap / -math.Expm1(-x.epsilon))
}

func (x exponential) infinite() float64 { return 0 }
func (x exponential) top() float64      { return x.epsilon }

func (x exponential) cumulant(z complex128) (complex128, float64) {
	// exp(z e) (1 - w)/((2z+1)(1 - exp(-e))).
	w, slack := expm1(-(2*z + 1) * complex(x.epsilon, 0))
	ratio := -w / (2*z + 1) / complex(-math.Expm1(-x.epsilon), 0)
	scale := size(ratio) / size(w)
	log, slack := logOf(ratio, slack*scale+16*unit*size(ratio))
	return z*complex(x.epsilon, 0) + log, slack + 8*unit*size(z)*x.epsilon
}

func (x exponential) decay(t, y float64) float64 {
	// |sinh(a+ib)| <= cosh(a).
	w := math.Expm1(-(2*t + 1) * x.epsilon)
	return min(0, math.Log((2+w)/-w*(2*t+1)/(2*y))+64*unit)
}
