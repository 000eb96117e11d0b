package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

var anyScores = mech.Scoring{Sensitivity: 1}

// selection compares scores that move by 1 each, in any direction. The gap between two
// candidates then moves by 2, and that is the first pair.
func selection(name string, m mech.Selector, gap int64, law enumerate.Chooser) Mechanism {
	pairs := []Pair{{[]int64{gap + 1, 0}, []int64{gap, 1}}}
	for _, scores := range [][]int64{{0, 0}, {2, 0}, {0, 0, 0}, {1, 0, 2}, {3, 3, 0}, {0, 9, 1}, {12, 0}} {
		pairs = append(pairs, neighboursOf(scores, 1)...)
	}
	return Mechanism{
		Name: name, Claim: claimOf(m.Cost()), Pairs: pairs, Law: law.Law,
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 { return int64(must(r.Select(v, m))) }
		},
	}
}

func exponential() Mechanism {
	m := must(mech.NewExponential(anyScores, dp.One))
	return selection("exponential", m, 5, enumerate.Exponential(toFloat(m.Parameter())))
}

func permuteAndFlip() Mechanism {
	m := must(mech.NewPermuteAndFlip(anyScores, dp.One))
	return selection("permute-and-flip", m, 1, enumerate.PermuteAndFlip(toFloat(m.Parameter())))
}

func noisyMaxLaplace() Mechanism {
	m := must(mech.NewNoisyMax(mech.LaplaceNoise, anyScores, dp.One))
	return selection("noisy-max-laplace", m, 5, enumerate.NoisyMaxLaplace(toFloat(m.Parameter())))
}

func noisyMaxGeometric() Mechanism {
	m := must(mech.NewNoisyMax(mech.GeometricNoise, anyScores, dp.One))
	return selection("noisy-max-geometric", m, 2, enumerate.NoisyMaxGeometric(toFloat(m.Parameter())))
}

// topK chooses two candidates, each at half of the epsilon.
func topK() Mechanism {
	each := must(mech.NewPermuteAndFlip(anyScores, dp.One/2))
	m := must(mech.NewTopK(2, each))
	law := enumerate.PermuteAndFlip(toFloat(each.Parameter()))
	pairs := []Pair{{[]int64{1, 1, -1, -1}, []int64{0, 0, 0, 0}}}
	for _, scores := range [][]int64{{0, 0, 0}, {1, 0, 2}, {0, 0, 0, 0}, {6, 6, 0}} {
		pairs = append(pairs, neighboursOf(scores, 1)...)
	}
	return Mechanism{
		Name: "top-k", Claim: claimOf(m.Cost()), Pairs: pairs, Slow: 2,
		Law: func(x []int64) enumerate.Law { return enumerate.Top(2, law, x) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 { return enumerate.Order(must(r.Top(v, m))) }
		},
	}
}

// quantiles is the median of values from 0 to 19, as a black box. Most points are below
// the two values at 18; a third value, at 19, moves the rank that is asked for away from
// them and towards the only point above.
func quantiles() Mechanism {
	m := must(mech.NewQuantiles(mech.QuantileQuery{At: []*big.Rat{big.NewRat(1, 2)}, High: 19, PerUnit: 1, Neighbours: dp.AddRemove},
		mech.Pure, dp.One))
	return Mechanism{
		Name: "quantiles", Claim: claimOf(m.Cost()), Ordered: true, Slow: 4,
		Pairs: []Pair{{[]int64{18, 18}, []int64{18, 18, 19}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 { return r.Quantiles(v, m)[0] }
		},
	}
}
