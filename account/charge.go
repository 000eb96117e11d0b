package account

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// ErrCharge is returned when a guarantee cannot be charged: it is not a
// guarantee (NaN, negative, a delta of 1 or more), it is larger than anything
// that is counted, or it is zero, which is what a guarantee looks like whose
// author forgot a field, and would be free for ever.
var ErrCharge = errors.New("this guarantee cannot be charged")

// Charge is what one request costs, in whole units, rounded up. It is made from
// a guarantee and from nothing else, so nobody writes down a price. The zero
// Charge claims nothing, and nothing admits it.
type Charge struct {
	cost dp.Cost
	made bool
}

// Cost returns the claims that the charge is made of; all of them unbounded for
// the zero Charge.
func (c Charge) Cost() dp.Cost {
	if !c.made {
		return dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded, Delta: dp.Unbounded}
	}
	return c.cost
}

func (c Charge) String() string { return c.Cost().String() }

// Claim is a guarantee that can be charged: [Pure], [Approx], [ZCDP],
// [ApproxZCDP] or [GDP], of a mechanism that answers once.
type Claim interface {
	Charge() (Charge, error)
}

// Charge returns epsilon, and the rho that every epsilon-differentially private
// mechanism has: see dp.RhoOfPure.
func (g Pure) Charge() (Charge, error) { return Approx{Epsilon: g.Epsilon}.Charge() }

// Charge returns epsilon and delta, and the rho of pure epsilon with the same delta.
//
// Every pair of outputs of an (epsilon, delta)-differentially private mechanism is
// a randomized function of the pair of outputs of one leaky randomized response
// (Kairouz, Oh, Viswanath 2015; Murtagh, Vadhan 2016 restate it): with probability
// delta, the same on both databases, it tells all, and otherwise it is randomized
// response at epsilon. Given that it does not tell all, which has probability 1 -
// delta on both sides, it is dp.RhoOfPure(epsilon)-zCDP, so the mechanism is
// delta-approximately so (Bun, Steinke 2016, Definition 8.1). One and the same
// event pays for both claims, which is why delta is charged once.
func (g Approx) Charge() (Charge, error) {
	if err := checkDelta(g.Delta); err != nil {
		return Charge{}, err
	}
	if err := checkLoss("epsilon", g.Epsilon, g.Delta); err != nil {
		return Charge{}, err
	}
	epsilon, err := ceil(g.Epsilon)
	if err != nil {
		return Charge{}, err
	}
	rho, err := ceil(dp.RhoOfPure(g.Epsilon))
	if err != nil {
		return Charge{}, err
	}
	return charge(epsilon, rho, g.Delta)
}

// Charge returns rho. Concentrated privacy has no epsilon of its own: Gaussian
// noise loses any amount with some probability.
func (g ZCDP) Charge() (Charge, error) { return ApproxZCDP{Rho: g.Rho}.Charge() }

// Charge returns rho and delta, and no epsilon. (With delta above zero there is
// an epsilon at every larger delta; converting is for the caller, who knows the
// delta: see [Epsilon].)
func (g ApproxZCDP) Charge() (Charge, error) {
	if err := checkDelta(g.Delta); err != nil {
		return Charge{}, err
	}
	if err := checkLoss("rho", g.Rho, g.Delta); err != nil {
		return Charge{}, err
	}
	rho, err := ceil(g.Rho)
	if err != nil {
		return Charge{}, err
	}
	return charge(dp.Unbounded, rho, g.Delta)
}

// Charge returns rho = mu^2/2, computed exactly and then rounded up. A mu-GDP
// mechanism is a randomized function of the Gaussian mechanism with shift mu
// (Blackwell 1953; Dong, Roth, Su 2022, Theorem 2.10), whose divergence of
// order a is a mu^2/2.
func (g GDP) Charge() (Charge, error) {
	if err := checkLoss("mu", g.Mu, 0); err != nil {
		return Charge{}, err
	}
	mu := new(big.Rat).SetFloat64(g.Mu)
	rho, err := dp.Ceil(mu.Mul(mu, mu).Quo(mu, big.NewRat(2, 1)))
	if err != nil {
		return Charge{}, fmt.Errorf("%w: its rho is %w", ErrCharge, err)
	}
	return charge(dp.Unbounded, rho, 0)
}

// charge puts the claims together. A loss of zero beside a delta is charged as
// one unit: a larger claim is still true, and ledgers refuse claims of zero.
func charge(epsilon, rho dp.Amount, delta float64) (Charge, error) {
	d, err := ceil(delta)
	if err != nil {
		return Charge{}, err
	}
	return Charge{dp.Cost{Epsilon: max(1, epsilon), Rho: max(1, rho), Delta: d}, true}, nil
}

// ceil rounds the exact value of a float64 up to whole units.
func ceil(f float64) (dp.Amount, error) {
	a, err := dp.CeilFloat(f)
	if err != nil {
		return 0, fmt.Errorf("%w: %v is %w", ErrCharge, f, err)
	}
	return a, nil
}

func checkDelta(delta float64) error {
	if !(delta >= 0 && delta < 1) {
		return fmt.Errorf("%w: delta is %v; write a probability such as 1e-6, or 0", ErrCharge, delta)
	}
	return nil
}

// checkLoss refuses what is no loss, and a loss of nothing at all.
func checkLoss(name string, loss, delta float64) error {
	if !(loss >= 0) || math.IsInf(loss, 1) {
		return fmt.Errorf("%w: %s is %v; write a positive number such as 0.5", ErrCharge, name, loss)
	}
	if loss == 0 && delta == 0 {
		return fmt.Errorf("%w: %s is 0, which would be free; what does not depend on the data need not be charged", ErrCharge, name)
	}
	return nil
}
