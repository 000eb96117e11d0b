package utility

import (
	"fmt"
	"math"
)

// Selection is the choice of one element of a public set by a score that one
// person moves by at most Sensitivity. Monotone says that one person moves all
// scores the same way, as counts under add-remove; then half the noise is enough.
type Selection struct {
	Epsilon, Sensitivity float64
	Monotone             bool
}

func (s Selection) check() error {
	return firstOf(positive("epsilon", s.Epsilon), positive("the sensitivity", s.Sensitivity))
}

// width is the score that a factor e of probability is worth: 2D/epsilon, or
// D/epsilon for monotone scores.
func (s Selection) width() float64 {
	if s.Monotone {
		return s.Sensitivity / s.Epsilon
	}
	return 2 * s.Sensitivity / s.Epsilon
}

// Bound returns an alpha that needs no scores: of a set of the given size, of
// which at least best have the highest score, the exponential mechanism and
// permute-and-flip choose one whose score is alpha or more below the highest with
// probability at most beta. It solves exp(-t) = beta in
//
//	P[s(out) <= max - (2D/epsilon)(ln(size/best) + t)] <= exp(-t)
//
// (McSherry, Talwar 2007; Dwork, Roth 2014, Theorem 3.11). Permute-and-flip is
// never worse (McKenna, Sheldon 2020). Use 1 for best where nothing is known.
func (s Selection) Bound(size, best int, beta float64) (float64, error) {
	if err := firstOf(s.check(), atLeast("the size of the set", size, 1), atLeast("the number of best elements", best, 1),
		probability(beta)); err != nil {
		return 0, err
	}
	if best > size {
		return 0, fmt.Errorf("%w: %d of %d elements are best; write at most all of them", ErrInput, best, size)
	}
	return s.width() * (math.Log(float64(size)/float64(best)) - math.Log(beta)) * up, nil
}

// Choice is the exact law of a selection for given scores.
type Choice struct {
	scores, p []float64
}

// Probabilities returns the probability of each element, in the order of the
// scores.
func (c Choice) Probabilities() []float64 { return append([]float64(nil), c.p...) }

// ExpectedError returns the mean of what the chosen score is below the highest.
func (c Choice) ExpectedError() float64 {
	best, sum := highest(c.scores), 0.0
	for i, p := range c.p {
		sum += p * (best - c.scores[i])
	}
	return sum
}

// Alpha returns the smallest alpha such that the chosen score is more than alpha below
// the highest with probability at most beta.
func (c Choice) Alpha(beta float64) (float64, error) {
	if err := probability(beta); err != nil {
		return 0, err
	}
	best := highest(c.scores)
	alpha := math.Inf(1)
	for _, s := range c.scores {
		beyond := 0.0
		for i, p := range c.p {
			if c.scores[i] < s {
				beyond += p
			}
		}
		// A float64 sum of up to 2^14 positive terms, each within 1e-11.
		if beyond*(1+2e-11) <= beta {
			alpha = math.Min(alpha, differenceUp(best, s))
		}
	}
	return alpha, nil
}

// differenceUp returns a - b, rounded up: what the rounded difference lost is
// computed exactly (Knuth 1969).
func differenceUp(a, b float64) float64 {
	d := a - b
	back := d - a
	if lost := (a - (d - back)) - (b + back); lost > 0 {
		return math.Nextafter(d, math.Inf(1))
	}
	return d
}

// mostScores keeps exact laws quick.
const mostScores = 4096

// gaps returns (max - score)/width for all scores.
func (s Selection) gaps(scores []float64) ([]float64, error) {
	if err := firstOf(s.check(), atLeast("the number of scores", len(scores), 1)); err != nil {
		return nil, err
	}
	if len(scores) > mostScores {
		return nil, fmt.Errorf("%w: there are %d scores; write at most %d", ErrInput, len(scores), mostScores)
	}
	for _, x := range scores {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%w: a score is %v; scores are finite", ErrInput, x)
		}
	}
	best, out := highest(scores), make([]float64, len(scores))
	for i, x := range scores {
		out[i] = (best - x) / s.width()
	}
	return out, nil
}

func highest(scores []float64) float64 {
	best := math.Inf(-1)
	for _, x := range scores {
		best = math.Max(best, x)
	}
	return best
}

func choice(scores, p []float64) Choice { return Choice{append([]float64(nil), scores...), p} }

// Exponential returns the law of the exponential mechanism (McSherry, Talwar
// 2007): P(o) is proportional to exp(-gap), computed from the best score down
// so that nothing overflows.
func (s Selection) Exponential(scores []float64) (Choice, error) {
	p, err := s.gaps(scores)
	if err != nil {
		return Choice{}, err
	}
	sum := 0.0
	for i, gap := range p {
		p[i] = math.Exp(-gap)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return choice(scores, p), nil
}
