package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

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
	m := must(mech.NewResiduals(mech.Marginals{Sizes: []int{2}, Hidden: []bool{false}, Sets: [][]int{{0}, {}},
		Low: new(big.Int), High: big.NewInt(marginalSteps)}, dp.One/2))
	return Mechanism{
		Name: "residuals", Claim: Claim{Rho: m.Cost().Rho.Float(), Slack: marginalSlack}, Ordered: true, Slow: 10,
		Pairs: []Pair{{[]int64{0, 0}, []int64{marginalSteps, 0}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 {
				cells := r.ReleaseMarginals(v, m).Values[0]
				return 15*cells[0] + 4*cells[1]
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
	m := must(mech.NewRunning(mech.Sequence{Len: 2, Low: new(big.Int), High: big.NewInt(marginalSteps), Groups: days}, dp.One/2))
	return Mechanism{
		Name: "running-totals", Claim: Claim{Rho: m.Cost().Rho.Float(), Slack: marginalSlack}, Ordered: true, Slow: 10,
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 {
				days := r.ReleaseRunning(v, m)
				return 5*days[0] + 2*days[1]
			}
		},
	}
}
