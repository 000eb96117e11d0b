package learn

import "math"

// squareSteps is how many steps the largest square of a residual has.
const squareSteps = 1024

// mistakes says how a prediction is judged, in whole steps: how many there are at most, and how
// many a row has, from what was released and from the row alone. For classes a mistake is 1. For
// numbers it is the square of the residual, both brought into [-1, 1]: at most 4, which is
// squareSteps.
func (p *Plan) mistakes() (most int64, count func(w [][]float64, x []float32, target float64) int64) {
	if p.Encoding.classes() == 0 {
		return squareSteps, func(w [][]float64, x []float32, target float64) int64 {
			r := math.Max(-1, math.Min(1, dot(w[0], x))) - target
			steps := math.Round(r * r / 4 * squareSteps)
			if !(steps >= 0 && steps <= squareSteps) {
				return squareSteps
			}
			return int64(steps)
		}
	}
	return 1, func(w [][]float64, x []float32, target float64) int64 {
		if best(w, x) == int(target) {
			return 0
		}
		return 1
	}
}

// best is the number of the class that a row is taken for.
func best(w [][]float64, x []float32) int {
	if len(w) == 1 {
		if dot(w[0], x) > 0 {
			return 1
		}
		return 0
	}
	at, highest := 0, math.Inf(-1)
	for k := range w {
		if z := dot(w[k], x); z > highest {
			at, highest = k, z
		}
	}
	return at
}

// dot is the score of a row, added in the order of the weights, so that it is the same wherever it
// is computed.
func dot(w []float64, x []float32) float64 {
	z := 0.0
	for j, v := range x {
		if v != 0 {
			z += w[j] * float64(v)
		}
	}
	return z
}
