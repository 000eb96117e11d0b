package utility

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is returned when a parameter is not one that the mechanism can have.
// The text says which, and what to write instead.
var ErrInput = errors.New("no such mechanism")

// positive refuses what is not a positive, finite number.
func positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return fmt.Errorf("%w: %s is %v; write a positive number", ErrInput, name, x)
	}
	return nil
}

// probability refuses a beta that no alpha belongs to, and one that every alpha
// belongs to.
func probability(beta float64) error {
	if !(beta > 0 && beta < 1) {
		return fmt.Errorf("%w: beta is %v; write a probability of failure above 0 and below 1, such as 0.05", ErrInput, beta)
	}
	return nil
}

// atLeast refuses a number of things that is too small.
func atLeast(name string, n, least int) error {
	if n < least {
		return fmt.Errorf("%w: %s is %d; write at least %d", ErrInput, name, n, least)
	}
	return nil
}

// up is what a value made of a few operations, each within one unit in the last
// place, is multiplied with so that it is not too small. It is 16 such units.
const up = 1 + 0x1p-48

// tiny is a probability so small that sums of floating-point numbers do not hold it
// well; below it we use closed bounds, which are a little larger.
const tiny = 1e-280
