package pricing

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/policy"
)

// Currencies are those that a question may be priced in. A budget that is kept by either of two
// sums has two: Laplace noise, which is paid for in epsilon, and Gaussian noise, paid for in rho.
func Currencies(b policy.Budget, s api.Settings) []Currency {
	pure, concentrated := Currency{Pure: true}, Currency{}
	switch {
	case b.Pure():
		return []Currency{pure}
	case !b.Either():
		return []Currency{concentrated}
	case b.Noise == "laplace":
		return []Currency{pure}
	case s.Mechanism == "gaussian":
		return []Currency{concentrated}
	}
	return []Currency{pure, concentrated}
}

// Sharper is the rule by which a question with two prices gets its noise, from what is public: the
// prices, and for each of them the part of what is left that it takes (books.Takes). It reports
// whether the first price, in epsilon, is to be taken.
//
// What both would be for the same part of what is left is compared. The variance of Gaussian noise
// goes with the inverse of its rho, so at the part of the first price the second one would have its
// variance times its part over that. Of a price that what is left does not admit the part is
// infinite, and it is not taken where the other one is admitted. Several releases are compared by
// their geometric mean.
//
// For n equal counts of a budget this is 2 n^2/epsilon^2 against n/(2 rho), so that up to epsilon^2
// over 4 rho questions are better off with Laplace noise: 10 of (1, 1e-6).
func Sharper(pure, concentrated *Priced, purePart, otherPart float64) bool {
	switch {
	case math.IsInf(otherPart, 1):
		return !math.IsInf(purePart, 1)
	case math.IsInf(purePart, 1):
		return false
	}
	return pure.spread()+math.Log(purePart) <= concentrated.spread()+math.Log(otherPart)
}

// spread is the mean logarithm of the variances of everything that is released: of noise its own,
// of quantiles and choices that of what their ranks and scores are told apart by, and of private
// keys the square of how many people a key needs.
func (p *Priced) spread() float64 {
	sum, n := 0.0, 0
	add := func(logarithm float64) { sum, n = sum+logarithm, n+1 }
	for _, b := range p.Purchases {
		if b.Choice != nil {
			add(2 * logOf(b.Choice.Top.Each().Parameter()))
		}
		for _, m := range b.Noise {
			switch {
			case m.Quantiles != nil:
				for _, scale := range m.Quantiles.Parameters() {
					add(2 * logOf(scale))
				}
			default:
				add(math.Log(mech.Variance(m.Mechanism)))
			}
		}
		if b.Keys != nil {
			add(2 * math.Log(float64(b.Keys.KeptFrom())))
		}
	}
	return sum / float64(max(n, 1))
}

func logOf(r *big.Rat) float64 {
	f, _ := r.Float64()
	return math.Log(f)
}

// SayNoise says which noise was taken, and why not the other.
func (p *Priced) SayNoise(other *Priced) string {
	taken, left := "Gaussian noise, paid for in rho", "Laplace noise, paid for in epsilon"
	if p.Currency.Pure {
		taken, left = left, taken
	}
	return taken + "; " + left + ", would be less sharp for the same part of what is left, or is not to be had any more"
}
