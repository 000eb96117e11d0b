package account

import "math"

const maxFloat = math.MaxFloat64

// A span encloses a number that is not negative. Every operation rounds its ends
// outward, so that what comes out encloses the exact result for every choice of
// numbers inside the operands: no error analysis is needed where a formula is
// written in spans.
//
// The four operations and the square root of IEEE 754 are within half a unit in
// the last place, so one step outward is enough for them. Of Go's functions Log,
// Log1p and Expm1 are within one unit; Exp, which is assembly on some machines,
// was seen to err by 1.6. All four are allowed four units.
type span struct{ lo, hi float64 }

func exactly(x float64) span { return span{x, x} }

// up is the next float64 above x >= 0.
func up(x float64) float64 {
	if x >= maxFloat {
		return math.Inf(1)
	}
	return math.Float64frombits(math.Float64bits(x+0) + 1)
}

// down is the next float64 below x, and 0 at 0 and below.
func down(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return math.Float64frombits(math.Float64bits(x) - 1)
}

// upper is the next float64 above x where x is above 0, and 0 where it is not.
func upper(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return up(x)
}

// addUp and mulUp round a sum and a product of numbers that are not negative
// upward, and are exact where the result is a float64: half and half is one.
// What is added or multiplied exactly must stay so, or a budget that is divided
// by a power of two would not add up again.
func addUp(a, b float64) float64 {
	s := a + b
	v := s - a
	if (a-(s-v))+(b-v) <= 0 { // what s lacks: Knuth's exact addition
		return s
	}
	return up(s)
}

func mulUp(a, b float64) float64 {
	p := a * b
	// The residue of a product this small would itself be rounded to zero.
	if a == 0 || b == 0 || p > 0x1p-960 && math.FMA(a, b, -p) <= 0 {
		return p
	}
	return up(p)
}

func (a span) add(b span) span { return span{down(a.lo + b.lo), up(a.hi + b.hi)} }

func (a span) mul(b span) span { return span{down(a.lo * b.lo), up(a.hi * b.hi)} }

func (a span) div(b span) span { return span{down(a.lo / b.hi), up(a.hi / b.lo)} }

// sub is a - b where that is not negative, and 0 where it is.
func (a span) sub(b span) span {
	s := span{down(a.lo - b.hi), 0}
	if a.hi > b.lo {
		s.hi = up(a.hi - b.lo)
	}
	return s
}

func (a span) sqrt() span { return span{down(math.Sqrt(a.lo)), up(math.Sqrt(a.hi))} }

// atMost cuts the span off at x, for a number known to be at most x.
func (a span) atMost(x float64) span { return span{math.Min(a.lo, x), math.Min(a.hi, x)} }

const fourUnits = 0x1p-50

// below and above allow for a function that errs by four units in the last place.
func below(y float64) float64 {
	if y < 0x1p-1000 {
		return 0 // Functions may flush what is smaller to zero, or err by more.
	}
	return y * (1 - 2*fourUnits)
}

func above(y float64) float64 { return math.Max(y*(1+2*fourUnits), 0x1p-1000) }

// The functions take and give what is not negative: exp(-x), 1 - exp(-x), exp(x)
// - 1, -ln(1 - x), -ln x.

func (a span) expMinus() span { return span{below(math.Exp(-a.hi)), above(math.Exp(-a.lo))}.atMost(1) }

func (a span) oneMinusExpMinus() span {
	s := span{below(-math.Expm1(-a.lo)), above(-math.Expm1(-a.hi))}.atMost(1)
	if a.hi == 0 {
		s.hi = 0
	}
	return s
}

func (a span) expm1() span {
	s := span{below(math.Expm1(a.lo)), above(math.Expm1(a.hi))}
	if a.hi == 0 {
		s.hi = 0
	}
	return s
}

func (a span) minusLog1pMinus() span {
	s := span{below(-math.Log1p(-math.Min(1, a.lo))), above(-math.Log1p(-math.Min(1, a.hi)))}
	if a.hi == 0 {
		s.hi = 0
	}
	return s
}

func (a span) minusLog() span {
	return span{below(-math.Log(math.Min(1, a.hi))), above(-math.Log(math.Min(1, a.lo)))}
}
