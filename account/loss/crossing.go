package loss

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// crossing encloses the smallest epsilon >= 0 at which a decreasing curve, known
// through bounds, is at most delta; limit is where it is known to be.
func crossing(below, above func(epsilon float64) float64, delta, limit float64) dp.Bracket {
	if above(0) <= delta {
		return dp.Bracket{}
	}
	high := limit
	if math.IsInf(high, 1) {
		for high = 1; above(high) > delta; high *= 2 {
			if high > 1e18 {
				return dp.Bracket{Lower: 0, Upper: math.Inf(1)}
			}
		}
	}
	out := dp.Bracket{Lower: 0, Upper: high}
	// Each end is where its side of the curve crosses, on the safe side of the
	// interval that the search ends with.
	_, out.Upper = root(func(e float64) float64 { return logRatio(above(e), delta) }, 0, high)
	// The lower side may be sharp only around there, so the search walks down.
	lower := func(e float64) float64 { return logRatio(below(e), delta) }
	for step := 1e-12 * out.Upper; step < out.Upper; step *= 8 {
		if e := out.Upper - step; lower(e) > 0 {
			out.Lower, _ = root(lower, e, out.Upper)
			break
		}
	}
	return out
}

func logRatio(a, b float64) float64 {
	if a <= 0 {
		return math.Inf(-1)
	}
	return math.Log(a / b)
}

// root narrows [low, high], where f > 0 at low and f <= 0 at high or just assumed
// so, to two neighbours of which the same is true, or until they are within 1e-13
// of each other: by the method of Illinois, with bisection as its guard.
func root(f func(float64) float64, low, high float64) (float64, float64) {
	fl, fh := f(low), f(high)
	if fl <= 0 {
		return low, low
	}
	side := 0
	for i := 0; i < 200 && high-low > 1e-13*high; i++ {
		next := low + (high-low)/2
		if !math.IsInf(fl, 0) && !math.IsInf(fh, 0) && i%4 != 3 {
			if secant := (low*fh - high*fl) / (fh - fl); secant > low && secant < high {
				next = secant
			}
		}
		if next <= low || next >= high {
			break
		}
		v := f(next)
		if v > 0 {
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
