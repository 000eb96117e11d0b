package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

// laplace is a count with Laplace noise. Sensitivity 1 at epsilon 1 is the coarsest
// lattice in use, where the ratio of neighbours has its bound at every outcome.
func laplace() Mechanism {
	m := must(mech.NewLaplace(dp.NewL1(big.NewInt(1)), dp.One))
	b := toFloat(m.Parameter())
	return Mechanism{
		Name: "laplace", Claim: claimOf(m.Cost()), Ordered: true,
		Pairs: []Pair{{[]int64{0}, []int64{1}}, {[]int64{5}, []int64{4}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.Laplace(b, x[0]) },
		Open:  releaseOne(m),
	}
}

// sharpened is a count that is released at epsilon 1/2 and then, for the difference, at 1: an
// outcome is both answers. The law is not that of how they are drawn, but the second answer plus
// a mixture of nothing and noise of the first scale.
func sharpened() Mechanism {
	one := dp.NewL1(big.NewInt(1))
	from, to := must(mech.NewLaplace(one, dp.One/2)), must(mech.NewLaplace(one, dp.One))
	m := must(mech.NewSharper(from, to))
	b1, b2 := toFloat(from.Parameter()), toFloat(to.Parameter())
	return Mechanism{
		Name: "sharpened", Claim: Claim{Epsilon: from.Cost().Add(m.Cost()).Epsilon.Float()},
		Pairs: []Pair{{[]int64{0}, []int64{1}}, {[]int64{5}, []int64{4}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.Sharpened(b1, b2, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				first := r.Release(v, from)
				return enumerate.PairOutcome(first[0], must(r.Sharpen(v, first, m))[0])
			}
		},
	}
}

func releaseOne(m mech.Mechanism) func(*noise.Source, []int64) func() int64 {
	return func(src *noise.Source, x []int64) func() int64 {
		r, v := mech.NewReleaser(src), mech.Seal(x...)
		return func() int64 { return r.Release(v, m)[0] }
	}
}

// laplaceVector is two counts of which one person is in both: noise of its own on each.
func laplaceVector() Mechanism {
	m := must(mech.NewLaplace(dp.NewL1(big.NewInt(2)), dp.One))
	b := toFloat(m.Parameter())
	return Mechanism{
		Name: "laplace-vector", Claim: claimOf(m.Cost()),
		Pairs: []Pair{{[]int64{0, 0}, []int64{1, 1}}, {[]int64{0, 0}, []int64{2, 0}}, {[]int64{0, 0}, []int64{1, -1}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.LaplacePair(b, x[0], x[1]) },
		Open:  releaseTwo(m),
	}
}

// laplaceCounts is two counts to each of which one person adds one: in rho that costs less than two
// steps of one of them.
func laplaceCounts() Mechanism {
	m := must(mech.NewLaplace(dp.NewL1Each(big.NewInt(2), big.NewInt(1)), 2*dp.One))
	b, claim := toFloat(m.Parameter()), claimOf(m.Cost())
	claim.AlsoRho = m.Cost().Rho.Float()
	return Mechanism{
		Name: "laplace-counts", Claim: claim,
		Pairs: []Pair{{[]int64{0, 0}, []int64{1, 1}}, {[]int64{0, 0}, []int64{1, -1}}, {[]int64{0, 0}, []int64{0, 1}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.LaplacePair(b, x[0], x[1]) },
		Open:  releaseTwo(m),
	}
}

// gaussian is a sum with Gaussian noise. On a half line from an integer t on, the
// discrete Gaussian of sigma has the probability of the continuous one from t - 1/2 on,
// up to the error of the midpoint rule: the quantile is off by a share of 1/(24 sigma^2),
// and so is what an event says of mu. That is the slack.
func gaussian() Mechanism {
	m := must(mech.NewGaussian(dp.NewL2Squared(big.NewInt(256)), dp.One/2))
	sigma2 := toFloat(m.Parameter())
	return Mechanism{
		Name: "gaussian", Claim: Claim{Rho: m.Cost().Rho.Float(), Slack: 1 / (12 * sigma2)}, Ordered: true,
		Pairs: []Pair{{[]int64{0}, []int64{16}}, {[]int64{3}, []int64{-13}}, {[]int64{0}, []int64{1}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.Gaussian(sigma2, x[0]) },
		Open:  releaseOne(m),
	}
}

// averaged is a sum that is released at rho 1/8 and then, for the difference, at 1/2: an outcome is
// the average of both.
func averaged() Mechanism {
	d := dp.NewL2Squared(big.NewInt(64))
	from, to := must(mech.NewGaussian(d, dp.One/8)), must(mech.NewGaussian(d, dp.One/2))
	m := must(mech.NewSharper(from, to))
	sigma2, more := toFloat(from.Parameter()), 64/(2*m.Cost().Rho.Float())
	return Mechanism{
		Name: "averaged", Claim: Claim{Rho: from.Cost().Add(m.Cost()).Rho.Float(), Slack: 1 / (12 * toFloat(to.Parameter()))},
		Ordered: true,
		Pairs:   []Pair{{[]int64{0}, []int64{8}}, {[]int64{3}, []int64{-5}}, {[]int64{0}, []int64{1}}},
		Law:     func(x []int64) enumerate.Law { return enumerate.Averaged(sigma2, more, [2]int64{1, 3}, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 { return must(r.Sharpen(v, r.Release(v, from), m))[0] }
		},
	}
}

// steps is what one person adds at most, in the mechanisms below. Noise of some twenty steps is
// nearly that of a normal number, so that a half line is nearly the best event; slack is for what
// is between, as in gaussian.
const (
	marginalSteps = 16
	marginalSlack = 1.0 / (12 * marginalSteps * marginalSteps)
)

// residuals is GROUP BY ROLLUP of one key with two values: both cells and their total, released
// together. An outcome is the combination of the cells that tells a person of the first one from
// nobody best, by the weights that the total and the difference of the cells have.
func residuals() Mechanism {
	m := must(mech.NewResiduals(mech.ResidualsConfig{Sizes: []int{2}, Hidden: []bool{false}, Sets: [][]int{{0}, {}},
		Low: new(big.Int), High: big.NewInt(marginalSteps)}, dp.One/2))
	return Mechanism{
		Name: "residuals", Claim: Claim{Rho: m.Cost().Rho.Float(), Slack: marginalSlack}, Ordered: true, Slow: 10,
		Pairs: []Pair{{[]int64{0, 0}, []int64{marginalSteps, 0}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				cells := r.ReleaseMarginals(v, m).Values[0]
				return 15*cells[0] + 4*cells[1]
			}
		},
	}
}

// substitutedResiduals is the same where somebody of the one cell is replaced by one of the other:
// an outcome is by how much they differ, of which the total says nothing.
func substitutedResiduals() Mechanism {
	m := must(mech.NewResiduals(mech.ResidualsConfig{Sizes: []int{2}, Hidden: []bool{false}, Sets: [][]int{{0}, {}},
		Low: new(big.Int), High: big.NewInt(marginalSteps), Neighbours: dp.Substitute}, dp.One/2))
	return Mechanism{
		Name: "residuals-substituted", Claim: Claim{Rho: m.Cost().Rho.Float(), Slack: marginalSlack}, Ordered: true, Slow: 10,
		Pairs: []Pair{{[]int64{marginalSteps, 0}, []int64{0, marginalSteps}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				cells := r.ReleaseMarginals(v, m).Values[0]
				return cells[0] - cells[1]
			}
		},
	}
}

// runningTotals is two days of which a person is in one, for their running totals. The first day
// moves what is released furthest, and an outcome is what tells a person of it from nobody best.
func runningTotals() Mechanism {
	m := runningOf(1)
	m.Pairs = []Pair{{[]int64{0, 0}, []int64{marginalSteps, 0}}}
	return m
}

// runningOf are two days, of which a person is in as many.
func runningOf(days int64) Mechanism {
	m := must(mech.NewRunningTotals(mech.RunningTotalsConfig{
		Len: 2, Low: new(big.Int), High: big.NewInt(marginalSteps), Groups: days}, dp.One/2))
	return Mechanism{
		Name: "running-totals", Claim: Claim{Rho: m.Cost().Rho.Float(), Slack: marginalSlack}, Ordered: true, Slow: 10,
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				days := r.ReleaseRunningTotals(v, m)
				return 5*days[0] + 2*days[1]
			}
		},
	}
}

// radial is one number with radial noise: Laplace noise on the reals, rounded.
func radial() Mechanism {
	m := must(mech.NewRadial(dp.NewL2Squared(big.NewInt(4)), 1, dp.One))
	s := toFloat(m.Parameter())
	return Mechanism{
		Name: "radial", Claim: claimOf(m.Cost()), Ordered: true, Slow: 10,
		Pairs: []Pair{{[]int64{0}, []int64{2}}, {[]int64{5}, []int64{4}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.Radial(s, x[0]) },
		Open:  releaseOne(m),
	}
}

// radialVector is two numbers that both move by one: sqrt 2 in the norm, the smallest
// scale that is not a fraction.
func radialVector() Mechanism {
	m := must(mech.NewRadial(dp.NewL2Squared(big.NewInt(2)), 2, dp.One))
	s := toFloat(m.Parameter())
	return Mechanism{
		Name: "radial-vector", Claim: claimOf(m.Cost()), Slow: 10,
		Pairs: []Pair{{[]int64{0, 0}, []int64{1, 1}}, {[]int64{0, 0}, []int64{1, -1}}, {[]int64{0, 0}, []int64{0, 1}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.RadialPair(s, x[0], x[1]) },
		Open:  releaseTwo(m),
	}
}

func releaseTwo(m mech.Mechanism) func(*noise.Source, []int64) func() int64 {
	return func(src *noise.Source, x []int64) func() int64 {
		r, v := mech.NewReleaser(src), mech.Seal(x...)
		return func() int64 {
			z := r.Release(v, m)
			return enumerate.PairOutcome(z[0], z[1])
		}
	}
}

// thousandth is a delta that a million samples can see.
const thousandth = dp.One / 1000

// keyThreshold is one group, of so many units.
func keyThreshold() Mechanism {
	m := must(mech.NewKeyThreshold(mech.KeyConfig{GroupsPerUnit: 1, Neighbours: dp.AddRemove, Epsilon: dp.One, Delta: thousandth}))
	if m.Noise().Name() != "laplace" {
		panic("audit: the law of key-threshold is that of Laplace noise")
	}
	b, edge := toFloat(m.Noise().Parameter()), toFloat(m.EdgeProbability())
	pairs := []Pair{{[]int64{m.Threshold()}, []int64{m.Threshold() + 1}}}
	for n := range m.Threshold() + 3 {
		pairs = append(pairs, Pair{[]int64{n}, []int64{n + 1}})
	}
	return Mechanism{
		Name: "key-threshold", Claim: claimOf(m.Cost()), Ordered: true, Pairs: pairs,
		Law: func(x []int64) enumerate.Law { return enumerate.KeyEdge(b, m.Threshold(), edge, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				for _, k := range r.ReleaseKeys(v, m) {
					return k.Units
				}
				return enumerate.Hidden
			}
		},
	}
}

// keySelection is two groups of which one person is in both.
func keySelection() Mechanism {
	m := must(mech.NewKeySelection(mech.KeyConfig{GroupsPerUnit: 2, Neighbours: dp.AddRemove, Epsilon: 2 * dp.One, Delta: thousandth}))
	keep := func(n int64) float64 { return toFloat(m.Probability(n)) }
	end := int64(0)
	for keep(end) < 1 {
		end++
	}
	middle := end / 2
	pairs := []Pair{{[]int64{middle, middle}, []int64{middle + 1, middle + 1}}}
	for n := range end + 1 {
		for k := range end + 1 {
			pairs = append(pairs, Pair{[]int64{n, k}, []int64{n + 1, k + 1}}, Pair{[]int64{n, k}, []int64{n + 1, k}})
		}
	}
	return Mechanism{
		Name: "key-selection", Claim: claimOf(m.Cost()), Pairs: pairs,
		Law: func(x []int64) enumerate.Law { return enumerate.KeySelection(keep, x...) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Seal(x...)
			return func() int64 {
				kept := make([]bool, len(x))
				for _, i := range r.SelectKeys(v, m) {
					kept[i] = true
				}
				return enumerate.TranscriptOutcome(kept)
			}
		},
	}
}

// keyWeights is two groups of which one person is in both, as a black box. The others are in one of
// them, or in both; the person comes first, so that tokens of all others go back.
func keyWeights() Mechanism {
	m := must(mech.NewKeyWeights(mech.KeyConfig{GroupsPerUnit: 2, Neighbours: dp.AddRemove, Epsilon: 2 * dp.One, Delta: thousandth}))
	from := m.KeptFrom(0.5)
	return Mechanism{
		Name: "key-weights", Claim: claimOf(m.Cost()), Slow: 10,
		// How often the person is there, and how many others are in the first, the second and both.
		Pairs: []Pair{{[]int64{0, 0, 0, from - 1}, []int64{1, 0, 0, from - 1}},
			{[]int64{0, 200, from / 2, 2}, []int64{1, 200, from / 2, 2}}, {[]int64{0, 0, 0, 0}, []int64{1, 0, 0, 0}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			var units [][]int32
			for i, own := range [][]int32{{0, 1}, {0}, {1}, {0, 1}} {
				for range x[i] {
					units = append(units, own)
				}
			}
			r, members := mech.NewReleaser(src), mech.MembersOf(units...)
			return func() int64 {
				kept := make([]bool, 2)
				for _, k := range r.ReleaseWeighedKeys(members, 2, m) {
					kept[k.Index] = true
				}
				return enumerate.TranscriptOutcome(kept)
			}
		},
	}
}

// bounds is the range of values in two bins, as a black box: the bin of zero is well
// occupied, and that of one is about as full as it takes to be seen.
func bounds() Mechanism {
	m := must(mech.NewBounds(mech.BoundsConfig{RowsPerUnit: 1, Neighbours: dp.AddRemove, Epsilon: dp.One, Beta: 0.01}))
	return Mechanism{
		Name: "bounds", Claim: claimOf(m.Cost()), Slow: 10,
		Pairs: []Pair{{[]int64{50, m.Threshold()}, []int64{50, m.Threshold() - 1}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			counts := make([]int64, mech.BoundsBins)
			counts[mech.BoundsBin(0)], counts[mech.BoundsBin(1)] = x[0], x[1]
			r, v := mech.NewReleaser(src), mech.Seal(counts...)
			return func() int64 {
				found, ok, err := r.EstimateBounds(v, m)
				if must(ok, err); !ok {
					return enumerate.Hidden
				}
				return int64(mech.BoundsBin(found.Low)*mech.BoundsBins + mech.BoundsBin(found.High))
			}
		},
	}
}
