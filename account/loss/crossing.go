package loss

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/root"
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
	_, out.Upper = root.Between(func(e float64) float64 { return logRatio(above(e), delta) }, 0, high, 1e-13)
	// The lower side may be sharp only around there, so the search walks down.
	lower := func(e float64) float64 { return logRatio(below(e), delta) }
	for step := 1e-12 * out.Upper; step < out.Upper; step *= 8 {
		if e := out.Upper - step; lower(e) > 0 {
			out.Lower, _ = root.Between(lower, e, out.Upper, 1e-13)
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
