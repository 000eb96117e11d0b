package loss

import (
	"github.com/discreet-dp/discreet/dp"
)

// Law is the distribution of one mechanism's privacy loss: of ln(P/Q) under P,
// for a pair of distributions (P, Q) that dominates the mechanism on neighbouring
// databases (Zhu, Dong, Wang 2022, Definition 7). Laws are made by the functions
// of this package and compare with ==.
type Law interface {
	// infinite is the mass of P where Q has none: no epsilon covers it.
	infinite() float64
	// top is the largest finite loss, rounded up, or +Inf.
	top() float64
}

// closed is a law whose own curve has a closed form.
type closed interface {
	Law
	// curve encloses delta(epsilon), the hockey-stick divergence of the pair, for
	// epsilon >= 0.
	curve(epsilon float64) dp.Bracket
}

// analytic is a law whose moment generating function has a closed form.
type analytic interface {
	Law
	// cumulant returns ln M(z), M(z) = E[exp(z L); L finite] under P, for Re z >=
	// 0, and a bound on its error: exp(value) times a number within expm1(slack) of
	// 1 is M(z). The imaginary part of z may be off by 4 units. For real z the
	// slack bounds the error of the value itself.
	cumulant(z complex128) (value complex128, slack float64)
	// decay bounds ln |M(t+iv)|/M(t) for all v >= y. The y may be off by 4 units.
	decay(t, y float64) float64
}

// spaced is an analytic law whose losses are offset + spacing Z, where the offset
// is 0, or half the spacing if odd.
type spaced interface {
	analytic
	lattice() (spacing spacing, odd bool)
	// fade bounds ln |M(t+iv)|/M(t) for v from y to pi/spacing, the half of its
	// period.
	fade(t, y float64) float64
}

// spacing is a quotient that is not rounded, so that equal ones are equal.
type spacing struct{ over, under float64 }

// sampled is a law without a closed form, which is enclosed between two others on
// a lattice.
type sampled interface {
	Law
	// enclose returns laws on the lattice origin + step Z, one that this law
	// dominates and one that dominates it. Up to about spare of the mass may be
	// given up, that is moved to infinity above, and left out below. A law without atoms may
	// choose another origin. What matters of
	// the law is what matters when it is tilted by t.
	enclose(step, origin, spare, t float64) (below, above *lattice)
	// atoms returns the losses of the law's two atoms, if it has them.
	atoms() (low, high float64, ok bool)
	// sketch returns an approximation by some atoms in order, of which nothing is
	// proven.
	sketch(spare float64) sketch
}

// unit is the rounding unit of float64.
const unit = 0x1p-53

// clampUnit keeps a bracket of probabilities within [0, 1]. What is not a number
// bounds nothing.
func clampUnit(b dp.Bracket) dp.Bracket {
	out := dp.Bracket{Lower: 0, Upper: 1}
	if b.Lower > 0 {
		out.Lower = min(1, b.Lower)
	}
	if b.Upper < 1 {
		out.Upper = max(0, b.Upper)
	}
	return out
}

// bracket is the bracket of a probability that is known up to slack.
func bracket(value, slack float64) dp.Bracket {
	return clampUnit(dp.Bracket{Lower: value - slack, Upper: value + slack})
}

// exactBracket is the bracket of a probability that was computed without cancellation, in
// a handful of rounded operations.
func exactBracket(value float64) dp.Bracket { return bracket(value, 32*unit*value) }
