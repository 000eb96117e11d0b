package loss

import (
	"github.com/discreet-dp/discreet/dp"
)

// Law is the distribution of one mechanism's privacy loss: of ln(P/Q) under P,
// for a pair of distributions (P, Q) that dominates the mechanism on neighbouring
// databases (Zhu, Dong, Wang 2022, Definition 7). Laws are made by the functions
// of this package and compare with ==.
type Law interface {
	// curve encloses delta(epsilon), the hockey-stick divergence of the pair, for
	// epsilon >= 0.
	curve(epsilon float64) dp.Bracket
	// infinite is the mass of P where Q has none: no epsilon covers it.
	infinite() float64
	// top is the largest finite loss, or +Inf.
	top() float64
}

// analytic is a law whose moment generating function has a closed form.
type analytic interface {
	Law
	// cumulant returns ln M(z), M(z) = E[exp(z L); L finite] under P, for Re z >=
	// 0, and a bound on the error of what it returns. The imaginary part counts up
	// to multiples of 2 pi.
	cumulant(z complex128) (value complex128, slack float64)
	// decay bounds |M(t+iv)|/M(t) for all v >= y.
	decay(t, y float64) float64
}

// sampled is a law without a closed form, which is enclosed between two others on
// a lattice.
type sampled interface {
	Law
	// enclose returns laws on the lattice origin + step Z, one that this law
	// dominates and one that dominates it. Up to about spare of the mass may be
	// given up, that is moved to infinity above, and left out below.
	enclose(step, origin, spare float64) (below, above *lattice)
	// atoms returns the losses of the law's two atoms, if it has them.
	atoms() (low, high float64, ok bool)
	// sketch returns an approximation by atoms, of which nothing is proven.
	sketch(spare float64) *lattice
}

// unit is the rounding unit of float64.
const unit = 0x1p-53

// widen moves both ends of a bracket outward by a relative slack.
func widen(b dp.Bracket, slack float64) dp.Bracket {
	return dp.Bracket{Lower: max(0, b.Lower*(1-slack)), Upper: min(1, b.Upper*(1+slack))}
}

// clampUnit keeps a bracket of probabilities within [0, 1].
func clampUnit(b dp.Bracket) dp.Bracket {
	return dp.Bracket{Lower: min(1, max(0, b.Lower)), Upper: min(1, max(0, b.Upper))}
}

// near is the bracket of a probability that was computed without cancellation, in
// a handful of rounded operations.
func near(value float64) dp.Bracket {
	return clampUnit(dp.Bracket{Lower: value * (1 - 32*unit), Upper: value * (1 + 32*unit)})
}
