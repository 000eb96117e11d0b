package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
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
	m := must(mech.NewSharpened(from, to))
	b1, b2 := toFloat(from.Parameter()), toFloat(to.Parameter())
	return Mechanism{
		Name: "sharpened", Claim: Claim{Epsilon: from.Cost().Add(m.Cost()).Epsilon.Float()},
		Pairs: []Pair{{[]int64{0}, []int64{1}}, {[]int64{5}, []int64{4}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.Sharpened(b1, b2, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 {
				first := r.Release(v, from)
				return enumerate.Both(first[0], must(r.Sharpen(v, first, m))[0])
			}
		},
	}
}

func releaseOne(m mech.Mechanism) func(*noise.Source, []int64) func() int64 {
	return func(src *noise.Source, x []int64) func() int64 {
		r, v := mech.NewReleaser(src), mech.Exactly(x...)
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
	m := must(mech.NewAveraged(from, to))
	sigma2, more := toFloat(from.Parameter()), 64/(2*m.Cost().Rho.Float())
	return Mechanism{
		Name: "averaged", Claim: Claim{Rho: from.Cost().Add(m.Cost()).Rho.Float(), Slack: 1 / (12 * toFloat(to.Parameter()))}, Ordered: true,
		Pairs: []Pair{{[]int64{0}, []int64{8}}, {[]int64{3}, []int64{-5}}, {[]int64{0}, []int64{1}}},
		Law:   func(x []int64) enumerate.Law { return enumerate.Averaged(sigma2, more, [2]int64{1, 3}, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			r, v := mech.NewReleaser(src), mech.Exactly(x...)
			return func() int64 { return must(r.Sharpen(v, r.Release(v, from), m))[0] }
		},
	}
}
