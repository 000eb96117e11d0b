package survey

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
)

// Errors when a survey is planned.
var (
	// ErrEpsilon is returned when an epsilon randomizes nothing or everything.
	ErrEpsilon = errors.New("no survey has this epsilon")
	// ErrDomain is returned when there are too few or too many values to choose from.
	ErrDomain = errors.New("no survey has this domain")
	// ErrOracle is returned when there is no oracle of a name.
	ErrOracle = errors.New("there is no such oracle")
)

// Errors while people answer.
var (
	// ErrValue is returned when somebody answers with a value outside of the domain.
	// Nothing was drawn.
	ErrValue = errors.New("the answer is outside of the domain")
	// ErrReport is returned when a report cannot have been made by this survey's
	// clients. It was not counted.
	ErrReport = errors.New("this is no report of this survey")
)

// Errors when answers are counted.
var (
	// ErrMerge is returned when reports of different surveys are added up.
	ErrMerge = errors.New("the reports are of another survey")
	// ErrNobody is returned when nobody has answered.
	ErrNobody = errors.New("nobody has answered, so there is nothing to estimate")
	// ErrConfidence is returned when a confidence is none.
	ErrConfidence = errors.New("a confidence is a number such as 0.95")
)

// largest is the largest epsilon: beyond it one answer in 10^14 is turned, which
// is not a survey with privacy.
const largest = 32 * dp.One

// cost checks an epsilon and returns what one report costs.
func cost(epsilon dp.Amount) (dp.Cost, error) {
	switch {
	case epsilon == 0:
		return dp.Cost{}, fmt.Errorf("%w: with epsilon 0 the answers tell nothing; ask with an epsilon such as 1", ErrEpsilon)
	case epsilon > largest:
		return dp.Cost{},
			fmt.Errorf("%w: above 32 hardly an answer is ever turned, and nobody is protected; ask with an epsilon such as 1", ErrEpsilon)
	}
	rho, err := dp.CeilFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil {
		return dp.Cost{}, err
	}
	return dp.Cost{Epsilon: epsilon, Rho: rho}, nil
}

// checkDomain refuses domains of other than 2 to most values.
func checkDomain(size, most int) error {
	switch {
	case size < 2:
		return fmt.Errorf("%w: it has %d values, and a question needs two answers at least", ErrDomain, size)
	case size > most:
		return fmt.Errorf("%w: it has %d values, and this oracle takes %d at most; put rare values together, or use another oracle",
			ErrDomain, size, most)
	}
	return nil
}

func checkValue(value, size int) error {
	if value < 0 || value >= size {
		return fmt.Errorf("%w: a value is a number from 0 to %d", ErrValue, size-1)
	}
	return nil
}
