package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// The groups and their total, each with noise for the whole price.
func wholePriceEach(bug bool) Mechanism {
	m := residuals()
	if bug {
		each := must(mech.NewGaussian(dp.NewL2Squared(big.NewInt(marginalSteps*marginalSteps)), dp.One/2))
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			r, cells, total := mech.NewReleaser(src), mech.Exactly(x...), mech.Exactly(x[0]+x[1])
			return func() int64 { return r.Release(cells, each)[0] + r.Release(total, each)[0] }
		}
	}
	return m
}

// A value of a person that was not clamped to what the residuals are calibrated to.
func residualsOfTwo(bug bool) Mechanism {
	m := residuals()
	if bug {
		m.Pairs = []Pair{{[]int64{0, 0}, []int64{2 * marginalSteps, 0}}}
	}
	return m
}

// People of two days with the noise of one.
func runningOfOne(bug bool) Mechanism {
	m := runningOf(either[int64](bug, 1, 2))
	m.Pairs = []Pair{{[]int64{0, 0}, []int64{marginalSteps, marginalSteps}}}
	return m
}

// Noise for the first number of a column, and not for its length: Kx moves by steps in the first
// number and by half of it in the second.
func runningShort(bug bool) Mechanism {
	m := runningTotals()
	if bug {
		short := must(mech.NewGaussian(dp.NewL2Squared(big.NewInt(4*marginalSteps*marginalSteps)), dp.One/2))
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(2*x[0], x[0]+2*x[1]) // 2 Kx, in integers
			return func() int64 {
				y := r.Release(v, short)
				return 2*y[0] + y[1]
			}
		}
	}
	return m
}
