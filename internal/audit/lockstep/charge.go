package lockstep

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
)

// judgeCharges compares what was charged, and checks that it came first and covers the calls.
func judgeCharges(a, b outcome) error {
	if len(a.charges) != len(b.charges) {
		return fmt.Errorf("%d charges against %d", len(a.charges), len(b.charges))
	}
	for i, c := range a.charges {
		d := b.charges[i]
		// The name of the data's state is the owner's to see.
		c.DataVersion, d.DataVersion = "", ""
		c.Missed, d.Missed = nil, nil // they have the version in them
		// Amounts are compared by themselves, because as text they are rounded.
		if c.Cost != d.Cost || fmt.Sprint(c) != fmt.Sprint(d) {
			return fmt.Errorf("charged %v for %s against %v for %s", c.Cost, c.Mechanisms, d.Cost, d.Mechanisms)
		}
	}
	if len(a.events) > 0 && a.events[0] != "charge" {
		return fmt.Errorf("nothing was charged before the data was touched: the steps are %v", a.events)
	}
	return checkCovered(a.calls, a.charges)
}

// checkCovered checks that the charges are at least what the calls cost: D/b epsilon for
// Laplace noise, D^2/(2 sigma^2) rho for Gaussian noise. A charge makes two claims,
// and neither may be below the truth. Laplace noise costs some rho, and a selection some
// epsilon, which their own packages prove; here they must be charged for at all.
func checkCovered(calls []mech.Call, charges []ledger.Charge) error {
	if len(calls) == 0 {
		return nil
	}
	if len(charges) == 0 {
		return errors.New("noise was added, and nothing was charged")
	}
	var charged dp.Cost
	for _, c := range charges {
		charged = charged.Add(c.Cost)
	}
	epsilon, rho, pure := new(big.Rat), new(big.Rat), true
	for _, c := range calls {
		switch c.Sensitivity.Norm() {
		case dp.L1:
			moved := new(big.Rat).SetInt(c.Sensitivity.L1())
			epsilon.Add(epsilon, new(big.Rat).Quo(moved, c.Parameter))
			if c.Before != nil { // what was paid for the answer that this one sharpens
				epsilon.Sub(epsilon, new(big.Rat).Quo(moved, c.Before))
			}
		case dp.L2:
			pure = false
			rho.Add(rho, new(big.Rat).Quo(new(big.Rat).SetFrac(c.Sensitivity.L2Squared(), big.NewInt(2)), c.Parameter))
		}
	}
	if charged.Epsilon != dp.Unbounded && (!pure || epsilon.Cmp(charged.Epsilon.Rat()) > 0) {
		return fmt.Errorf("epsilon %v was charged for noise that costs more", charged.Epsilon)
	}
	if charged.Rho != dp.Unbounded && rho.Cmp(charged.Rho.Rat()) > 0 {
		return fmt.Errorf("rho %v was charged for noise that costs more", charged.Rho)
	}
	return nil
}
