package noise

// positive is a real number whole + part.
type positive struct {
	whole uint64
	part  *fraction
}

// exponential draws a number of density exp(-x), x > 0, by comparisons only (von
// Neumann 1951).
//
// A uniform x is kept with probability exp(-x). It is refused with probability
// 1 - (1 - 1/e) = 1/e, whatever happens later, and each refusal adds one: whole is l
// with probability e^-l (1 - 1/e), and part has density exp(-x)/(1 - 1/e). Together
// that is exp(-(l + x)).
func exponential(c comparisons) positive {
	for whole := uint64(0); ; whole++ {
		if x := c.fresh(); fallingCoin(c, x) {
			return positive{whole, x}
		}
	}
}
