package utility

import (
	"fmt"
	"math"
	"sort"
)

// Selection is the choice of one element of a public set by a score that one
// person moves by at most Sensitivity. Monotone says that one person moves all
// scores the same way, as counts under add-remove; then half the noise is enough.
type Selection struct {
	Epsilon, Sensitivity float64
	Monotone             bool
}

func (s Selection) check() error {
	return firstError(checkPositive("epsilon", s.Epsilon), checkPositive("the sensitivity", s.Sensitivity))
}

// width is the score that a factor e of probability is worth: 2D/epsilon, or
// D/epsilon for monotone scores.
func (s Selection) width() float64 {
	if s.Monotone {
		return s.Sensitivity / s.Epsilon
	}
	return 2 * s.Sensitivity / s.Epsilon
}

// Bound returns an alpha that needs no scores: of a set of the given size, of which at least best
// have the highest score, the exponential mechanism and permute-and-flip choose one whose score is
// alpha or more below the highest with probability at most beta. It solves exp(-t) = beta in
//
//	P[s(out) <= max - (2D/epsilon)(ln(size/best) + t)] <= exp(-t)
//
// (McSherry, Talwar 2007; Dwork, Roth 2014, Theorem 3.11). Permute-and-flip is
// never worse (McKenna, Sheldon 2020). Use 1 for best where nothing is known.
func (s Selection) Bound(size, best int, beta float64) (float64, error) {
	if err := firstError(s.check(), checkAtLeast("the size of the set", size, 1), checkAtLeast("the number of best elements", best, 1),
		checkProbability(beta)); err != nil {
		return 0, err
	}
	if best > size {
		return 0, fmt.Errorf("%w: %d of %d elements are best; write at most all of them", errInput, best, size)
	}
	return s.width() * (math.Log(float64(size)/float64(best)) - math.Log(beta)) * roundUpFactor, nil
}

// Choice is the exact law of a selection for given scores.
type Choice struct {
	scores, p []float64
}

