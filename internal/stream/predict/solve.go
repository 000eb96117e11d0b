package predict

import "math"

// longest bounds a step, so that no sum overflows before it is settled, and grades is into how many
// parts weights are put to find it.
const (
	longest = 2.5
	grades  = 32
)

// solve finds the step s with share e^s / (1 - share + share e^s) = answer - (dual + s) soft. The
// left is the share after the step.
func solve(share, answer, dual, soft float64) float64 {
	return root(func(s float64) (off, slope float64) {
		e := float64(share * exp(s))
		p := e / (1 - share + e)
		return p - answer + float64((dual+s)*soft), float64(p*(1-p)) + soft
	})
}

// solveBins is solve for weights of several grades, of which only about the grade is known. So what
// it finds for the mean is moved by as much as the mean now is off.
func solveBins(bins *[grades + 1]int64, mean, answer, dual, soft float64) float64 {
	means := func(s float64) (first, second float64) {
		var all float64
		for i, n := range bins {
			if n == 0 {
				continue
			}
			x := float64(i) / grades
			e := float64(float64(n) * exp(float64(s*x)))
			all += e
			first += float64(x * e)
			second += float64(float64(x*x) * e)
		}
		return first / all, second / all
	}
	about, _ := means(0)
	return root(func(s float64) (off, slope float64) {
		first, second := means(s)
		return first + (mean - about) - answer + float64((dual+s)*soft), max(second-float64(first*first), 0) + soft
	})
}

// root finds where a rising function crosses 0, by Newton's steps where they stay inside of what is
// known and by halving where not.
func root(f func(s float64) (off, slope float64)) float64 {
	low, high := -longest, longest
	s := 0.0
	for range 40 {
		off, slope := f(s)
		if off > 0 {
			high = s
		} else {
			low = s
		}
		next := s - off/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-s) < 1e-9 {
			return next
		}
		s = next
	}
	return s
}
