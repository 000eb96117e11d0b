package utility

import (
	"fmt"
	"math"
)

// widest is the largest scale of noise on the integers that we answer for: with
// it every alpha is exact in a float64.
const widest = 0x1p40

func onIntegers(name string, x, most float64) error {
	if err := positive(name, x); err != nil {
		return err
	}
	if x > most {
		return fmt.Errorf("%w: %s is %v; write at most %v, or use the continuous law, which is as good there", ErrInput, name, x, most)
	}
	return nil
}

// DiscreteLaplace is noise on the integers, P(k) = (1-q)/(1+q) q^|k| with q =
// exp(-1/Scale).
type DiscreteLaplace struct{ Scale float64 }

// Alpha returns the smallest integer with P(|noise| > alpha) <= beta. The
// probability is 2 q^(alpha+1)/(1+q), so alpha + 1 >= Scale (ln 2 - ln beta -
// ln(1+q)).
func (l DiscreteLaplace) Alpha(beta float64) (int64, error) {
	if err := firstOf(onIntegers("the scale", l.Scale, widest), probability(beta)); err != nil {
		return 0, err
	}
	// ln(2/(1+q)) is written without cancellation; it is near 0 for wide noise.
	x := l.Scale * (-math.Log(beta) - math.Log1p(math.Expm1(-1/l.Scale)/2))
	return int64(math.Max(0, math.Ceil(x*up)-1)), nil
}

// Variance returns 2q/(1-q)^2 = 1/(2 sinh(1/(2 Scale))^2).
func (l DiscreteLaplace) Variance() (float64, error) {
	if err := onIntegers("the scale", l.Scale, widest); err != nil {
		return 0, err
	}
	s := math.Sinh(1 / (2 * l.Scale))
	return 1 / (2 * s * s), nil
}