// Probabilities returns the probability of each element, in the order of the scores.
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
	if err := checkProbability(beta); err != nil {
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

// maxScores keeps exact laws quick.
const maxScores = 4096

// gaps returns (max - score)/width for all scores.
func (s Selection) gaps(scores []float64) ([]float64, error) {
	if err := firstError(s.check(), checkAtLeast("the number of scores", len(scores), 1)); err != nil {
		return nil, err
	}
	if len(scores) > maxScores {
		return nil, fmt.Errorf("%w: there are %d scores; write at most %d", errInput, len(scores), maxScores)
	}
	for _, x := range scores {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%w: a score is %v; scores must be finite", errInput, x)
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

func newChoice(scores, p []float64) Choice { return Choice{append([]float64(nil), scores...), p} }

// Exponential returns the law of the exponential mechanism (McSherry, Talwar 2007): P(o) is
// proportional to exp(-gap), computed from the best score down so that nothing overflows.
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
	return newChoice(scores, p), nil
}

// maxNoisyScores keeps the integral quick: it takes the square of the number of scores.
const maxNoisyScores = 512

// NoisyMax returns the law of report noisy max with Laplace noise of scale
// 2D/epsilon, or D/epsilon for monotone scores (Dwork, Roth 2014, Claim 3.9 is for
// monotone scores only). With exponential noise it would be [Selection.PermuteAndFlip]
// (Ding et al. 2021), with Gumbel noise [Selection.Exponential].
//
// In units of the scale, with all scores at most 0, f and F Laplace's density and distribution,
//
//	P(i) = integral of f(x - s_i) * product over j != i of F(x - s_j).
//
// Below the lowest score this is elementary. Above the highest, with t = exp(-x), it is the
// integral of permute-and-flip with p(j) = exp(s_j)/2. In between the integrand is smooth from one
// score to the next, and each piece, cut to a length of at most 1/2, is integrated by Gauss's rule
// with 20 points. Where m scores are above x the integrand grows like exp(m x): for m up to 40 the
// rule's error is below 1e-15 of it, and beyond that the whole piece is below 2^-40 of the part
// above the highest score. All terms are positive. The tests compare with 30 digits.
func (s Selection) NoisyMax(scores []float64) (Choice, error) {
	at, err := s.gaps(scores)
	if err != nil {
		return Choice{}, err
	}
	if len(scores) > maxNoisyScores {
		return Choice{}, fmt.Errorf("%w: there are %d scores; write at most %d, or use permute-and-flip, which is better", errInput,
			len(scores), maxNoisyScores)
	}
	// What is more than 700 below the best is as if it were 700 below it: its
	// probability is below 1e-290 either way.
	for i, gap := range at {
		at[i] = -math.Min(gap, 700)
	}
	cuts := append([]float64(nil), at...)
	sort.Float64s(cuts)
	lowest := cuts[0]
	out := make([]float64, len(at))
	// The product of all F at the lowest score, and 1/n from the integral of exp(n x).
	log := 0.0
	for _, x := range at {
		log += lowest - x - math.Ln2
	}
	for i := range out {
		out[i] = math.Exp(log) / float64(len(at))
	}
	halves := make([]float64, len(at))
	for i, x := range at {
		halves[i] = math.Exp(x) / 2
	}
	for i, p := range firstAccepted(halves) {
		out[i] += p
	}
	rule := gaussRule(20)
	for i, to := range cuts[1:] {
		from := cuts[i]
		pieces := math.Ceil((to - from) * 2)
		for k := range int(pieces) {
			width := (to - from) / pieces
			left := from + width*float64(k)
			for _, g := range rule {
				addNoisyMax(out, at, left+width*(1+g.x)/2, g.w*width/2)
			}
		}
	}
	return newChoice(scores, out), nil
}

// addNoisyMax adds w times the integrand at x to all elements. The product of all F is taken as a
// sum of logarithms, because it can be far below what a float64 holds where the quotient is not.
func addNoisyMax(out, at []float64, x, w float64) {
	log := 0.0
	for _, s := range at {
		if x >= s {
			log += math.Log1p(-math.Exp(s-x) / 2)
		} else {
			log += x - s - math.Ln2
		}
	}
	if log < -745 {
		return
	}
	product := w * math.Exp(log)
	for i, s := range at {
		if x >= s {
			e := math.Exp(s-x) / 2
			out[i] += product * e / (1 - e)
		} else {
			out[i] += product // f = F below the score
		}
	}
}

// PermuteAndFlip returns the law of permute-and-flip (McKenna, Sheldon 2020): in
// random order, accept o with probability p(o) = exp(-gap).
//
// Give every element an independent uniform time of arrival. Element o is chosen
// if it is accepted and each other j, at o's time t, either has not arrived or was
// refused, which has probability 1 - t p(j):
//
//	P(o) = p(o) * integral over t from 0 to 1 of the product over j != o of (1 - t p(j)).
//
// The integrand is a positive polynomial of degree n - 1, so Gauss's rule with n/2 + 1 points is
// exact, and every term is positive: no subset is enumerated, and nothing cancels.
func (s Selection) PermuteAndFlip(scores []float64) (Choice, error) {
	p, err := s.gaps(scores)
	if err != nil {
		return Choice{}, err
	}
	for i, gap := range p {
		p[i] = math.Exp(-gap)
	}
	return newChoice(scores, firstAccepted(p)), nil
}

// firstAccepted returns p(o) times the integral from 0 to 1 of the product over j
// != o of 1 - t p(j), for all o.
func firstAccepted(p []float64) []float64 {
	out := make([]float64, len(p))
	for _, at := range gaussRule(len(p)/2 + 1) {
		t, w := (1+at.x)/2, at.w/2
		product := 1.0
		for _, q := range p {
			product *= 1 - t*q
		}
		for i, q := range p {
			out[i] += w * q * product / (1 - t*q)
		}
	}
	return out
}

// node is a point of Gauss's rule on [-1, 1] and its weight.
type node struct{ x, w float64 }

// gaussRule returns the rule with n points, exact for polynomials up to degree 2n
// - 1: the zeros of Legendre's polynomial, by Newton's method from Tricomi's
// approximation.
func gaussRule(n int) []node {
	rule := make([]node, n)
	for i := range rule {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 100 {
			p, before := 1.0, 0.0
			for k := 1; k <= n; k++ {
				p, before = (float64(2*k-1)*x*p-float64(k-1)*before)/float64(k), p
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			step := p / slope
			x -= step
			if math.Abs(step) <= 1e-15 {
				break
			}
		}
		rule[i] = node{x, 2 / ((1 - x*x) * slope * slope)}
	}
	return rule
}
