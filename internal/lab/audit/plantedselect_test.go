package audit

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

// session is a sparse vector under test: of the noise of Lyu, Su, Li 2017, Algorithm 7, at
// epsilon 1, with what is wrong with it.
type session struct {
	z, q    int64 // scales of the threshold and of a question; 0 is none
	c       int   // 0 is no end
	reuse   bool  // the answer has the noise of the comparison
	values  int64 // scale of the noise of values; 0 is without values
	claimed float64
}

func (s session) mechanism(x, y []int64) Mechanism {
	draw := func(scale int64) func(*noise.Source) int64 {
		if scale == 0 {
			return func(*noise.Source) int64 { return 0 }
		}
		return lap(scale, 1).Draw
	}
	threshold, question, value := draw(s.z), draw(s.q), draw(s.values)
	m := Mechanism{Name: "session", Claim: Claim{Epsilon: s.claimed}, Pairs: []Pair{{x, y}}}
	if s.values == 0 {
		m.Law = enumerate.Sparse{Threshold: float64(s.z), Question: float64(s.q), Above: s.c}.Law
	}
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 {
			z, above, seen := threshold(src), 0, int64(0)
			var answers []bool
			for _, v := range x {
				n, own := question(src), value(src)
				yes := v+n >= z
				answers = append(answers, yes)
				if !yes {
					continue
				}
				seen = v + either(s.reuse, n, own)
				if above++; above == s.c {
					break
				}
			}
			if s.values > 0 {
				return enumerate.PairOutcome(enumerate.TranscriptOutcome(answers), seen)
			}
			return enumerate.TranscriptOutcome(answers)
		}
	}
	return m
}

// After many answers "below", that the threshold's noise is at most the value that is
// answered tells how low the values before it were. The transcripts on which that shows are
// too rare to be sampled; their probabilities are sums over the threshold's noise.
func sparseReused(bug bool) Mechanism {
	s := session{z: 2, q: 4, c: 1, reuse: bug, values: 1, claimed: 2}
	m := s.mechanism(make([]int64, 20), slices.Repeat([]int64{1}, 20))
	const reach = 160
	threshold, question, value := enumerate.Laplace(2, 0), enumerate.Laplace(4, 0), enumerate.Laplace(1, 0)
	above := func(m int64) float64 { // P(N >= m) of a question
		if m >= 1 {
			return math.Exp(-float64(m)/4) / (1 + math.Exp(-0.25))
		}
		return 1 - math.Exp(-float64(1-m)/4)/(1+math.Exp(-0.25))
	}
	m.Law = func(x []int64) enumerate.Law {
		p := map[int64]float64{}
		for z := int64(-80); z <= 80; z++ {
			w := threshold.P(z)
			var answers []bool
			for _, v := range x {
				yes := enumerate.TranscriptOutcome(append(answers[:len(answers):len(answers)], true))
				for seen := int64(-reach); seen <= reach; seen++ {
					switch {
					case bug && seen >= z:
						p[enumerate.PairOutcome(yes, seen)] += w * question.P(seen-v)
					case !bug:
						p[enumerate.PairOutcome(yes, seen)] += w * above(z-v) * value.P(seen-v)
					}
				}
				answers = append(answers, false)
				w *= 1 - above(z-v)
			}
			p[enumerate.PairOutcome(enumerate.TranscriptOutcome(answers), 0)] += w
		}
		logs := map[int64]float64{}
		for k, v := range p {
			logs[k] = math.Log(v)
		}
		return enumerate.NewLaw(logs, 1e-15)
	}
	return m
}

func sparseUnscaled(bug bool) Mechanism {
	return session{z: 2, q: either[int64](bug, 2, 16), c: 4, claimed: 1}.mechanism([]int64{0, 0, 0, 0, 0, 0}, []int64{1, 1, -1, -1, -1, -1})
}

func sparseStill(bug bool) Mechanism {
	return session{z: 2, q: either[int64](bug, 0, 4), c: 1, claimed: 1}.mechanism([]int64{0, 1}, []int64{1, 0})
}

func sparseEndless(bug bool) Mechanism {
	return session{z: 2, q: 4, c: either(bug, 0, 1), claimed: 1}.mechanism([]int64{0, 0, 0, 0, 0, 0, 0, 0},
		[]int64{1, 1, 1, 1, -1, -1, -1, -1})
}

// claiming is a selection of the catalogue's neighbours at an epsilon of 1 that is
// calibrated to scores that move otherwise.
func claiming(m Mechanism) Mechanism {
	m.Claim.Epsilon = 1
	return m
}

