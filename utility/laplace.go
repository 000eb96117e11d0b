package utility

import "math"

// Laplace is noise with density exp(-|x|/Scale)/(2 Scale).
type Laplace struct{ Scale float64 }

// Alpha returns Scale ln(1/beta): the noise is beyond it in absolute value with
// probability beta (Dwork, Roth 2014, Fact 3.7).
func (l Laplace) Alpha(beta float64) (float64, error) {
	if err := firstOf(positive("the scale", l.Scale), probability(beta)); err != nil {
		return 0, err
	}
	return l.Scale * -math.Log(beta) * up, nil
}

// Variance returns 2 Scale^2.
func (l Laplace) Variance() (float64, error) {
	if err := positive("the scale", l.Scale); err != nil {
		return 0, err
	}
	return 2 * l.Scale * l.Scale, nil
}
