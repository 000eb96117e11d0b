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
// compared: |h - t| + N < T + Z, with Z drawn for the round and N for the question. The first
// question of a round that is farther off than T + w ends it, unless its Z - N > w. So, said before
// a round begins, all that it confirms is within T + w of the holdout, however much is asked by
// whomever for what reason, but with probability P(Z - N > w): [mech.Above.Missed] has the proof.
// It is no statement about a round that has lasted: one whose Z is large lasts longer, so after
// many confirmations the next one is farther off more often than that.

// Answered returns how far an answer from the holdout is from the exact one at most, in units of a
// score, but for a probability of beta.
func (t *Tariff) Answered(beta float64) float64 {
	return float64(t.answer.HalfWidth(beta)) / t.whole
}

// Confirmed returns how far the training values that a round confirms are from their means over the
// holdout at most, all of them at once, in units of a score, but for a probability of beta.
func (t *Tariff) Confirmed(beta float64) float64 {
	if !(beta > 0) {
		return math.Inf(1)
	}
	_, question := t.above.Parameters()
	b, _ := question.Float64()
	// The tail falls, and is below exp(-w/b) times 2.
	most := int(min(1<<60, math.Ceil(b*(math.Log(4)-math.Log(min(beta, 1))))+4))
	w := sort.Search(most, func(w int) bool { return t.above.Missed(int64(w)) <= beta })
	// The threshold and the training value were rounded to steps: one step more.
	return math.Min(1, t.threshold+float64(w+1)/t.whole)
}

// bars remembers what the bounds are made of.
func (t *Tariff) bars(c Config) {
	t.whole, _ = new(big.Rat).SetInt(c.whole()).Float64()
	t.threshold, _ = c.Threshold.Float64()
}
