package audit

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
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
				answers = append(answers, must(s.Ask(mech.Exactly(v), 0)).Above)
			}
			return enumerate.Transcript(answers)
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
	return Mechanism{
		Name: "sparse-vector", Claim: claimOf(m.Cost()), Pairs: pairs, Law: law.Law, Open: askSession(m),
	}
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
					if a := must(s.Ask(mech.Exactly(v), 0)); a.Above {
						return enumerate.Both(int64(i), a.Value)
					}
				}
				return enumerate.Hidden
			}
		},
	}
}
