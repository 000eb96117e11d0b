package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

type response struct{ epsilon, delta float64 }

// Response is the loss of randomized response with epsilon that tells the whole
// truth with probability delta. It dominates every (epsilon,
// delta)-differentially private mechanism (Kairouz, Oh, Viswanath 2015, Theorem
// 3.1; Murtagh, Vadhan 2016, Lemma 3.2). The loss is epsilon or -epsilon or, with
// probability delta, infinite.
func Response(epsilon, delta float64) (Law, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	if !(delta >= 0 && delta < 1) {
		return nil, fmt.Errorf("%w: delta is %v, and must be at least 0 and below 1", ErrParameter, delta)
	}
	return response{epsilon, delta}, nil
}

func (r response) curve(epsilon float64) dp.Bracket {
	if epsilon >= r.epsilon {
		return dp.Bracket{Lower: r.delta, Upper: r.delta}
	}
	// (exp(E) - exp(e))/(1 + exp(E)), of the part without delta.
	inner := exactBracket(-math.Expm1(epsilon-r.epsilon) / (1 + math.Exp(-r.epsilon)))
	return clampUnit(dp.Bracket{
		Lower: (r.delta + (1-r.delta)*inner.Lower) * (1 - 8*unit),
		Upper: (r.delta + (1-r.delta)*inner.Upper) * (1 + 8*unit),
	})
}

func (r response) infinite() float64 { return r.delta }
func (r response) top() float64      { return r.epsilon }

func (r response) cumulant(z complex128) (complex128, float64) {
	w, slack := turn(z, r.epsilon)
	log, slack := logOnePlus(w, slack)
	constant := math.Log1p(-r.delta) - math.Log1p(math.Exp(-r.epsilon))
	return z*complex(r.epsilon, 0) + log + complex(constant, 0), slack + 8*unit*(size(z)*r.epsilon+math.Abs(constant))
}

// The losses are atoms: M does not decay for good, but repeats itself.
func (r response) decay(_, _ float64) float64 { return 0 }

func (r response) lattice() (spacing, bool) { return spacing{2 * r.epsilon, 1}, true }

// fade: |1 + w| decreases as the angle of w goes from 0 to pi.
func (r response) fade(t, y float64) float64 { return falling(r, t, y) }

// falling is fade for laws whose |M| decreases on the half period.
func falling(law analytic, t, y float64) float64 {
	v, wrong := law.cumulant(complex(t, y))
	zero, wrongZero := law.cumulant(complex(t, 0))
	return min(0, (real(v)-real(zero))*(1-4*unit)+wrong+wrongZero)
}
