package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// splitSparse shares the epsilon of the comparisons: e1 for the threshold and
// e2 for the questions.
//
// What has to be small is the noise of the difference of the two, whose
// variance goes with (1/e1)^2 + (moves c/e2)^2. It is smallest at e1 : e2 = 1 :
// (moves c)^(2/3) (Lyu, Su, Li 2017, Section 4.2), with moves = 1 for monotone
// questions and 2 for others. A threshold that is refreshed is used for one
// "above", so that c = 1 there. Any split is private. The shares are whole
// units of account and add up exactly, which is all that privacy asks of
// them, so the ratio may be a float.
func splitSparse(c SparseConfig) (e1, e2 dp.Amount, err error) {
	n := 2.0
	if c.Monotone {
		n = 1
	}
	if !c.Refresh {
		n *= float64(c.Above)
	}
	share := float64(c.Epsilon) / (1 + math.Cbrt(n*n))
	e1 = dp.Amount(math.Max(1, math.Min(share, float64(c.Epsilon))))
	if e1 >= c.Epsilon {
		return 0, 0, fmt.Errorf("%w; an epsilon of %v cannot be shared by the threshold and the questions", ErrNoPrivacy, c.Epsilon)
	}
	return e1, c.Epsilon - e1, nil
}

// sparseCost is the price of a session. Epsilon is e1 + e2 + e3 exactly. Rho is
// the smallest of those that are proven:
//
//   - epsilon tanh(epsilon/2), the cost of randomized response, to which every
//     interactive mechanism of a pure epsilon reduces (Vadhan, Wang 2021);
//   - the same of e1 + e2, plus c releases with Laplace noise. A session and
//     the releases in between compose in zCDP (Vadhan, Zhang 2023);
//   - refreshed: the session is c sessions one after the other, and rho adds. Of
//     epsilon/c it is about epsilon^2/(2 c^2), so the sum is smaller by c.
//
// A threshold that is not refreshed ties all answers together, and we know of
// no proof of less for it.
func sparseCost(c SparseConfig) (dp.Cost, error) {
	total := c.Epsilon.Add(c.Values)
	n := new(big.Rat).SetInt64(int64(c.Above))
	// rounds is n times the rho of randomized response of epsilon/n, rounded up.
	rounds := func(epsilon dp.Amount, n *big.Rat) (dp.Amount, error) {
		e, _ := new(big.Rat).Quo(epsilon.Rat(), n).Float64()
		k, _ := n.Float64()
		return dp.CeilFloat(k * dp.RhoOfPure(e) * (1 + 0x1p-50))
	}
	one := big.NewRat(1, 1)
	rho, err := rounds(total, one)
	if err != nil {
		return dp.Cost{}, err
	}
	times := one
	if c.Refresh {
		times = n
	}
	tests, err := rounds(c.Epsilon, times)
	if err != nil {
		return dp.Cost{}, err
	}
	if c.Values > 0 {
		each, err := dp.Ceil(new(big.Rat).Quo(c.Values.Rat(), n))
		if err != nil {
			return dp.Cost{}, err
		}
		one, err := rhoOfLaplace(c.Sensitivity.L1(), each)
		if err != nil {
			return dp.Cost{}, err
		}
		// In units of 2^-40, with room to spare: both factors are below 2^60.
		all := new(big.Rat).Mul(one.Rat(), n)
		values, err := dp.Ceil(all)
		if err != nil {
			values = dp.Unbounded
		}
		tests = tests.Add(values)
	}
	whole, err := rounds(total, times)
	if err != nil {
		return dp.Cost{}, err
	}
	return dp.Cost{Epsilon: total, Rho: min(rho, tests, whole)}, nil
}
