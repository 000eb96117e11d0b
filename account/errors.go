package account

import (
	"errors"
	"fmt"
)

// ParameterError is returned when a guarantee, a claim or a question about one
// is written with a number that has no meaning there.
type ParameterError struct {
	Name  string  // epsilon, delta, rho, mu, ...
	Value float64 // what was written
	Want  string  // what to write instead
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("%s is %v: write %s", e.Name, e.Value, e.Want)
}

var (
	// ErrDeltaTooSmall is returned when an epsilon is asked for at a delta that
	// the claims themselves use up.
	ErrDeltaTooSmall = errors.New("the claims leave nothing of this delta: ask at a delta above the sum of theirs, or make theirs smaller")
	// ErrNoCurve is returned when an RDP guarantee was not made by a constructor.
	ErrNoCurve = errors.New("this RDP guarantee has no curve: make it with NewRDP or one of the named curves")
)

const (
	wantNonNegative = "a finite number that is not negative"
	wantDelta       = "a number of at least 0 and below 1, such as 1e-6"
	wantProbability = "a number between 0 and 1"
)

// nonNegative refuses NaN, infinities and negative numbers.
func nonNegative(name string, x float64) error {
	if !(x >= 0 && x <= maxFloat) {
		return &ParameterError{name, x, wantNonNegative}
	}
	return nil
}

// probability refuses NaN and what is not between 0 and 1.
func probability(name string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return &ParameterError{name, x, wantProbability}
	}
	return nil
}

// askedDelta refuses a delta at which no epsilon can be asked for.
func askedDelta(x float64) error {
	if !(x >= 0 && x < 1) {
		return &ParameterError{"delta", x, wantDelta}
	}
	return nil
}

// mostTimes is the largest count: all counts up to it are float64 numbers.
const mostTimes = 1 << 53

// atLeastOne refuses a number of times or of units below one.
func atLeastOne(name string, k int) error {
	if k < 1 || k > mostTimes {
		return &ParameterError{name, float64(k), "a whole number from 1 to 2^53"}
	}
	return nil
}

// finite turns a claim that overflowed into an error: infinity is no epsilon.
func finite(x float64) (float64, error) {
	if !(x <= maxFloat) {
		return 0, ErrUnbounded
	}
	return x, nil
}

// validated returns the first error there is.
func validated[G interface{ Validate() error }](guarantees []G) error {
	for _, g := range guarantees {
		if err := g.Validate(); err != nil {
			return err
		}
	}
	return nil
}
