package mech

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
)

// ChooseSelector returns the selector that an amount of a budget buys the larger
// epsilon, of equals permute-and-flip, and a sentence that says why. It reads
// public numbers only.
//
// At the same epsilon permute-and-flip is never worse than the exponential mechanism
// (McKenna, Sheldon 2020). A pure budget charges both the same, so it
// is the choice. A concentrated budget charges the exponential mechanism
// epsilon^2/8 only, which buys it up to twice the epsilon. Where it buys no more, from
// rho = 8 on, permute-and-flip is the choice again.
func ChooseSelector(b Budget, amount dp.Amount, s Scoring) (m Selector, why string, err error) {
	pure, err := b.pure(amount)
	if err != nil {
		return nil, "", err
	}
	ranged, err := b.boundedRange(amount)
	if err != nil {
		return nil, "", err
	}
	if ranged > pure {
		if m, err = NewExponential(s, ranged); err != nil {
			return nil, "", err
		}
		return m,
			fmt.Sprintf("exponential mechanism with epsilon %s: rho %s buys permute-and-flip an epsilon of %s only, because the "+
				"exponential mechanism costs epsilon^2/8 and any other pure mechanism epsilon tanh(epsilon/2)",
				ranged.Short(), amount.Short(), pure.Short()), nil
	}
	if m, err = NewPermuteAndFlip(s, pure); err != nil {
		return nil, "", err
	}
	return m,
		fmt.Sprintf("permute-and-flip with epsilon %s: this budget buys the exponential mechanism the same epsilon, and permute-and-flip "+
			"is never worse", pure.Short()), nil
}
