package audit

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

func newRound(oneSided bool) *mech.Above {
	return must(mech.NewAbove(mech.AboveConfig{Sensitivity: dp.NewL1(big.NewInt(1)), Threshold: dp.One / 2, Question: dp.One / 2,
		OneSided: oneSided}))
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

func asideMechanism(name string, a *mech.Above) Mechanism {
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
					answers = append(answers, must(s.Ask(mech.Exactly(v), 0)))
					if s.Over() {
						break
					}
				}
				return enumerate.Transcript(answers)
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
					value := mech.Exactly(v)
					if must(s.AskDistance(value, -3, 3)) {
						return enumerate.Both(int64(i), r.Release(value, answer)[0])
					}
				}
				return enumerate.Hidden
			}
		},
	}
}
