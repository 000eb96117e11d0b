package lockstep

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/mech"
)

// judge compares the outcomes of one question on two neighbouring databases with the
// same randomness. It returns how far the exact values are apart, as a part of
// what the noise was calibrated to, and the first thing that a single person must
// not be able to change and did. p is nil for a question that is refused.
func judge(p *tree.Plan, a, b outcome) (ratio float64, err error) {
	switch {
	case a.panicked || b.panicked:
		return 0, fmt.Errorf("one says %q, the other %q, and neither may panic", a.err, b.err)
	case a.err != b.err:
		return 0, fmt.Errorf("one says %q, the other %q", a.err, b.err)
	}
	// Calls come before the rest: where their number differs, that is the reason for all else.
	if len(a.calls) != len(b.calls) {
		return 0, fmt.Errorf("noise is added %d times against %d times", len(a.calls), len(b.calls))
	}
	moved := false
	var worth selectionLosses
	for i, c := range a.calls {
		r, err := judgeCall(c, b.calls[i])
		ratio = max(ratio, r)
		moved = moved || r > 0
		worth.add(c, r)
		if err != nil {
			return ratio, fmt.Errorf("release %d: %w", i+1, err)
		}
	}
	if a.drawn != b.drawn {
		return ratio, fmt.Errorf("%d bytes of randomness are drawn against %d", a.drawn, b.drawn)
	}
	if !slices.Equal(a.events, b.events) {
		return ratio, fmt.Errorf("the steps are %v against %v", a.events, b.events)
	}
	if err := judgeCharges(a, b); err != nil {
		return ratio, err
	}
	if err := worth.checkCharged(a.charges); err != nil {
		return ratio, err
	}
	if (a.answer == nil) != (b.answer == nil) {
		return ratio, errors.New("there is an answer against none")
	}
	if a.answer == nil {
		return ratio, nil
	}
	if len(a.calls) == 0 || a.drawn == 0 {
		return ratio, errors.New("there is an answer, and no noise was drawn for it")
	}
	if err := judgeAnswers(p, a.answer, b.answer, moved); err != nil {
		return ratio, err
	}
	return ratio, checkSameNoise(p, a, b)
}

// judgeCall compares what two runs asked of the releaser.
func judgeCall(c, d mech.Call) (ratio float64, err error) {
	switch {
	case c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0:
		return 0,
			fmt.Errorf("the noise is %s(%s) against %s(%s)", c.Mechanism, c.Parameter.RatString(), d.Mechanism, d.Parameter.RatString())
	case (c.Before == nil) != (d.Before == nil) || c.Before != nil && c.Before.Cmp(d.Before) != 0:
		return 0, fmt.Errorf("the answer before has the noise %v against %v", c.Before, d.Before)
	case c.Sensitivity.String() != d.Sensitivity.String() || c.Scoring != d.Scoring:
		return 0, fmt.Errorf("the sensitivity is %v against %v", declaredSensitivity(c), declaredSensitivity(d))
	}
	if strings.HasPrefix(c.Mechanism, quantilePrefix) {
		return judgeQuantile(c, d)
	}
	m, ok := exact.Between(c.Values, d.Values)
	if !ok {
		return 0, fmt.Errorf("there are %d values against %d", c.Values.Len(), d.Values.Len())
	}
	distance, bound := m.L1, new(big.Int)
	switch c.Sensitivity.Norm() {
	case dp.L1:
		bound = c.Sensitivity.L1()
	case dp.L2:
		distance, bound = m.L2Squared, c.Sensitivity.L2Squared()
	default:
		distance, bound = m.Largest, big.NewInt(c.Scoring.Sensitivity)
		if c.Scoring.Monotone && m.Up && m.Down {
			return 1, errors.New("scores that were declared monotone move both ways")
		}
	}
	if bound.Sign() <= 0 {
		return 0, errors.New("no sensitivity is declared")
	}
	ratio, _ = new(big.Rat).SetFrac(distance, bound).Float64()
	if c.Sensitivity.Norm() == dp.L2 {
		ratio = math.Sqrt(ratio)
	}
	if distance.Cmp(bound) > 0 {
		return ratio, fmt.Errorf("one person moves the exact values %.4g times as far as the noise is calibrated to, which is %v",
			ratio, declaredSensitivity(c))
	}
	return ratio, nil
}

func declaredSensitivity(c mech.Call) fmt.Stringer {
	if c.Sensitivity.Norm() == 0 {
		return c.Scoring
	}
	return c.Sensitivity
}
