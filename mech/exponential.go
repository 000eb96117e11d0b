package mech

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Exponential is the exponential mechanism, P(i) ~ exp(s_i/b) with b =
// 2D/epsilon, or D/epsilon for monotone scores (McSherry, Talwar 2007).
type Exponential struct {
	scoring Scoring
	cost    dp.Cost
	b, rate *big.Rat // rate = 1/b
}

// NewExponential calibrates the exponential mechanism, b as an exact rational, so
// that the cost is exactly epsilon.
//
// Between neighbours s and t the log of the probability of i changes by
//
//	(s_i - t_i)/b + ln(sum of exp(t_j/b) / sum of exp(s_j/b)).
//
// The second term is the same for all i, and the first is in [-D/b, D/b], or, for
// monotone scores, in [0, D/b] or in [-D/b, 0]. So over all i the loss has a
// range of at most epsilon (Durfee, Rogers 2019). It takes both signs,
// because probabilities sum to one, so it is at most epsilon in size (McSherry,
// Talwar 2007, Theorem 6); and a bounded range costs no more than epsilon^2/8 in
// zCDP (Cesar, Rogers 2021).
//
// The sampler is exact: no softmax is taken in floating point, and one uniform number
// is refined as far as the choice needs (see [noise.Pick]). It draws 64 bits whatever
// the scores are.
func NewExponential(s Scoring, epsilon dp.Amount) (*Exponential, error) {
	b, err := s.width(epsilon)
	if err != nil {
		return nil, err
	}
	rho, err := rhoOfBoundedRange(epsilon)
	if err != nil {
		return nil, err
	}
	return &Exponential{s, dp.Cost{Epsilon: epsilon, Rho: rho}, b, new(big.Rat).Inv(b)}, nil
}

// Name returns "exponential".
func (*Exponential) Name() string { return "exponential" }

// Scoring returns how the scores may move.
func (m *Exponential) Scoring() Scoring { return m.scoring }

// Cost returns the pure epsilon, and the rho of bounded range.
func (m *Exponential) Cost() dp.Cost { return m.cost }

// Parameter returns b.
func (m *Exponential) Parameter() *big.Rat { return new(big.Rat).Set(m.b) }

func (m *Exponential) pick(src *noise.Source, scores []int64) int {
	return noise.Pick(src, m.rate, gapsBelow(scores), nil)
}
