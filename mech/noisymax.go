package mech

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// MaxNoise is the noise of report noisy max.
type MaxNoise int

const (
	// LaplaceNoise is discrete Laplace noise of scale b.
	LaplaceNoise MaxNoise = iota + 1
	// GeometricNoise is exponential noise on the lattice, P(k) ~ exp(-k/b) for
	// k >= 0. Its limit on a fine lattice is permute-and-flip.
	GeometricNoise
	// GumbelNoise makes report noisy max the exponential mechanism.
	GumbelNoise
)

// ErrMaxNoise is returned when report noisy max is asked for with another noise.
var ErrMaxNoise = errors.New("report noisy max has LaplaceNoise, GeometricNoise or GumbelNoise")

// NoisyMax reports which score is highest after each got noise of its own; of
// several that are highest, the first.
type NoisyMax struct {
	form    MaxNoise
	scoring Scoring
	cost    dp.Cost
	b       *big.Rat
	sampler *noise.Laplace
}

// NewNoisyMax calibrates report noisy max: noise of scale b = 2D/epsilon, or
// D/epsilon for monotone scores only.
//
// Dwork, Roth 2014, Claim 3.9 states D/epsilon, for counts, which are monotone; for
// other scores that costs twice epsilon. On integers there are ties, which the
// textbook proof has not. Fix the noise of all candidates but i. The first of the
// highest is i exactly if s_i + z_i is at least s_j + z_j for every j after i and at
// least s_j + z_j + 1 for every j before i, so exactly if z_i >= r - s_i for
// an integer r. Between neighbours r - s_i rises by at most 2D, or by at most D where
// all scores move the same way; and both noises satisfy P(z >= k + c) >= exp(-c/b)
// P(z >= k) for all integers c >= 0. So the probability of i falls by a factor of
// exp(epsilon) at most, for every noise of the others, whatever the fixed public
// order is that ties are broken by.
//
// With Gumbel noise on real numbers the result is the exponential mechanism
// (Durfee, Rogers 2019), which is what is returned: it is sampled
// exactly, where a Gumbel number could only be rounded.
func NewNoisyMax(form MaxNoise, s Scoring, epsilon dp.Amount) (Selector, error) {
	switch form {
	case GumbelNoise:
		return NewExponential(s, epsilon)
	case LaplaceNoise, GeometricNoise:
	default:
		return nil, ErrMaxNoise
	}
	b, err := s.width(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkScale(b, smallestScale, largestScale); err != nil {
		return nil, err
	}
	rho, err := rhoOfPure(epsilon)
	if err != nil {
		return nil, err
	}
	sampler, err := noise.NewLaplace(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScale, err)
	}
	return &NoisyMax{form, s, dp.Cost{Epsilon: epsilon, Rho: rho}, b, sampler}, nil
}

// Name returns "noisy max, laplace" or "noisy max, geometric".
func (m *NoisyMax) Name() string {
	if m.form == LaplaceNoise {
		return "noisy max, laplace"
	}
	return "noisy max, geometric"
}

// Scoring returns how the scores may move.
func (m *NoisyMax) Scoring() Scoring { return m.scoring }

// Cost returns the pure epsilon, and the rho that follows from it.
func (m *NoisyMax) Cost() dp.Cost { return m.cost }

// Parameter returns b, the scale of the noise.
func (m *NoisyMax) Parameter() *big.Rat { return new(big.Rat).Set(m.b) }

// pick draws all noise before it looks at a score.
func (m *NoisyMax) pick(src *noise.Source, scores []int64) int {
	z := make([]int64, len(scores))
	m.sampler.Fill(src, z)
	if m.form == GeometricNoise {
		// Laplace noise that is not negative is geometric: draw it again until it is.
		for i := range z {
			for z[i] < 0 {
				z[i] = m.sampler.Draw(src)
			}
		}
	}
	return firstHighest(scores, z)
}

// farScore is the largest score that noise is added to, and half of the largest
// noise, so that the sum fits. Clamping scores moves neighbours no farther apart and
// none the other way. Noise beyond 2^62 has a probability below 2 exp(-2^22), for a scale
// of 2^40, like that beyond int64 which package noise neglects.
const farScore = 1 << 61

// firstHighest returns the first index at which score plus noise is highest.
func firstHighest(scores, z []int64) int {
	best, at := int64(0), -1
	for i, s := range scores {
		v := max(-farScore, min(s, farScore)) + max(-2*farScore, min(z[i], 2*farScore))
		if at < 0 || v > best {
			best, at = v, i
		}
	}
	return at
}
