package mech

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// PermuteAndFlip goes through the candidates in random order and takes the first
// whose coin, of probability exp((s_i - max)/b), shows heads (McKenna, Sheldon
// 2020). Its expected error is never above that of [Exponential] with the same epsilon
// and down to half of it.
type PermuteAndFlip struct {
	scoring Scoring
	cost    dp.Cost
	b, rate *big.Rat // rate = 1/b
}

// NewPermuteAndFlip calibrates permute-and-flip, b = 2D/epsilon, or D/epsilon for
// monotone scores, as an exact rational.
//
// It chooses as somebody does who adds exponential noise of mean b to every score
// and takes the highest (Ding et al. 2021), and the
// proof at NewNoisyMax holds for that: it is epsilon-private (McKenna, Sheldon 2020).
//
// It is not of bounded range, and not epsilon^2/8-zCDP: two candidates whose
// gap goes from 0 to 2D have the losses epsilon and -ln(2 - exp(-epsilon)), which are
// more than epsilon apart. So rho is what every pure mechanism has, epsilon
// tanh(epsilon/2).
//
// The coins do not depend on the order, and the first head in a random order is
// a uniform choice among the heads. So all coins are flipped and one of the
// heads is taken: the same law, but the number of flips does not tell how far down a
// private list of scores the search went.
func NewPermuteAndFlip(s Scoring, epsilon dp.Amount) (*PermuteAndFlip, error) {
	b, err := s.width(epsilon)
	if err != nil {
		return nil, err
	}
	rho, err := rhoOfPure(epsilon)
	if err != nil {
		return nil, err
	}
	return &PermuteAndFlip{s, dp.Cost{Epsilon: epsilon, Rho: rho}, b, new(big.Rat).Inv(b)}, nil
}

// Name returns "permute-and-flip".
func (*PermuteAndFlip) Name() string { return "permute-and-flip" }

// Scoring returns how the scores may move.
func (m *PermuteAndFlip) Scoring() Scoring { return m.scoring }

// Cost returns the pure epsilon, and the rho that follows from it.
func (m *PermuteAndFlip) Cost() dp.Cost { return m.cost }

// Parameter returns b.
func (m *PermuteAndFlip) Parameter() *big.Rat { return new(big.Rat).Set(m.b) }

func (m *PermuteAndFlip) pick(src *noise.Source, scores []int64) int {
	heads := make([]bool, len(scores))
	noise.Flip(src, m.rate, gapsBelow(scores), heads)
	n := uint64(0)
	for _, h := range heads {
		if h {
			n++
		}
	}
	// The best candidate's coin always shows heads, so there is one.
	left := noise.Below(src, n)
	for i, h := range heads {
		if !h {
			continue
		}
		if left == 0 {
			return i
		}
		left--
	}
	panic("mech: fewer heads than were counted")
}
