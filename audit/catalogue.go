package audit

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// Catalogue returns the mechanisms of Discreet, calibrated to amounts at which an
// error shows: an epsilon of 1 or 2 has events that are neither rare nor certain on both
// neighbours. The claims are the costs that the mechanisms state themselves.
func Catalogue() []Mechanism {
	return []Mechanism{
		laplace(), laplaceVector(), sharpened(), gaussian(), averaged(), residuals(), runningTotals(),
		radial(), radialVector(),
		exponential(), permuteAndFlip(), noisyMaxLaplace(), noisyMaxGeometric(), topK(), quantiles(),
		aboveThreshold(), sparseVector(), sparseValues(),
		aboveRound(), aboveOneSided(), aboveAnswer(),
		keyThreshold(), keySelection(), keyWeights(), bounds(),
		randomizedResponse(), direct(), unary(), hashing(), hadamard(), heavyHitters(),
		objective(), objectiveGaussian(), training(),
	}
}

// Names returns the names of the catalogue, in its order.
func Names() []string {
	var out []string
	for _, m := range Catalogue() {
		out = append(out, m.Name)
	}
	return out
}

// must is for constructors whose arguments are written in this package.
func must[T any](v T, err error) T {
	if err != nil {
		panic("audit: " + err.Error())
	}
	return v
}

func claimOf(c dp.Cost) Claim { return Claim{Epsilon: c.Epsilon.Float(), Delta: c.Delta.Float()} }

// gaussianMu is the sensitivity in standard deviations of Gaussian noise that is rho-zCDP.
func gaussianMu(rho float64) float64 { return math.Sqrt(2 * rho) }

func toFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// neighboursOf returns y for every way of moving each part of x by -d, 0 or d.
func neighboursOf(x []int64, d int64) (out []Pair) {
	y := make([]int64, len(x))
	var walk func(i int)
	walk = func(i int) {
		if i == len(x) {
			out = append(out, Pair{x, append([]int64(nil), y...)})
			return
		}
		for _, by := range []int64{-d, 0, d} {
			y[i] = x[i] + by
			walk(i + 1)
		}
	}
	walk(0)
	return out
}
