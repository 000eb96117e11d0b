package normal

import "math"

const (
	sqrt2Pi     = 2.50662827463100050241576528481104525301
	halfLog2Pi  = 0.91893853320467274178032973640561763986
	fromErfc    = 1   // below it the tail comes from math.Erfc, above from a continued fraction
	negligible  = 39  // Tail(39) is less than half the smallest float64
	squareLimit = 1e8 // beyond it x^2/2 needs no second float64
)

// Tail returns P(N > x).
func Tail(x float64) float64 {
	switch {
	case math.Abs(x) <= fromErfc:
		return 0.5 * math.Erfc(x/math.Sqrt2)
	case x < 0:
		return 1 - Tail(-x)
	case x > negligible:
		return 0
	default: // NaN comes here and stays NaN.
		return density(x, 0) * Mills(x)
	}
}

// LogTail returns ln P(N > x). It does not underflow.
func LogTail(x float64) float64 {
	switch {
	case x < 0:
		return math.Log1p(-Tail(-x))
	case x <= fromErfc:
		return math.Log(Tail(x))
	case math.IsInf(x, 1):
		return math.Inf(-1)
	default:
		// All three parts are negative, so nothing cancels.
		return -x*x/2 - halfLog2Pi + math.Log(Mills(x))
	}
}

// Mills returns Mills' ratio, the tail divided by the density. It is
// +Inf below about -38.
func Mills(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case math.IsInf(x, 1):
		return 0
	case x > fromErfc:
		return 1 / (x + ratio(x, 1))
	default:
		return Tail(x) / density(x, 0)
	}
}

// density is the normal density at x + low, where low is far smaller than x. The
// square is carried in two parts: at x = 38 the rounding of x^2 alone would be
// worth 2^-44 of the result.
func density(x, low float64) float64 {
	square := x * x
	rest := 0.0
	if math.Abs(x) < squareLimit {
		rest = math.FMA(x, x, -square)/2 + x*low
	}
	return math.Exp(-square/2) * (1 - rest) / sqrt2Pi
}

// ratio returns I(j)/I(j-1) at c >= 1, where
//
//	I(j) = integral over t > 0 of t^j exp(-c t - t^2/2), I(0) = Mills(c).
//
// Integration by parts gives j I(j-1) = c I(j) + I(j+1), which is Laplace's
// continued fraction j/(c + (j+1)/(c + (j+2)/(c + ...))) for the ratio. It has
// positive parts only. An error in a late ratio r shrinks by r^2/j at each step
// up, over n steps by about exp(-2 c sqrt n); the depth makes that 1e-15 before
// the start, the fixed point of the recurrence, adds its own two or three digits.
func ratio(c float64, j int) float64 {
	n := float64(j + 10 + int(300/(c*c)))
	r := (math.Sqrt(c*c+4*n) - c) / 2
	if c > 1e8 {
		r = 0 // The fixed point is n/c, and c + n/c is c.
	}
	for i := n - 1; i >= float64(j); i-- {
		r = i / (c + r)
	}
	return r
}