// The noise for scores that all move the same way, for scores that do not.
func scoring(bug bool) mech.Scoring { return mech.Scoring{Sensitivity: 1, Monotone: bug} }

func exponentialFactor(bug bool) Mechanism {
	m := must(mech.NewExponential(scoring(bug), dp.One))
	return claiming(selection("exponential", m, 5, enumerate.Exponential(toFloat(m.Parameter()))))
}

func noisyMaxFactor(bug bool) Mechanism {
	m := must(mech.NewNoisyMax(mech.GeometricNoise, scoring(bug), dp.One))
	return claiming(selection("noisy max", m, 2, enumerate.NoisyMaxGeometric(toFloat(m.Parameter()))))
}

func topUnscaled(bug bool) Mechanism {
	t := must(mech.NewTopK(2, must(mech.NewPermuteAndFlip(anyScores, either(bug, dp.One, dp.One/2)))))
	m := topK()
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		r, v := mech.NewReleaser(src), mech.Seal(x...)
		return func() int64 { return enumerate.OrderOutcome(must(r.SelectTop(v, t))) }
	}
	return m
}

// The noisy maximum of counts, with the noise that choosing among them needs. That it is low
// tells that all of them are, and each loses epsilon. Honest is the index alone.
func noisyMaxValue(bug bool) Mechanism {
	l := lap(1, 1)
	return Mechanism{Name: "noisy max", Claim: Claim{Epsilon: 1}, Ordered: true,
		Pairs: []Pair{{[]int64{0, 0, 0}, []int64{1, 1, 1}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 {
				best, at := int64(enumerate.Hidden), int64(0)
				for i, s := range x {
					if v := s + l.Draw(src); v > best {
						best, at = v, int64(i)
					}
				}
				return either(bug, best, at)
			}
		}}
}

// keyed releases a group's noisy count by a threshold, at epsilon 1 and a delta that this
// threshold is the lowest for.
func keyed(law, test, claimed int64) Mechanism {
	l := must(noise.NewLaplace(big.NewRat(1, 1)))
	m := Mechanism{Name: "keys",
		Claim: Claim{Epsilon: 1, Delta: 1 - enumerate.KeyThreshold(1, claimed, 1).P(enumerate.Hidden)}, Ordered: true}
	m.Law = func(x []int64) enumerate.Law { return enumerate.KeyThreshold(1, law, x[0]) }
	m.Pairs = []Pair{{[]int64{0}, []int64{1}}, {[]int64{5}, []int64{6}}}
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 {
			if v := x[0] + l.Draw(src); x[0] > 0 && v >= test {
				return v
			}
			return enumerate.Hidden
		}
	}
	return m
}

func thresholdOffByOne(bug bool) Mechanism { t := either[int64](bug, 6, 7); return keyed(t, t, 7) }

// A strict test where the tail is that of the other one, as a sampler has it.
func testOffByOne(bug bool) Mechanism { return keyed(7, either[int64](bug, 6, 7), 7) }

// One person is in two groups, and the threshold is for one.
func thresholdOfOne(bug bool) Mechanism {
	p := 1 - enumerate.KeyThreshold(2, 14, 1).P(enumerate.Hidden)
	m := Mechanism{Name: "keys", Claim: Claim{Epsilon: 1, Delta: either(bug, p, 1-(1-p)*(1-p))},
		Pairs: []Pair{{[]int64{0, 0}, []int64{1, 1}}}}
	m.Law = func(x []int64) enumerate.Law {
		return enumerate.KeySelection(func(n int64) float64 { return either(n > 0, p, 0) }, x...)
	}
	l := lap(2, 1)
	m.Open = func(src *noise.Source, x []int64) func() int64 {
		return func() int64 {
			var kept []bool
			for _, n := range x {
				kept = append(kept, n+l.Draw(src) >= 14 && n > 0)
			}
			return enumerate.TranscriptOutcome(kept)
		}
	}
	return m
}

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
			return enumerate.TranscriptOutcome(answers)
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
			return enumerate.TranscriptOutcome([]bool{x[0]+question.Draw(src) >= either[int64](bug, -1, 1)*z.Draw(src)})
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
				yes := must(s.Ask(mech.Seal(v), 0))
				answers = append(answers, yes)
				if yes && !bug {
					break
				}
				s = must(r.ResumeAbove(a, secret))
			}
			return enumerate.TranscriptOutcome(answers)
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
				if answers = append(answers, must(s.Ask(mech.Seal(v), 0))); s.Over() {
					break
				}
			}
			return enumerate.TranscriptOutcome(answers)
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
					return enumerate.PairOutcome(int64(i), v+either(bug, n, fresh))
				}
			}
			return enumerate.Hidden
		}
	}
	return m
}
