package audit

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

// aboveThreshold is a session that ends with the first "above", so that its transcript is
// when that was, and long sessions can be computed: with many answers "below" the loss
// comes up to the claim. A short one is sampled, because such transcripts are rare.
func aboveThreshold() Mechanism {
	m := must(mech.NewSparse(mech.SparseConfig{Sensitivity: dp.NewL1(big.NewInt(1)), Above: 1, Epsilon: dp.One}))
	z, q, _ := m.Parameters()
	law := enumerate.Sparse{Threshold: toFloat(z), Question: toFloat(q), Above: 1}
	pairs := []Pair{{[]int64{0, 0, 0, 0}, []int64{1, 1, 1, -1}}}
	for _, n := range []int{2, 10, 60} {
		for _, far := range []int64{0, -10} {
			x, y := make([]int64, n), slices.Repeat([]int64{1}, n)
			x[n-1], y[n-1] = far, far-1
			pairs = append(pairs, Pair{x, y})
		}
	}
	return Mechanism{Name: "above-threshold", Claim: claimOf(m.Cost()), Pairs: pairs, Law: law.Law, Open: askSession(m)}
}

// askSession opens a session for every outcome, which is what it answers until it ends.
func askSession(m *mech.Sparse) func(*noise.Source, []int64) func() int64 {
	return func(src *noise.Source, x []int64) func() int64 {
		r := mech.NewReleaser(src)
		return func() int64 {
			s := r.OpenSparse(m)
			var answers []bool
			for _, v := range x {
				if s.Left() == 0 {
					break
				}
				answers = append(answers, must(s.Ask(mech.Seal(v), 0)).Above)
			}
			return enumerate.TranscriptOutcome(answers)
		}
	}
}

// sparseVector is a session of four questions that ends with the second "above". All of
// its transcripts are computed, and so it is short, and its loss is not near to the claim.
func sparseVector() Mechanism {
	m := must(mech.NewSparse(mech.SparseConfig{Sensitivity: dp.NewL1(big.NewInt(1)), Above: 2, Epsilon: dp.One}))
	z, q, _ := m.Parameters()
	law := enumerate.Sparse{Threshold: toFloat(z), Question: toFloat(q), Above: 2}
	pairs := []Pair{{[]int64{0, 0, 0, 0}, []int64{1, 1, -1, -1}}}
	for _, values := range [][]int64{{0, 0, 0, 0}, {-2, -2, 1, 1}} {
		pairs = append(pairs, neighboursOf(values, 1)...)
	}
	return Mechanism{Name: "sparse-vector", Claim: claimOf(m.Cost()), Pairs: pairs, Law: law.Law, Open: askSession(m)}
}

// sparseValues is a session that gives a noisy value with its only "above", after three
// questions. The outcome is which question that was, and the value.
func sparseValues() Mechanism {
	m := must(mech.NewSparse(mech.SparseConfig{Sensitivity: dp.NewL1(big.NewInt(1)), Above: 1, Epsilon: dp.One, Values: dp.One}))
	return Mechanism{
		Name: "sparse-vector-values", Claim: claimOf(m.Cost()),
		Pairs: []Pair{{[]int64{0, 0, 0}, []int64{1, 1, -1}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			r := mech.NewReleaser(src)
			return func() int64 {
				s := r.OpenSparse(m)
				for i, v := range x {
					if a := must(s.Ask(mech.Seal(v), 0)); a.Above {
						return enumerate.PairOutcome(int64(i), a.Value)
					}
				}
				return enumerate.Hidden
			}
		},
	}
}

func newRound(oneSided bool) *mech.AboveThreshold {
	return must(mech.NewAboveThreshold(mech.AboveThresholdConfig{
		Sensitivity: dp.NewL1(big.NewInt(1)), Threshold: dp.One / 2, Question: dp.One / 2, OneSided: oneSided}))
}

// aboveRound is one round of AboveThreshold of Laplace noise, and aboveOneSided one of noise that
// is never negative. Rounds are laid aside after every question and taken up again, as by a server
// that is restarted all the time.
func aboveRound() Mechanism {
	m := asideMechanism("above-round", newRound(false))
	for _, n := range []int{10, 60} { // with many answers "below" the loss comes up to the claim
		x, y := make([]int64, n), slices.Repeat([]int64{1}, n)
		x[n-1], y[n-1] = -10, -11
		m.Pairs = append(m.Pairs, Pair{x, y})
	}
	return m
}

func aboveOneSided() Mechanism {
	m := asideMechanism("above-one-sided", newRound(true))
	m.Pairs = append(m.Pairs, neighboursOf([]int64{-1, 0, -2}, 1)...)
	return m
}

func asideMechanism(name string, a *mech.AboveThreshold) Mechanism {
	z, q := a.Parameters()
	return Mechanism{
		Name: name, Claim: claimOf(a.Cost()),
		Pairs: []Pair{{[]int64{0, 0, 0}, []int64{1, 1, -1}}},
		Law:   enumerate.Above{Threshold: toFloat(z), Question: toFloat(q), OneSided: a.OneSided()}.Law,
		Open: func(src *noise.Source, x []int64) func() int64 {
			r := mech.NewReleaser(src)
			return func() int64 {
				s := r.OpenAbove(a)
				var answers []bool
				for _, v := range x {
					s = must(r.ResumeAbove(a, s.Secret()))
					answers = append(answers, must(s.Ask(mech.Seal(v), 0)))
					if s.Over() {
						break
					}
				}
				return enumerate.TranscriptOutcome(answers)
			}
		},
	}
}

// aboveAnswer is a round as streams and holdouts have it: how far are these values from a
// prediction, and where one is far, what is it? The round and its answer are paid for together. The
// outcome is which question that was, and the answer.
func aboveAnswer() Mechanism {
	a, answer := newRound(true), must(mech.NewLaplace(dp.NewL1(big.NewInt(1)), dp.One))
	return Mechanism{
		Name: "above-answer", Claim: claimOf(a.Cost().Add(answer.Cost())),
		Pairs: []Pair{{[]int64{0, 0}, []int64{1, -1}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			r := mech.NewReleaser(src)
			return func() int64 {
				s := r.OpenAbove(a)
				for i, v := range x {
					value := mech.Seal(v)
					if must(s.AskDistance(value, -3, 3)) {
						return enumerate.PairOutcome(int64(i), r.Release(value, answer)[0])
					}
				}
				return enumerate.Hidden
			}
		},
	}
}

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
			r, v := mech.NewReleaser(src), mech.Seal(x...)
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
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 { return enumerate.OrderOutcome(must(r.SelectTop(v, m))) }
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
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 { return r.ReleaseQuantiles(v, m)[0] }
		},
	}
}
