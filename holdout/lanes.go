package holdout

import (
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// lane is a way of answering and a theorem, for any number of people.
type lane struct {
	name, by string
	adaptive bool
	at       func(n float64, w Wish) Way
}

// The names of ways.
const (
	FixedWay     = "exact, questions fixed in advance"
	NaiveWay     = "exact, chosen by earlier answers"
	SplitWay     = "exact, fresh people for each"
	NoisyWay     = "all with noise"
	ThresholdWay = "Thresholdout"
)

var lanes = []lane{
	{FixedWay, "Hoeffding", false, exactly(Hoeffding)},
	{NaiveWay, "none", true, exactly(Naive)},
	{SplitWay, "Hoeffding", true, exactly(Splitting)},
	{NoisyWay, "transfer", true, noisyTransfer},
	{NoisyWay, "max-information", true, best(noisily(InformationTolerance))},
	{NoisyWay, "generalisation", true, best(noisily(GeneralisationTolerance))},
	{ThresholdWay, "transfer", true, thresholdTransfer},
	{ThresholdWay, "max-information", true, declared(byThreshold(InformationTolerance))},
	{ThresholdWay, "generalisation", true, declared(byThreshold(GeneralisationTolerance))},
}

// exactly is a way without noise.
func exactly(bound func(n, queries, beta float64) float64) func(float64, Wish) Way {
	return func(n float64, w Wish) Way { return Way{Tolerance: bound(n, w.Queries, w.Beta)} }
}

// needs looks for the number of people at which the tolerance is what was wished for. All bounds
// get better with more people.
func (l lane) needs(w Wish) float64 {
	enough := func(n float64) bool { return l.at(n, w).Tolerance <= w.Tolerance }
	if !enough(mostPeople) {
		return math.Inf(1)
	}
	// Nobody is not enough.
	_, high := root.Halve(0, math.Log(mostPeople), 19, func(x float64) bool { return !enough(math.Exp(x)) })
	// Rounded up, to three digits: nobody plans more exactly.
	n := math.Exp(high)
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(n))-2))
	return math.Ceil(n/unit) * unit
}

// best looks for the noise that does best.
func best(at func(n, noise float64, w Wish) Way) func(float64, Wish) Way {
	return func(n float64, w Wish) Way {
		return at(n, lowest(leastNoise, mostNoise, func(noise float64) float64 { return at(n, noise, w).Tolerance }), w)
	}
}

// declared is [best], but where the noise was given.
func declared(at func(n, noise float64, w Wish) Way) func(float64, Wish) Way {
	return func(n float64, w Wish) Way {
		if w.Noise > 0 {
			return at(n, w.Noise, w)
		}
		return best(at)(n, w)
	}
}

// The noise is looked for between these, in units of a score.
const leastNoise, mostNoise = 1e-12, 10
