package loss

import "math"

// Renyi returns an upper bound on the Renyi divergence of order alpha > 1 of a law's
// pair, ln M(alpha-1)/(alpha-1), up to rounding; +Inf if the law has no closed form.
func Renyi(law Law, alpha float64) float64 {
	a, ok := gathered([]term{{law, 1}})[0].law.(analytic)
	if !ok || !(alpha > 1) || law.infinite() > 0 {
		return math.Inf(1)
	}
	value, slack := a.cumulant(complex(alpha-1, 0))
	r := (real(value) + slack) / (alpha - 1)
	if math.IsNaN(r) {
		return math.Inf(1)
	}
	return r + 4*unit*math.Abs(r)
}
