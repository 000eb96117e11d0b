package lockstep

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
)

// quantilePrefix is how the calls of quantiles begin.
const quantilePrefix = "quantile "

// judgeQuantile compares the values of which a quantile is released. How many there are is private,
// so it is counted how many came and went: at the quantile a/b each moves a rank loss, which is in
// parts of b, by at most max(a, b-a), and one that is replaced by b.
func judgeQuantile(c, d mech.Call) (ratio float64, err error) {
	var at big.Rat
	if _, ok := at.SetString(c.Mechanism[len(quantilePrefix):]); !ok || c.Scoring.Sensitivity <= 0 {
		return 0, errors.New("no sensitivity is declared")
	}
	a, b := at.Num().Int64(), at.Denom().Int64()
	came, went := exact.Exchanged(c.Values, d.Values)
	each := max(a, b-a)
	if came > 0 && went > 0 {
		each = b
	}
	ratio = float64(max(came, went)) * float64(each) / float64(c.Scoring.Sensitivity)
	if ratio > 1 {
		return ratio, fmt.Errorf("one person has %.4g times as many values as the noise is calibrated to, which is %v", ratio, declaredSensitivity(c))
	}
	return ratio, nil
}

// selectionLosses adds up what the selections are worth on which two runs differ.
type selectionLosses struct{ epsilon, rho float64 }

// add takes in one call, whose scores are this part of their sensitivity apart. The loss of a
// selection is at most that part of its epsilon.
func (s *selectionLosses) add(c mech.Call, ratio float64) {
	if c.Sensitivity.Norm() != 0 {
		return
	}
	width, _ := c.Parameter.Float64()
	e := ratio * 2 * float64(c.Scoring.Sensitivity) / width
	if c.Scoring.Monotone {
		e /= 2
	}
	rounds := 1.0
	fmt.Sscanf(c.Mechanism, "top %f,", &rounds)
	s.epsilon += rounds * e
	s.rho += rounds * e * e / 8 // at least, whatever the mechanism
}

// checkCharged checks that charges cover the selections.
func (s *selectionLosses) checkCharged(charges []ledger.Charge) error {
	var charged dp.Cost
	for _, c := range charges {
		charged = charged.Add(c.Cost)
	}
	const rounding = 1 + 1e-9
	if charged.Epsilon != dp.Unbounded && s.epsilon > charged.Epsilon.Float()*rounding {
		return fmt.Errorf("epsilon %v was charged for selections on which one person is worth %.4g", charged.Epsilon, s.epsilon)
	}
	if charged.Rho != dp.Unbounded && s.rho > charged.Rho.Float()*rounding {
		return fmt.Errorf("rho %v was charged for selections on which one person is worth %.4g", charged.Rho, s.rho)
	}
	return nil
}
