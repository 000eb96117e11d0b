package utility

import "math"

// Gaussian is normal noise with mean 0 and standard deviation Sigma.
type Gaussian struct{ Sigma float64 }

// Alpha returns Sigma times the two-sided quantile: P(|noise| > alpha) = beta.
func (g Gaussian) Alpha(beta float64) (float64, error) {
	if err := firstOf(positive("sigma", g.Sigma), probability(beta)); err != nil {
		return 0, err
	}
	return g.Sigma * math.Sqrt2 * inverseErfc(beta) * up, nil
}

// Variance returns Sigma^2.
func (g Gaussian) Variance() (float64, error) {
	if err := positive("sigma", g.Sigma); err != nil {
		return 0, err
	}
	return g.Sigma * g.Sigma, nil
}

// inverseErfc returns an x with erfc(x) <= beta that is larger than the least by
// at most some 1e-14 of itself. The standard library's Erfcinv inverts 1 - beta,
// in which a small beta is lost.
func inverseErfc(beta float64) float64 {
	if beta < tiny {
		// erfc(x) <= exp(-x^2) (Chernoff).
		return math.Sqrt(-math.Log(beta)) * up
	}
	if beta >= 0.5 {
		// 1 - beta is exact, and Erfinv is accurate to a few units in the last
		// place.
		return math.Erfinv(1-beta) * up
	}
	// Newton's method on ln erfc, which is concave and falls faster than x^2, from
	// a point that is at most 3 too large: it converges from there on in a few steps.
	x := math.Sqrt(-math.Log(beta))
	for range 60 {
		e := math.Erfc(x)
		step := math.Log(e/beta) * e * math.Sqrt(math.Pi) / 2 * math.Exp(x*x)
		x += step
		if math.Abs(step) < 1e-15*x {
			break
		}
	}
	// Erfc is within one unit in the last place, so this certifies x.
	for math.Erfc(x)*(1+0x1p-50) > beta {
		x *= 1 + 0x1p-51
	}
	return x
}
