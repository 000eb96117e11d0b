package mech

import "math/big"

// PartInterval estimates a/(a+b) of a width from the noisy values of two sums a and b that are not
// negative: the mean of values from 0 to the width, where a adds them up and b what is missing to
// it. It returns an estimate from 0 to the width, and a half width that holds whenever both exact
// sums are within theirs.
//
// The quotient rises with a and falls with b, so its ends are at two corners of the rectangle
// around the noisy values, of which what is below 0 is cut off. Where both sums may be 0 nothing is
// known but the range. Everything is in exact rationals, and rounded outwards.
func PartInterval(a, b Noisy, width float64) (estimate, halfWidth float64) {
	whole := new(big.Rat).SetFloat64(width)
	part := func(x, y *big.Int, otherwise *big.Rat) *big.Rat {
		sum := new(big.Int).Add(x, y)
		if sum.Sign() <= 0 {
			return otherwise
		}
		return new(big.Rat).Mul(whole, new(big.Rat).SetFrac(x, sum))
	}
	aMin, aMax := notNegative(a)
	bMin, bMax := notNegative(b)
	from, to := part(aMin, bMax, new(big.Rat)), part(aMax, bMin, whole)
	middle := new(big.Rat).Quo(whole, big.NewRat(2, 1))
	x, y := big.NewInt(max(a.Value, 0)), big.NewInt(max(b.Value, 0))
	estimate, _ = part(x, y, middle).Float64()
	e := new(big.Rat).SetFloat64(estimate)
	below, above := new(big.Rat).Sub(e, from), new(big.Rat).Sub(to, e)
	return estimate, floatUp(larger(below, above))
}

// notNegative returns the ends of a noisy value's interval, without what is below 0.
func notNegative(x Noisy) (from, to *big.Int) {
	from, to = interval(x)
	for _, n := range []*big.Int{from, to} {
		if n.Sign() < 0 {
			n.SetInt64(0)
		}
	}
	return from, to
}
