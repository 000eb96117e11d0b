package curator

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
)

// judgeCalls compares what a releaser was asked to do on two neighbouring databases: the same
// mechanisms with the same parameters, exact values that are no farther apart than each was
// calibrated to, and a charge that covers what the difference is worth: the loss of every call on
// which the two differ, added up.
func judgeCalls(a, b []mech.Call, charged dp.Cost) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d calls against %d", len(a), len(b))
	}
	epsilon, rho := 0.0, 0.0
	for i, c := range a {
		e, r, err := judgeCall(c, b[i])
		if err != nil {
			return fmt.Errorf("call %d, %s: %w", i, c.Mechanism, err)
		}
		epsilon, rho = epsilon+e, rho+r
	}
	const rounding = 1 + 1e-9
	if charged.Epsilon != dp.Unbounded && epsilon > charged.Epsilon.Float()*rounding {
		return fmt.Errorf("one person is worth epsilon %v, and %v was charged", epsilon, charged.Epsilon.Float())
	}
	if charged.Rho != dp.Unbounded && rho > charged.Rho.Float()*rounding {
		return fmt.Errorf("one person is worth rho %v, and %v was charged", rho, charged.Rho.Float())
	}
	return nil
}

// judgeCall returns what the difference of one call is worth.
func judgeCall(c, d mech.Call) (epsilon, rho float64, err error) {
	if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || c.Sensitivity.String() != d.Sensitivity.String() ||
		c.Scoring != d.Scoring || fmt.Sprint(c.Before) != fmt.Sprint(d.Before) {
		return 0, 0, fmt.Errorf("%v against %v", c, d)
	}
	x, y := slices.Clone(c.Values.Open()), slices.Clone(d.Values.Open())
	parameter, _ := c.Parameter.Float64()
	selected := 2 * float64(c.Scoring.Sensitivity) / parameter
	if c.Scoring.Monotone {
		selected /= 2
	}
	if strings.HasPrefix(c.Mechanism, "quantile") {
		slices.Sort(x)
		slices.Sort(y)
		if slices.Equal(x, y) {
			return 0, 0, nil
		}
		return selected, selected * selected / 8, nil
	}
	if len(x) != len(y) {
		return 0, 0, fmt.Errorf("%d values against %d", len(x), len(y))
	}
	var l1, l2, largest, up, down float64
	for i := range x {
		step := math.Abs(float64(x[i] - y[i]))
		l1, l2, largest = l1+step, l2+step*step, max(largest, step)
		up, down = max(up, float64(x[i]-y[i])), max(down, float64(y[i]-x[i]))
	}
	switch c.Sensitivity.Norm() {
	case dp.L1:
		if bound := c.Sensitivity.Float(); l1 > bound {
			return 0, 0, fmt.Errorf("one person moves it by more than %v", bound)
		}
		// What discrete Laplace noise costs in zCDP: see mech.NewLaplace.
		e, a := l1/parameter, 1/parameter
		if c.Before != nil { // the difference to the answer that it sharpens, which was judged before
			before, _ := c.Before.Float64()
			return e - l1/before, dp.RhoOfPure(e + l1/before), nil
		}
		return e, e + a/math.Sinh(a)*math.Expm1(-e), nil
	case dp.L2:
		if bound := c.Sensitivity.Float(); math.Sqrt(l2) > bound*(1+1e-12) {
			return 0, 0, fmt.Errorf("one person moves it by more than %v", bound)
		}
		return math.Inf(1), l2 / (2 * parameter), nil
	}
	switch {
	case largest > float64(c.Scoring.Sensitivity):
		return 0, 0, fmt.Errorf("one person moves a score by %v", largest)
	case c.Scoring.Monotone && up > 0 && down > 0:
		return 0, 0, fmt.Errorf("scores move both ways")
	case largest == 0:
		return 0, 0, nil
	}
	rounds := 1.0
	fmt.Sscanf(c.Mechanism, "top %f,", &rounds)
	if strings.Contains(c.Mechanism, "exponential") {
		return rounds * selected, rounds * selected * selected / 8, nil
	}
	return rounds * selected, rounds * dp.RhoOfPure(selected), nil
}
