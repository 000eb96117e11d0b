package loss

import (
	"errors"
	"fmt"
)

// ErrParameter is returned when a mechanism's parameter, a delta or an epsilon is
// not one that the theory speaks of, or so extreme that it means nothing.
var ErrParameter = errors.New("a parameter is out of range")

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 1e-9 && epsilon <= 1e6) {
		return fmt.Errorf("%w: epsilon is %v, and must be between 1e-9 and 1e6", ErrParameter, epsilon)
	}
	return nil
}
