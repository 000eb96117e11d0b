package utility

import (
	"math"

	"github.com/discreet-dp/discreet/internal/normal"
	"github.com/discreet-dp/discreet/internal/root"
)

// DiscreteGaussian is noise on the integers, P(k) proportional to exp(-k^2/(2
// Sigma2)). Sigma2 is the parameter; the variance is slightly smaller.
type DiscreteGaussian struct{ Sigma2 float64 }

// summed is the standard deviation up to which tails are summed term by term, which is exact
// however far out they are. There are some 40 terms to a standard deviation.
const summed = 4096

// Alpha returns the smallest integer with P(|noise| > alpha) <= beta.
func (g DiscreteGaussian) Alpha(beta float64) (int64, error) {
	if err := firstOf(onIntegers("sigma^2", g.Sigma2, widest*widest), probability(beta)); err != nil {
		return 0, err
	}
	l := normal.NewLattice(g.Sigma2)
	// P(|noise| > k) <= 2 exp(-(k+1)^2/(2 Sigma2)), because the discrete Gaussian
	// is subgaussian (Canonne, Kamath, Steinke 2020): enough always.
	enough := int64(math.Ceil(l.S * math.Sqrt(2*(math.Ln2-math.Log(beta))) * up))
	switch {
	case beta < tiny:
		return enough, nil
	case l.S <= summed:
		return min(l.HalfWidth(beta), enough), nil
	}
	_, high := root.Whole(-1, enough, func(k int64) bool { return !(l.TailBeyond(float64(k)) <= beta) })
	return high, nil
}

// Variance returns the exact variance. By Poisson summation it differs from
// Sigma2 by less than 1e-300 of itself from Sigma2 = 64 on.
func (g DiscreteGaussian) Variance() (float64, error) {
	if err := onIntegers("sigma^2", g.Sigma2, widest*widest); err != nil {
		return 0, err
	}
	if g.Sigma2 >= 64 {
		return g.Sigma2, nil
	}
	l, sum := normal.NewLattice(g.Sigma2), 0.0
	for k := l.Last(); k >= 1; k-- {
		sum += float64(k) * float64(k) * l.Weight(float64(k))
	}
	return 2 * sum / l.Z, nil
}
