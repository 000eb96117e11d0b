package holdout

import (
	"math"
	"math/big"
	"sort"
)

// How far an answer may be from the mean over the holdout. These are statements about the noise,
// made before anything is asked; privacy does not rest on them.
//
// An answer from the holdout is off by its Laplace noise. A training value t that was confirmed was
// compared: |h - t| + N < T + Z, so |h - t| < T + Z - N, and it is farther than T + w from h only
// where Z - N > w. Z is drawn with the round, and N with the question and independent of everything
// before it. So, said before a round begins, the probability that it comes to a k-th question and
// that this one is farther off is at most P(Z - N > w), whatever is asked in between by whomever
// for what reason. It is no statement about a round that has lasted: one whose Z is large lasts
// longer, so after many confirmations the next one is farther off more often than that. And of all
// questions of a round at once it says nothing.

// Answered returns how far an answer from the holdout is from the exact one at most, in units of a
// score, but for a probability of beta.
func (t *Tariff) Answered(beta float64) float64 {
	return float64(t.answer.HalfWidth(beta)) / t.whole
}

// Confirmed returns how far a training value that is the answer is from the mean over the holdout
// at most, in units of a score, but for a probability of beta.
func (t *Tariff) Confirmed(beta float64) float64 {
	if !(beta > 0) {
		return math.Inf(1)
	}
	threshold, question := t.above.Parameters()
	a, _ := threshold.Float64()
	b, _ := question.Float64()
	// The tail falls, and is below exp(-w/b) times 2.
	most := int(min(1<<60, math.Ceil(b*(math.Log(4)-math.Log(min(beta, 1))))+4))
	w := sort.Search(most, func(w int) bool { return differenceTail(a, b, float64(w)) <= beta })
	// The threshold and the training value were rounded to steps: one step more.
	return math.Min(1, t.threshold+float64(w+1)/t.whole)
}

// differenceTail bounds P(Z - N > w) from above, for w >= 0 and discrete Laplace Z and N of scales
// a < b. With p = exp(-1/a) and q = exp(-1/b), the sum of the two has, at k, the probability
//
//	c (q (1-p^2) q^|k| - p (1-q^2) p^|k|),  c = (1-p)(1-q) / ((1+p)(1+q) (q-p) (1-pq)),
//
// which is the product of the generating functions (1-p^2)/(1+p^2-p(z+1/z)), in partial fractions
// in z + 1/z. The tail is two geometric sums.
func differenceTail(a, b, w float64) float64 {
	if 1/b > 700 {
		return 0 // there is no noise to speak of: exp(-700) and less
	}
	p, q := math.Exp(-1/a), math.Exp(-1/b)
	p1, q1 := -math.Expm1(-1/a), -math.Expm1(-1/b) // 1-p, 1-q
	c := 1 / ((1 + p) * (1 + q) * q * -math.Expm1(1/b-1/a) * -math.Expm1(-1/a-1/b))
	tail := c * (q*p1*p1*(1+p)*math.Exp(-(w+1)/b) - p*q1*q1*(1+q)*math.Exp(-(w+1)/a))
	return math.Min(1, tail*(1+1e-9))
}

// bars remembers what the bounds are made of.
func (t *Tariff) bars(c Config) {
	t.whole, _ = new(big.Rat).SetInt(c.whole()).Float64()
	t.threshold, _ = c.Threshold.Float64()
}
