package normal

import "math"

// Quantile returns the x with P(N > x) = p, for 0 < p < 1: the inverse of Tail.
// It is NaN for other p, with +Inf at 0 and -Inf at 1.
func Quantile(p float64) float64 {
	switch {
	case p == 0:
		return math.Inf(1)
	case p == 1:
		return math.Inf(-1)
	case p > 0.5:
		return -Quantile(1 - p) // 1 - p is exact.
	case p >= 0.25:
		// 1 - 2p is exact, and so are all digits near the median.
		return math.Sqrt2 * math.Erfinv(1-2*p)
	default:
		return LogQuantile(math.Log(p))
	}
}

// LogQuantile returns the x with ln P(N > x) = l, for l <= ln(1/4): the inverse
// of LogTail, for tails that are too small to be written as a float64.
func LogQuantile(l float64) float64 {
	if !(l <= -1.38) {
		return math.NaN()
	}
	if math.IsInf(l, -1) {
		return math.Inf(1)
	}
	// Newton's iteration. LogTail is concave with derivative -1/Mills, and the
	// start is to the right of the root since Tail(x) < exp(-x^2/2), so the steps
	// go to the left until rounding stops them; they double the digits.
	x := math.Sqrt(-2 * l)
	for range 64 {
		step := (LogTail(x) - l) * Mills(x)
		x += step
		if math.Abs(step) <= 1e-9*x {
			break
		}
	}
	return x
}
