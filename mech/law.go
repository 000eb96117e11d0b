package mech

// law is the distribution of one coordinate's noise: symmetric, and falling to
// both sides. Everything that error bars need is here; nothing that privacy
// needs is.
type law interface {
	// tail is an upper bound on P(|X| > k).
	tail(k int64) float64
	// halfWidth is the smallest k whose tail is at most beta.
	halfWidth(beta float64) int64
	// block returns P(lo <= X <= hi) and a bound on its absolute error, for 0 <
	// lo <= hi and for -hi = lo <= 0.
	block(lo, hi int64) (mass, err float64)
	// logMGF is an upper bound on ln E exp(tX), +Inf where that is infinite.
	logMGF(t float64) float64
	// horizon is the supremum of the t for which logMGF is finite.
	horizon() float64
	// variance is an approximation, for choosing lattices and never for a
	// bound.
	variance() float64
}

// Tail probabilities below this are at the end of what a float64 can hold, and
// are bounded more coarsely.
const tiny = 1e-290
