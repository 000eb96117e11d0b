package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// exponentialSelector is the exponential mechanism, P(i) ~ exp(s_i/b) with b =
// 2D/epsilon, or D/epsilon for monotone scores (McSherry, Talwar 2007).
type exponentialSelector struct {
	calibratedSelector
	rate *big.Rat // 1/b
}

// calibratedSelector is what all selectors have: what they were calibrated to, and the scale b.
type calibratedSelector struct {
	scoring Scoring
	cost    dp.Cost
	b       *big.Rat
}

func (m *calibratedSelector) Scoring() Scoring    { return m.scoring }
func (m *calibratedSelector) Cost() dp.Cost       { return m.cost }
func (m *calibratedSelector) Parameter() *big.Rat { return new(big.Rat).Set(m.b) }

// NewExponential calibrates the exponential mechanism, b as an exact rational, so
// that the cost is exactly epsilon.
//
// Between neighbours s and t the log of the probability of i changes by
//
//	(s_i - t_i)/b + ln(sum of exp(t_j/b) / sum of exp(s_j/b)).
//
// The second term is the same for all i, and the first is in [-D/b, D/b], or, for monotone scores,
// in [0, D/b] or in [-D/b, 0]. So over all i the loss has a range of at most epsilon (Durfee,
// Rogers 2019). It takes both signs, because probabilities sum to one, so it is at most epsilon in
// size (McSherry, Talwar 2007, Theorem 6); and a bounded range costs no more than epsilon^2/8 in
// zCDP (Cesar, Rogers 2021).
//
// The sampler is exact: no softmax is taken in floating point, and one uniform number is refined as
// far as the choice needs (see [noise.Pick]). It draws 64 bits whatever the scores are.
func NewExponential(s Scoring, epsilon dp.Amount) (Selector, error) {
	b, err := s.width(epsilon)
	if err != nil {
		return nil, err
	}
	rho, err := rhoOfBoundedRange(epsilon)
	if err != nil {
		return nil, err
	}
	return &exponentialSelector{calibratedSelector{s, dp.Cost{Epsilon: epsilon, Rho: rho}, b}, new(big.Rat).Inv(b)}, nil
}

func (*exponentialSelector) Name() string { return "exponential" }

func (m *exponentialSelector) pick(src *noise.Source, scores []int64) int {
	return noise.Pick(src, m.rate, gapsBelow(scores), nil)
}

// flipSelector goes through the candidates in random order and takes the first whose coin, of
// probability exp((s_i - max)/b), shows heads (McKenna, Sheldon 2020). Its expected error is never
// above that of [NewExponential] with the same epsilon and down to half of it.
type flipSelector struct {
	calibratedSelector
	rate *big.Rat // 1/b
}

// NewPermuteAndFlip calibrates permute-and-flip, b = 2D/epsilon, or D/epsilon for
// monotone scores, as an exact rational.
//
// It chooses as somebody does who adds exponential noise of mean b to every score
// and takes the highest (Ding et al. 2021), and the
// proof at NewNoisyMax holds for that: it is epsilon-private (McKenna, Sheldon 2020).
//
// It is not of bounded range, and not epsilon^2/8-zCDP: two candidates whose gap goes from 0 to 2D
// have the losses epsilon and -ln(2 - exp(-epsilon)), which are more than epsilon apart. So rho is
// what every pure mechanism has, epsilon tanh(epsilon/2).
//
// The coins do not depend on the order, and the first head in a random order is a uniform choice
// among the heads. So all coins are flipped and one of the heads is taken: the same law, but the
// number of flips does not tell how far down a private list of scores the search went.
func NewPermuteAndFlip(s Scoring, epsilon dp.Amount) (Selector, error) {
	b, err := s.width(epsilon)
	if err != nil {
		return nil, err
	}
	rho, err := rhoOfPure(epsilon)
	if err != nil {
		return nil, err
	}
	return &flipSelector{calibratedSelector{s, dp.Cost{Epsilon: epsilon, Rho: rho}, b}, new(big.Rat).Inv(b)}, nil
}

func (*flipSelector) Name() string { return "permute-and-flip" }

