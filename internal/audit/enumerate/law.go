package enumerate

import (
	"math"
	"slices"
)

// Law is the distribution of a mechanism's outcome on one input. Outcomes are
// numbered; what a number stands for is the caller's business, and the same on all
// inputs.
type Law struct {
	outcomes []int64
	logs     []float64
	rest     float64
}

// NewLaw makes a law from the logarithms of probabilities, and from an upper bound on
// the probability of all outcomes that are not listed. Impossible ones can be left out.
func NewLaw(logs map[int64]float64, rest float64) Law {
	l := Law{rest: rest}
	for k, v := range logs {
		if !math.IsInf(v, -1) {
			l.outcomes = append(l.outcomes, k)
		}
	}
	slices.Sort(l.outcomes)
	for _, k := range l.outcomes {
		l.logs = append(l.logs, logs[k])
	}
	return l
}

// FromMap makes a law from probabilities that are all there are.
func FromMap(p map[int64]float64) Law {
	logs := make(map[int64]float64, len(p))
	for k, v := range p {
		logs[k] = math.Log(v)
	}
	return NewLaw(logs, 0)
}

// Outcomes returns what is listed, in rising order.
func (l Law) Outcomes() []int64 { return slices.Clone(l.outcomes) }

// Rest bounds the probability of what is not listed.
func (l Law) Rest() float64 { return l.rest }

// P returns the probability of an outcome, and 0 for one that is not listed.
func (l Law) P(outcome int64) float64 {
	v, ok := l.log(outcome)
	if !ok {
		return 0
	}
	return math.Exp(v)
}

func (l Law) log(outcome int64) (float64, bool) {
	i, ok := slices.BinarySearch(l.outcomes, outcome)
	if !ok {
		return math.Inf(-1), false
	}
	return l.logs[i], true
}

// atMost is the logarithm of an upper bound on an outcome's probability.
func (l Law) atMost(outcome int64) float64 {
	if v, ok := l.log(outcome); ok {
		return v
	}
	return math.Log(l.rest)
}

// Sum returns the probability of all that is listed, which is 1 up to the rest and
// rounding, or the law is wrong.
func (l Law) Sum() float64 {
	sum := 0.0
	for _, v := range l.logs {
		sum += math.Exp(v)
	}
	return sum
}

// Pair is a mechanism's laws on two neighbours.
type Pair struct {
	P, Q Law
	Name string // which neighbours, for the reader of a finding
}
