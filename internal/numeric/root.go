package numeric

import "math"

// Root narrows [low, high] to a relative width of tolerance around the place where f, decreasing,
// becomes negative or zero, by the method of Illinois. Two steps that do not halve the interval are
// followed by a bisection, so that it is halved at least every third step. Every call of f keeps
// its word: f is positive at the low that is returned and not positive at the high, unless they are
// the ones given, which are taken on trust. f may be infinite.
func Root(f func(float64) float64, low, high, tolerance float64) (float64, float64) {
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

// BisectWhole halves the interval between two whole numbers until they are neighbours: below holds
// at the low that is returned and not at the high, unless they are the ones given, which are taken
// on trust. Below changes once, from true to false.
func BisectWhole[N ~int | ~int64 | ~uint64](low, high N, below func(N) bool) (N, N) {
	for high-low > 1 {
		if middle := low + (high-low)/2; below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high
}

// Bisect is [Whole] for real numbers, in so many steps.
func Bisect(low, high float64, steps int, below func(float64) bool) (float64, float64) {
	return halve(low, high, steps, below, func(a, b float64) float64 { return (a + b) / 2 })
}

// BisectScale is [Halve] on a logarithmic scale, between positive numbers.
func BisectScale(low, high float64, steps int, below func(float64) bool) (float64, float64) {
	return halve(low, high, steps, below, func(a, b float64) float64 { return math.Sqrt(a * b) })
}

func halve(low, high float64, steps int, below func(float64) bool, between func(a, b float64) float64) (float64, float64) {
	for range steps {
		if middle := between(low, high); below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high
}

// Minimise narrows [low, high] to a width of tolerance around the place where f, which falls and
// then rises, is lowest, by golden section. Where f is the same at both points that are compared,
// and where it is infinite, the upper part is kept.
func Minimise(f func(float64) float64, low, high, tolerance float64) (float64, float64) {
	const golden = 0.6180339887498949
	a, b := high-golden*(high-low), low+golden*(high-low)
	fa, fb := f(a), f(b)
	for {
		left := fa < fb
		if left {
			high, b, fb = b, a, fa
			a = high - golden*(high-low)
		} else {
			low, a, fa = a, b, fb
			b = low + golden*(high-low)
		}
		switch {
		case high-low <= tolerance:
			return low, high
		case left:
			fa = f(a)
		default:
			fb = f(b)
		}
	}
}
