// Package vector is the arithmetic that a training and a model share: how a row is clipped, what
// released steps weigh, and what a row scores. It holds no rows.
package vector

import "math"

// Number is what features are given as.
type Number interface{ ~float32 | ~float64 }

// Clip returns a row that is made shorter where it is longer than radius, as trainings keep it.
func Clip(x []float64, radius float64) []float32 {
	row := make([]float32, len(x))
	ClipInto(row, x, radius)
	return row
}

// maxMagnitude is what features are brought below: their squares and sums of these are far from the
// end of float64, and they are float32.
const maxMagnitude = 0x1p100

// ClipInto sets row to x, made shorter where it is longer than radius.
func ClipInto[N Number](row []float32, x []N, radius float64) {
	length := 0.0
	for j := range row {
		v := 0.0
		if j < len(x) {
			v = clampMagnitude(float64(x[j]))
		}
		row[j] = float32(v)
		length += v * v
	}
	if isWithin(row, radius) {
		return
	}
	// What is lost to rounding is looked for afterwards, so nothing is proven here. The first try
	// is 2^-20 too short, which float32 does not undo unless numbers are near the smallest there
	// are.
	factor := radius / math.Sqrt(length)
	for range 3 {
		factor *= 1 - 0x1p-20
		for j := range row {
			v := 0.0
			if j < len(x) {
				v = clampMagnitude(float64(x[j])) * factor
			}
			row[j] = float32(clampMagnitude(v))
		}
		if isWithin(row, radius) {
			return
		}
	}
	clear(row)
}

func clampMagnitude(v float64) float64 {
	if v != v {
		return 0
	}
	return max(-maxMagnitude, min(maxMagnitude, v))
}

// isWithin says, with proof, that a row is at most radius long.
func isWithin(row []float32, radius float64) bool {
	const u = 0x1p-53
	sum := 0.0
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return true // every square is: the least is 2^-298
	}
	return radius > 0 && sum*(1+4*float64(len(row)+4)*u) <= radius*radius*(1-4*u)
}

// Weights are the released whole numbers as weights.
func Weights(released [][]int64, step float64) [][]float64 {
	out := make([][]float64, len(released))
	for k, row := range released {
		out[k] = make([]float64, len(row))
		for j, n := range row {
			out[k][j] = float64(n) * step
		}
	}
	return out
}

// Best is the number of the class that a row is taken for.
func Best(w [][]float64, x []float32) int {
	if len(w) == 1 {
		if Dot(w[0], x) > 0 {
			return 1
		}
		return 0
	}
	at, highest := 0, math.Inf(-1)
	for k := range w {
		if z := Dot(w[k], x); z > highest {
			at, highest = k, z
		}
	}
	return at
}

// Dot is the score of a row, added in the order of the weights, so that it is the same wherever it
// is computed.
func Dot(w []float64, x []float32) float64 {
	z := 0.0
	for j, v := range x {
		if v != 0 {
			z += w[j] * float64(v)
		}
	}
	return z
}
