package learn

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
)

// Budget is an amount of privacy in one of three currencies: Epsilon alone is pure, Epsilon and
// Delta are approximate, Rho alone is zero-concentrated.
type Budget struct {
	Epsilon dp.Amount `json:"epsilon,omitempty"`
	Delta   dp.Amount `json:"delta,omitempty"`
	Rho     dp.Amount `json:"rho,omitempty"`
}

// currency is what a budget is counted in.
type currency int

const (
	pure currency = iota + 1
	approximate
	concentrated
)

func (b Budget) currency() currency {
	switch {
	case b.Rho != 0:
		return concentrated
	case b.Delta != 0:
		return approximate
	}
	return pure
}

// Validate refuses what buys nothing.
func (b Budget) Validate() error {
	for _, a := range []dp.Amount{b.Epsilon, b.Delta, b.Rho} {
		if a > 1<<60 {
			return fmt.Errorf("%w: the price is larger than any that means something; ask for an epsilon such as 1", ErrSpec)
		}
	}
	switch {
	case b.Rho != 0 && (b.Epsilon != 0 || b.Delta != 0):
		return fmt.Errorf("%w: the price is a rho, or an epsilon with or without a delta, and not both", ErrSpec)
	case b.Rho == 0 && b.Epsilon == 0:
		return fmt.Errorf("%w: with an epsilon of 0 nothing can be learned; ask for an epsilon such as 1", ErrSpec)
	case b.Delta >= dp.One:
		return fmt.Errorf("%w: a delta is far below 1; ask for less than one over the number of people", ErrSpec)
	}
	return nil
}

// split divides a budget in two, the first of which has a share of it, and the second the exact
// rest. A part that would be nothing is an error.
func (b Budget) split(numerator, denominator int64) (first, rest Budget, err error) {
	part := func(a dp.Amount) dp.Amount {
		n := new(big.Int).SetUint64(uint64(a))
		n.Mul(n, big.NewInt(numerator))
		return dp.Amount(n.Quo(n, big.NewInt(denominator)).Uint64())
	}
	first = Budget{part(b.Epsilon), part(b.Delta), part(b.Rho)}
	rest = Budget{b.Epsilon - first.Epsilon, b.Delta - first.Delta, b.Rho - first.Rho}
	if first.currency() != b.currency() || rest.currency() != b.currency() || first.Validate() != nil || rest.Validate() != nil {
		return first, rest, fmt.Errorf("%w: the price is too small to be divided", ErrSpec)
	}
	return first, rest, nil
}

// gaussian is discrete Gaussian noise on whole numbers at this price, and what it costs. Only
// budgets that are not pure buy it.
func (b Budget) gaussian(s dp.Sensitivity) (mech.Mechanism, dp.Cost, error) {
	rho := b.Rho
	if b.currency() == approximate {
		var err error
		if rho, err = account.Rho(b.Epsilon, b.Delta); err != nil {
			return nil, dp.Cost{}, err
		}
	}
	m, err := mech.NewGaussian(s, rho)
	if err != nil {
		return nil, dp.Cost{}, err
	}
	cost := m.Cost()
	if b.currency() == approximate {
		// The conversion of account.Rho: rho-zCDP is (epsilon, delta).
		cost.Epsilon, cost.Delta = b.Epsilon, b.Delta
	}
	return m, cost, nil
}
