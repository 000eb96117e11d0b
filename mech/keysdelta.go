package mech

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// deltaOfRho returns a delta such that whatever is rho-zCDP is (epsilon,
// delta)-differentially private. For every order a > 1,
//
//	delta = exp((a-1)(a rho - epsilon)) (1-1/a)^a/(a-1)
//
// is one (Canonne, Kamath, Steinke 2020, Proposition 12 with a rho as the Renyi
// divergence). A search finds a good order; that it is the best is of no
// importance to the claim.
func deltaOfRho(rho, epsilon dp.Amount) float64 {
	r, e := rho.Float(), epsilon.Float()
	if r == 0 {
		return 0
	}
	// log delta at the order 1 + exp(t), with the errors of all terms on top.
	at := func(t float64) float64 {
		b := math.Exp(t)
		a := 1 + b
		x, y, z := b*a*r, b*e, a*math.Log1p(1/b)
		return x - y - z - t + (x+y+z+math.Abs(t)+1)*0x1p-48
	}
	low, high := -12.0, 40.0
	for range 120 {
		third := (high - low) / 3
		if at(low+third) < at(high-third) {
			high -= third
		} else {
			low += third
		}
	}
	return math.Min(1, math.Exp(at(low))*(1+0x1p-48)+math.SmallestNonzeroFloat64)
}
