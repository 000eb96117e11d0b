package holdoutdemo

import "math"

// Figure is a mean over the repetitions, with the standard deviation of one.
type Figure struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"sd"`
}

// FigureOf is the mean of some numbers, and their standard deviation.
func FigureOf(all []float64) Figure {
	sum, square := 0.0, 0.0
	for _, x := range all {
		sum += x
	}
	mean := sum / float64(len(all))
	for _, x := range all {
		square += (x - mean) * (x - mean)
	}
	return Figure{mean, math.Sqrt(square / math.Max(1, float64(len(all)-1)))}
}