func (m *flipSelector) pick(src *noise.Source, scores []int64) int {
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

// NoisyMaxForm is the noise of report noisy max.
type NoisyMaxForm int

const (
	// LaplaceNoise is discrete Laplace noise of scale b.
	LaplaceNoise NoisyMaxForm = iota + 1
	// GeometricNoise is exponential noise on the lattice, P(k) ~ exp(-k/b) for
	// k >= 0. Its limit on a fine lattice is permute-and-flip.
	GeometricNoise
	// GumbelNoise makes report noisy max the exponential mechanism.
	GumbelNoise
)

// errMaxNoise is returned when report noisy max is asked for with another noise.
var errMaxNoise = errors.New("report noisy max takes LaplaceNoise, GeometricNoise or GumbelNoise")

// noisyMaxSelector reports which score is highest after each got noise of its own; of
// several that are highest, the first.
type noisyMaxSelector struct {
	calibratedSelector
	form    NoisyMaxForm
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
// With Gumbel noise on real numbers the result is the exponential mechanism (Durfee, Rogers 2019),
// which is what is returned: it is sampled exactly, where a Gumbel number could only be rounded.
func NewNoisyMax(form NoisyMaxForm, s Scoring, epsilon dp.Amount) (Selector, error) {
	switch form {
	case GumbelNoise:
		return NewExponential(s, epsilon)
	case LaplaceNoise, GeometricNoise:
	default:
		return nil, errMaxNoise
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
	return &noisyMaxSelector{calibratedSelector{s, dp.Cost{Epsilon: epsilon, Rho: rho}, b}, form, sampler}, nil
}

func (m *noisyMaxSelector) Name() string {
	if m.form == LaplaceNoise {
		return "noisy max, laplace"
	}
	return "noisy max, geometric"
}

// pick draws all noise before it looks at a score.
func (m *noisyMaxSelector) pick(src *noise.Source, scores []int64) int {
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

// maxScore is the largest score that noise is added to, and half of the largest
// noise, so that the sum fits. Clamping scores moves neighbours no farther apart and
// none the other way. Noise beyond 2^62 has a probability below 2 exp(-2^22), for a scale
// of 2^40, like that beyond int64 which package noise neglects.
const maxScore = 1 << 61

// firstHighest returns the first index at which score plus noise is highest.
func firstHighest(scores, z []int64) int {
	best, at := int64(0), -1
	for i, s := range scores {
		v := max(-maxScore, min(s, maxScore)) + max(-2*maxScore, min(z[i], 2*maxScore))
		if at < 0 || v > best {
			best, at = v, i
		}
	}
	return at
}

// Gap of the exponential mechanism: P[s <= max - b (ln n + t)] <= exp(-t) (McSherry,
// Talwar 2007, with one best candidate, the worst case), so ln n + t = ln(n/beta).
func (m *exponentialSelector) Gap(candidates int, beta float64) int64 {
	return gap(m.b, candidates, beta, 0)
}

// Gap of permute-and-flip is at most that of the exponential mechanism, at every
// set of scores (McKenna, Sheldon 2020).
func (m *flipSelector) Gap(candidates int, beta float64) int64 {
	return gap(m.b, candidates, beta, 0)
}

// Gap of report noisy max. The chosen one has s + z >= max + z', so it is at most z
// - z' below. Geometric noise has z' >= 0 and P(z > h) = exp(-(h+1)/b), Laplace
// noise P(|z| > h) = 2 exp(-(h+1)/b)/(1 + exp(-1/b)); no candidate's is beyond h with
// probability 1 - beta, by the union bound.
func (m *noisyMaxSelector) Gap(candidates int, beta float64) int64 {
	if m.form == GeometricNoise {
		return gap(m.b, candidates, beta, 0)
	}
	b, _ := m.b.Float64()
	h := gap(m.b, candidates, beta, math.Log(2/(1+math.Exp(-1/b))))
	if h > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return 2 * h
}

// gap returns b (ln(n/beta) + more), rounded up with a margin for the rounding of
// floating point, and the largest int64 where nothing satisfies beta.
func gap(width *big.Rat, candidates int, beta, more float64) int64 {
	if !(beta > 0) || candidates < 1 {
		return math.MaxInt64
	}
	b, _ := width.Float64()
	g := math.Ceil(b * max(0, math.Log(float64(candidates)/beta)+more) * (1 + 0x1p-40))
	if !(g < math.MaxInt64/2) {
		return math.MaxInt64
	}
	return int64(g)
}
