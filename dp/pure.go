package dp

import "math"

// RhoOfPure returns a bound from above on epsilon tanh(epsilon/2), the rho of randomized response,
// of which every purely epsilon-private mechanism is a randomized function (Kairouz, Oh, Viswanath
// 2015): the rho that a pure claim implies. It is below Bun and Steinke's epsilon^2/2 (2016,
// Proposition 1.4), and no bound that holds for all mechanisms is smaller.
//
// Tanh and two multiplications are within a few units in the last place, and epsilon may have been
// rounded once; the margin is 32 of them. No divergence of any order is above epsilon, so rho never
// is. A product that underflows is far below one unit, and is charged as one.
func RhoOfPure(epsilon float64) float64 {
	return math.Min(epsilon, epsilon*math.Tanh(epsilon/2)*(1+0x1p-48))
}
