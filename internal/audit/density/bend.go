package density

import "math"

// Bend is a loss phi of a score z and a target y: its first and second derivative in z, and the
// scores at which the second one jumps.
type Bend struct {
	Name   string
	First  func(z, y float64) float64
	Second func(z, y float64) float64
	Jumps  func(y float64) []float64
	// Slope and Curvature bound the two, and OneSided says that the first has one sign for each
	// target: what calibration is told.
	Slope, Curvature float64
	OneSided         bool
	Tapered          bool // the second is at most 4 c s(1-s) where the first is s times its bound
	// Between says that targets are all numbers from -1 to 1, and not only the two ends.
	Between bool
}

// Logistic is ln(1 + exp(-yz)).
func Logistic() Bend {
	below := func(z float64) float64 { return 1 / (1 + math.Exp(z)) }
	return Bend{
		Name:   "logistic",
		First:  func(z, y float64) float64 { return -y * below(y*z) },
		Second: func(z, y float64) float64 { return below(z) * below(-z) },
		Jumps:  func(float64) []float64 { return nil },
		Slope:  1, Curvature: 0.25, OneSided: true, Tapered: true,
	}
}

// Huber is the hinge max(0, 1 - yz), with a parabola from yz = 1-h to 1+h in the place of its
// corner (Chapelle 2007).
func Huber(h float64) Bend {
	return Bend{
		Name:  "huber",
		First: func(z, y float64) float64 { return -y * math.Min(1, math.Max(0, (1+h-y*z)/(2*h))) },
		Second: func(z, y float64) float64 {
			if math.Abs(1-y*z) < h {
				return 1 / (2 * h)
			}
			return 0
		},
		Jumps: func(y float64) []float64 { return []float64{y * (1 - h), y * (1 + h)} },
		Slope: 1, Curvature: 1 / (2 * h), OneSided: true,
	}
}

// Squares is (z-y)^2/2 up to a residual of q, and straight beyond (Huber 1964).
func Squares(q float64) Bend {
	return Bend{
		Name:  "squares",
		First: func(z, y float64) float64 { return math.Min(q, math.Max(-q, z-y)) },
		Second: func(z, y float64) float64 {
			if math.Abs(z-y) < q {
				return 1
			}
			return 0
		},
		Jumps: func(y float64) []float64 { return []float64{y - q, y + q} },
		Slope: q, Curvature: 1, Between: true,
	}
}
