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
	return PartAround(a.around(), b.around(), new(big.Rat).SetFloat64(width))
}

// PartAround is [PartInterval] for numbers that are no integers.
func PartAround(a, b Around, whole *big.Rat) (estimate, halfWidth float64) {
	part := func(x, y *big.Rat, otherwise *big.Rat) *big.Rat {
		sum := new(big.Rat).Add(x, y)
		if sum.Sign() <= 0 {
			return otherwise
		}
		return new(big.Rat).Mul(whole, new(big.Rat).Quo(x, sum))
	}
	aMin, aMax := a.notNegative()
	bMin, bMax := b.notNegative()
	from, to := part(aMin, bMax, new(big.Rat)), part(aMax, bMin, whole)
	middle := new(big.Rat).Quo(whole, big.NewRat(2, 1))
	estimate, _ = part(larger(a.Value, new(big.Rat)), larger(b.Value, new(big.Rat)), middle).Float64()
	e := new(big.Rat).SetFloat64(estimate)
	below, above := new(big.Rat).Sub(e, from), new(big.Rat).Sub(to, e)
	return estimate, floatUp(larger(below, above))
}

// notNegative returns the ends of the interval, without what is below 0.
func (a Around) notNegative() (from, to *big.Rat) {
	from, to = a.ends()
	return larger(from, new(big.Rat)), larger(to, new(big.Rat))
}
