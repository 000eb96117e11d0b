package utility

import "math"

// Each returns the beta at which each of k independent releases must hold so
// that all hold together with probability at least 1 - beta: exactly 1 -
// (1-beta)^(1/k), rounded down, computed without the cancellation. It is a
// little more than the beta/k of [EachOf].
func Each(k int, beta float64) (float64, error) {
	if err := firstOf(atLeast("the number of releases", k, 1), probability(beta)); err != nil {
		return 0, err
	}
	if k == 1 {
		return beta, nil
	}
	return math.Max(-math.Expm1(math.Log1p(-beta)/float64(k))/up, beta/float64(k)/up), nil
}

// EachOf is [Each] for releases that may depend on one another, by the union
// bound.
func EachOf(k int, beta float64) (float64, error) {
	if err := firstOf(atLeast("the number of releases", k, 1), probability(beta)); err != nil {
		return 0, err
	}
	return beta / float64(k) / up, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
