package mech

import (
	"errors"
	"math/big"
	"sort"

	"github.com/discreet-dp/discreet/dp"
)

// Budget is the claim of [dp.Cost] that an account counts.
type Budget int

const (
	// Pure budgets count epsilon.
	Pure Budget = iota + 1
	// Concentrated budgets count rho, in zCDP.
	Concentrated
)

// ErrBudget is returned when a mechanism is to be calibrated to another kind of budget.
var ErrBudget = errors.New("a budget is Pure (epsilon) or Concentrated (rho)")

// boundedRange returns the largest epsilon for which a mechanism of bounded range
// costs at most the amount.
func (b Budget) boundedRange(amount dp.Amount) (dp.Amount, error) {
	if err := checkAmount(amount); err != nil {
		return 0, err
	}
	switch b {
	case Pure:
		return amount, nil
	case Concentrated:
		pure, err := b.pure(amount)
		if err != nil {
			return 0, err
		}
		// In units of 2^-40: epsilon^2 <= 8 rho 2^40. The root is rounded down, and
		// then epsilon^2/8 rounded up is at most rho.
		square := new(big.Int).SetUint64(uint64(amount))
		root := square.Sqrt(square.Lsh(square, 43))
		if !root.IsUint64() {
			return 0, dp.ErrAmount
		}
		return max(pure, dp.Amount(root.Uint64())), nil
	}
	return 0, ErrBudget
}

// pure returns the largest epsilon for which any pure mechanism costs at most the
// amount.
func (b Budget) pure(amount dp.Amount) (dp.Amount, error) {
	if err := checkAmount(amount); err != nil {
		return 0, err
	}
	switch b {
	case Pure:
		return amount, nil
	case Concentrated:
		// tanh(epsilon/2) is above 1/2 from epsilon = 2 on, so the largest epsilon is
		// below 2, or at most 2 rho.
		high := 2*uint64(amount) + 4*uint64(dp.One)
		i := sort.Search(int(min(high, 1<<62)), func(i int) bool {
			rho, err := rhoOfPure(dp.Amount(i))
			return err != nil || rho > amount
		})
		if i <= 1 {
			return 0, ErrNoPrivacy
		}
		return dp.Amount(i - 1), nil
	}
	return 0, ErrBudget
}
