package utility

import (
	"fmt"
	"math"
	"sort"
)

// mostNoisy keeps the integral quick: it takes the square of the number of scores.
const mostNoisy = 512

// NoisyMax returns the law of report noisy max with Laplace noise of scale
// 2D/epsilon, or D/epsilon for monotone scores (Dwork, Roth 2014, Claim 3.9 is for
// monotone scores only). With exponential noise it would be [Selection.PermuteAndFlip]
// (Ding et al. 2021), with Gumbel noise [Selection.Exponential].
//
// In units of the scale, with all scores at most 0, f and F Laplace's density
// and distribution,
//
//	P(i) = integral of f(x - s_i) * product over j != i of F(x - s_j).
//
// Below the lowest score this is elementary. Above the highest, with t = exp(-x),
// it is the integral of permute-and-flip with p(j) = exp(s_j)/2. In between the
// integrand is smooth from one score to the next, and each piece, cut to a length
// of at most 1/2, is integrated by Gauss's rule with 20 points. Where m scores are
// above x the integrand grows like exp(m x): for m up to 40 the rule's error is
// below 1e-15 of it, and beyond that the whole piece is below 2^-40 of the part
// above the highest score. All terms are positive. The tests compare with 30
// digits.
func (s Selection) NoisyMax(scores []float64) (Choice, error) {
	at, err := s.gaps(scores)
	if err != nil {
		return Choice{}, err
	}
	if len(scores) > mostNoisy {
		return Choice{}, fmt.Errorf("%w: there are %d scores; write at most %d, or use permute-and-flip, which is better", ErrInput,
			len(scores), mostNoisy)
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
	return choice(scores, out), nil
}

// addNoisyMax adds w times the integrand at x to all elements. The product of all
// F is taken as a sum of logarithms, because it can be far below what a float64
// holds where the quotient is not.
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
