package predict

import "math"

// exp is the exponential function on a range that steps stay in, the same on every machine: only
// sums, products and powers of 2, each rounded by itself.
func exp(x float64) float64 {
	x = min(max(x, -700), 700)
	// x = k ln 2 + r. The high part of ln 2 has few digits, so that k times it is exact.
	const high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := float64(x-float64(k*high)) - float64(k*low)
	// Taylor, at most 0.35 from 0, by Horner.
	sum := 1.0
	for i := 16; i > 0; i-- {
		sum = 1 + float64(float64(r*sum)/float64(i))
	}
	return math.Ldexp(sum, int(k))
}
