package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// A round of D/e2 and not 2D/e2, by its law and as a black box.
func roundHalf(bug bool) Mechanism {
	m := aboveOneSided()
	law := enumerate.Above{Threshold: 2, Question: either(bug, 2.0, 4.0), OneSided: true}
	threshold, question := must(noise.NewGeometric(big.NewRat(2, 1))), must(noise.NewGeometric(big.NewRat(either[int64](bug, 2, 4), 1)))
	m.Law = law.Law
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 {
			z := threshold.Draw(src)
			var answers []bool
			for _, v := range x {
				yes := v+question.Draw(src) >= z
				if answers = append(answers, yes); yes {
					break
				}
			}
			return enumerate.Transcript(answers)
		}
	}
	return m
}

// The noise of the threshold is at or below 0: "below" is impossible on one of these.
func roundUnder(bug bool) Mechanism {
	a := newRound(true)
	m := asideMechanism("round", a)
	m.Pairs = []Pair{{[]int64{-1}, []int64{0}}}
	m.Law = nil
	z, question := must(noise.NewGeometric(big.NewRat(2, 1))), must(noise.NewGeometric(big.NewRat(4, 1)))
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 {
			return enumerate.Transcript([]bool{x[0]+question.Draw(src) >= either[int64](bug, -1, 1)*z.Draw(src)})
		}
	}
	return m
}

// A server that is restarted after the answer and opens the round of the journal again: one more
// "above".
func roundAgain(bug bool) Mechanism {
	a := newRound(true)
	m := asideMechanism("round", a)
	m.Law = nil
	m.Pairs = []Pair{{[]int64{0, -2, -2, -2, -2, -2}, []int64{1, -3, -3, -3, -3, -3}}}
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		r := mech.NewReleaser(src)
		return func() int64 {
			s := r.OpenAbove(a)
			secret := s.Secret()
			var answers []bool
			for _, v := range x {
				yes := must(s.Ask(mech.Exactly(v), 0))
				answers = append(answers, yes)
				if yes && !bug {
					break
				}
				s = must(r.ResumeAbove(a, secret))
			}
			return enumerate.Transcript(answers)
		}
	}
	return m
}

// A server that is restarted and draws a new threshold for the same charge.
func roundRedrawn(bug bool) Mechanism {
	a := newRound(true)
	m := asideMechanism("round", a)
	m.Law = nil
	m.Pairs = []Pair{{[]int64{0, 0, 0}, []int64{1, 1, 1}}}
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		r := mech.NewReleaser(src)
		return func() int64 {
			s := r.OpenAbove(a)
			var answers []bool
			for _, v := range x {
				if bug {
					s = r.OpenAbove(a)
				}
				if answers = append(answers, must(s.Ask(mech.Exactly(v), 0))); s.Over() {
					break
				}
			}
			return enumerate.Transcript(answers)
		}
	}
	return m
}

// The answer is the noisy value that was compared.
func roundReused(bug bool) Mechanism {
	m := aboveAnswer()
	z, question, own := must(noise.NewGeometric(big.NewRat(2, 1))), must(noise.NewGeometric(big.NewRat(4, 1))), lap(1, 1)
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 {
			t := z.Draw(src)
			for i, v := range x {
				n, fresh := question.Draw(src), own.Draw(src)
				if v+n >= t {
					return enumerate.Both(int64(i), v+either(bug, n, fresh))
				}
			}
			return enumerate.Hidden
		}
	}
	return m
}
