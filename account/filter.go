package account

import "github.com/discreet-dp/discreet/dp"

// Filter is a privacy filter: the limit on what a sequence of mechanisms may cost
// when every next mechanism, its parameters included, is chosen after seeing all
// earlier answers. It keeps no state; what was spent is the ledger's to know, or
// that of a [Spending].
//
// Validity. Sums of pure epsilon, sums of epsilon with sums of delta, and sums of
// rho with sums of delta are valid stopping rules under fully adaptive choice:
// for (epsilon, delta) by Rogers, Roth, Ullman, Vadhan 2016 (Theorem 3.6; pure
// where delta is 0); for zCDP by Feldman, Zrnic 2021 (Theorem 4.3 at every
// order) and Whitehouse, Ramdas, Rogers, Wu 2023 (Theorem 1, which has the
// deltas). A refused charge spends nothing and leaves the filter open for
// smaller ones.
//
// Either of two sums is a filter as well: see [EitherFilter].
//
// Sums are all that is here, on purpose. To stop when a curve of privacy loss
// distributions, of f-DP, or of advanced composition at the parameters used so
// far crosses a limit is not a filter: those theorems fix the parameters first.
type Filter struct{ limit dp.Cost }

// PureFilter returns the filter of a pure budget: the sum of epsilon stays within it,
// and nothing with a delta is admitted.
func PureFilter(epsilon dp.Amount) Filter {
	return Filter{dp.Cost{Epsilon: epsilon, Rho: dp.Unbounded, Delta: 0}}
}

// BasicFilter returns the filter of an (epsilon, delta) budget under basic
// composition: the sums of epsilon and of delta stay within it, and what was
// answered is (epsilon, delta)-differentially private, whatever was chosen
// when. With a delta of 0 it is [PureFilter].
//
// A delta of 1 or more promises nothing, and its filter admits nothing.
func BasicFilter(epsilon, delta dp.Amount) Filter {
	if delta >= dp.One {
		return Filter{}
	}
	return Filter{dp.Cost{Epsilon: epsilon, Rho: dp.Unbounded, Delta: delta}}
}

// ZCDPFilter returns the filter of a zero-concentrated budget: the sums of rho and of
// delta stay within it. Epsilon is not limited. A delta of 1 or more promises nothing,
// and its filter admits nothing.
func ZCDPFilter(rho, delta dp.Amount) Filter {
	if delta >= dp.One {
		return Filter{}
	}
	return Filter{dp.Cost{Epsilon: dp.Unbounded, Rho: rho, Delta: delta}}
}

// Limit returns the most that may be spent; Unbounded where a claim is not
// what this filter adds up.
func (f Filter) Limit() dp.Cost { return f.limit }

// Admits reports whether cost may be spent after spent.
func (f Filter) Admits(spent, cost dp.Cost) bool {
	return spent.Add(cost).Fits(f.limit)
}

// Left returns what may still be spent after spent.
func (f Filter) Left(spent dp.Cost) dp.Cost { return f.limit.Sub(spent) }
