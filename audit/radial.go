package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

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
		r, v := mech.NewReleaser(src), mech.Exactly(x...)
		return func() int64 {
			z := r.Release(v, m)
			return enumerate.Both(z[0], z[1])
		}
	}
}
