package holdout

import (
	"math"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

// rounds are equal mechanisms: what each costs in epsilon and in rho, and how many there are.
type rounds struct{ epsilon, rho, times float64 }

// at is the smallest epsilon at a delta that is quickly known: the sum, or that of the sum of rho
// (Bun, Steinke 2016).
func (r rounds) at(delta float64) float64 {
	sum := r.epsilon * r.times
	if delta <= 0 {
		return sum
	}
	rho := r.rho * r.times
	return math.Min(sum, rho+2*math.Sqrt(rho*math.Log(1/delta)))
}

// mostOptimal is how many equal claims are composed optimally: it takes longer the more there are,
// and their sum of rho says nearly the same.
const mostOptimal = 1e5

// composed is the smallest epsilon of all compositions that package account has, and which it was.
func (r rounds) composed(delta float64) (epsilon float64, by string) {
	epsilon, by = r.epsilon*r.times, "pure"
	if delta <= 0 {
		return epsilon, by
	}
	if e, err := (account.ZCDP{Rho: r.rho * r.times}).EpsilonAt(delta); err == nil && e < epsilon {
		epsilon, by = e, "zCDP"
	}
	if r.epsilon > 0 && !math.IsInf(r.epsilon, 1) && r.times <= mostOptimal {
		terms := []account.Repeated{{Approx: account.Approx{Epsilon: r.epsilon}, Times: int(r.times)}}
		if e, err := account.OptimalEpsilon(terms, delta); err == nil && e.Upper < epsilon {
			epsilon, by = e.Upper, "optimal"
		}
	}
	return epsilon, by
}

// thresholdRounds are those of Thresholdout: a round is an AboveThreshold of 1/(sn) and an answer
// of 1/(sn).
func thresholdRounds(n, noise float64, w Wish) rounds {
	e := 1 / (noise * n)
	return rounds{2 * e, dp.RhoOfPure(e) + e + math.Expm1(-e), w.Answers}
}

// laplaceRounds are those of noise on every answer.
func laplaceRounds(n, noise float64, w Wish) rounds {
	e := 1 / (noise * n)
	return rounds{e, e + math.Expm1(-e), w.Queries}
}
