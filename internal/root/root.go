// Package root finds where a decreasing function changes its sign.
package root

import "math"

// Between narrows [low, high] to a relative width of tolerance around the place
// where f, decreasing, becomes negative or zero, by the method of Illinois with
// bisection as its guard. Every call of f keeps its word: f is positive at the low
// that is returned and not positive at the high, unless they are the ones given,
// which are taken on trust. f may be infinite.
func Between(f func(float64) float64, low, high, tolerance float64) (float64, float64) {
	fl, fh := math.Inf(1), math.Inf(-1)
	side := 0
	for i := 0; i < 300 && high-low > tolerance*math.Abs(high); i++ {
		next := low + (high-low)/2
		if !math.IsInf(fl, 0) && !math.IsInf(fh, 0) && i%4 != 3 {
			if secant := (low*fh - high*fl) / (fh - fl); secant > low && secant < high {
				next = secant
			}
		}
		if next <= low || next >= high {
			break
		}
		if v := f(next); v > 0 {
			low, fl = next, v
			if side == 1 {
				fh /= 2
			}
			side = 1
		} else {
			high, fh = next, v
			if side == -1 {
				fl /= 2
			}
			side = -1
		}
	}
	return low, high
}
