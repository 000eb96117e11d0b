package sessiontest

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/exact"
)

// Parting says how two runs went apart.
type Parting string

const (
	Never        Parting = "never"
	ByComparison Parting = "by a comparison"
	ByRelease    Parting = "by a release"
)

// Verdict is what a comparison of two runs saw.
type Verdict struct {
	// Questions that were answered alike, calls that were compared, and how many of these were on
	// values that differ.
	Questions, Calls, Moved int
	Parting                 Parting
	// Ratio is the farthest that values were apart, as a part of what the noise was calibrated to.
	Ratio float64
}

// Compare compares two runs of one script on neighbours, with the same randomness. From where an
// answer differs the scripts may differ, so it stops there.
func Compare(x, y []Event) (v Verdict, err error) {
	v.Parting = Never
	moved, last := false, "" // in this question: whether a call was on values that differ, and the last such call
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) {
			return v, fmt.Errorf("event %d happens to one of them only", i+1)
		}
		a, b := x[i], y[i]
		if a.Kind != b.Kind || a.Text != b.Text {
			switch {
			case !moved:
				return v, fmt.Errorf("event %d is %s %q against %s %q, and this question was put to no values that differ", i+1, a.Kind,
					a.Text, b.Kind, b.Text)
			case a.Kind == Charged || b.Kind == Charged:
				return v, fmt.Errorf("event %d is %s %q against %s %q: what is charged depends on what was seen", i+1, a.Kind,
					a.Text, b.Kind, b.Text)
			case last == comparisonName && a.Kind != b.Kind && (a.Kind == Called || b.Kind == Called):
				v.Parting = ByComparison
			case last != comparisonName && a.Kind == Written && b.Kind == Written:
				v.Parting = ByRelease
			default:
				return v, fmt.Errorf("event %d is %s against %s after a call of %s", i+1, a.Kind, b.Kind, last)
			}
			return v, compareAfterParting(x[i:], y[i:], v.Parting)
		}
		if a.Drawn != b.Drawn {
			return v, fmt.Errorf("event %d (%s): %d bytes of randomness are drawn against %d", i+1, a.Kind, a.Drawn, b.Drawn)
		}
		switch a.Kind {
		case Said, Failed:
			v.Questions++
			moved, last = false, ""
		case Called:
			v.Calls++
			ratio, err := callDistance(a, b)
			v.Ratio = max(v.Ratio, ratio)
			if err != nil {
				return v, fmt.Errorf("event %d: %w", i+1, err)
			}
			if ratio > 0 {
				v.Moved++
				moved, last = true, a.Call.Mechanism
			}
		}
	}
	return v, nil
}

// compareAfterParting compares what two runs that went apart write and say next. What could not be written must
// not be told, also not by an error of its own; and what a comparison said must not be told by the
// length of its entry, which decides whether it fits on a disk.
func compareAfterParting(x, y []Event, by Parting) error {
	next := func(run []Event) (written bool, length int, text string) {
		for _, e := range run {
			switch e.Kind {
			case Written:
				if !written {
					length = len(e.Text)
				}
				written = true
			case Said, Failed:
				return written, length, e.Text
			}
		}
		return written, length, ""
	}
	a, short, said := next(x)
	b, long, other := next(y)
	if (!a || !b) && said != other {
		return fmt.Errorf("%q is said against %q, and one of them is not written down", said, other)
	}
	if a && b && by == ByComparison && short != long {
		return fmt.Errorf("an entry has %d bytes against %d", short, long)
	}
	return nil
}

// callDistance is how far the values of two calls are apart, as a part of what the noise was calibrated
// to.
func callDistance(a, b Event) (float64, error) {
	m, ok := exact.Between(a.Call.Values, b.Call.Values)
	if !ok {
		return 0, fmt.Errorf("there are %d values against %d", a.Call.Values.Len(), b.Call.Values.Len())
	}
	distance, bound := m.L1, new(big.Int)
	switch a.Call.Sensitivity.Norm() {
	case dp.L1:
		bound = a.Call.Sensitivity.L1()
	case dp.L2:
		distance, bound = m.L2Squared, a.Call.Sensitivity.L2Squared()
	}
	if bound.Sign() <= 0 {
		return 0, fmt.Errorf("no sensitivity is declared")
	}
	ratio, _ := new(big.Rat).SetFrac(distance, bound).Float64()
	if distance.Cmp(bound) > 0 {
		return ratio, fmt.Errorf("one person moves the values of %q %.4g times as far as it is calibrated to", a.Text, ratio)
	}
	return ratio, nil
}
