// Package root finds where a function of one number changes: its sign, its answer, or its
// direction.
package root

import "math"

// Between narrows [low, high] to a relative width of tolerance around the place
// where f, decreasing, becomes negative or zero, by the method of Illinois. Two
// steps that do not halve the interval are followed by a bisection, so that it is
// halved at least every third step. Every call of f keeps its word: f is positive at the low
// that is returned and not positive at the high, unless they are the ones given,
// which are taken on trust. f may be infinite.
func Between(f func(float64) float64, low, high, tolerance float64) (float64, float64) {
	fl, fh := math.Inf(1), math.Inf(-1)
	side, slow := 0, 0
	for i := 0; i < 1000 && high-low > tolerance*math.Abs(high); i++ {
		width, next := high-low, low+(high-low)/2
		if !math.IsInf(fl, 0) && !math.IsInf(fh, 0) && slow < 2 {
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
		if slow++; high-low <= width/2 {
			slow = 0
		}
	}
	return low, high
}
