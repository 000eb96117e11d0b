package audit

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// thousandth is a delta that a million samples can see.
const thousandth = dp.One / 1000

// keyThreshold is one group, of so many units.
func keyThreshold() Mechanism {
	m := must(mech.NewKeyThreshold(mech.KeyConfig{GroupsPerUnit: 1, Neighbours: dp.AddRemove, Epsilon: dp.One, Delta: thousandth}))
	if m.Noise().Name() != "laplace" {
		panic("audit: the law of key-threshold is that of Laplace noise")
	}
	b, edge := toFloat(m.Noise().Parameter()), toFloat(m.Edge())
	pairs := []Pair{{[]int64{m.Threshold()}, []int64{m.Threshold() + 1}}}
	for n := range m.Threshold() + 3 {
		pairs = append(pairs, Pair{[]int64{n}, []int64{n + 1}})
	}
	return Mechanism{
		Name: "key-threshold", Claim: claimOf(m.Cost()), Ordered: true, Pairs: pairs,
		Law: func(x []int64) enumerate.Law { return enumerate.KeyEdge(b, m.Threshold(), edge, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
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
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 {
				kept := make([]bool, len(x))
				for _, i := range r.SelectKeys(v, m) {
					kept[i] = true
				}
				return enumerate.Transcript(kept)
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
				for _, k := range r.ReleaseWeighed(members, 2, m) {
					kept[k.Index] = true
				}
				return enumerate.Transcript(kept)
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
			r, v := mech.NewReleaser(src), mech.Exactly(counts...)
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
