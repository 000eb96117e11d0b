package answers

import (
	"math"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// span is an interval of real numbers. Every operation rounds outwards, so a span holds what it is
// said to hold.
type span struct{ lo, hi float64 }

func point(x float64) span { return span{x, x} }

func outwards(lo, hi float64) (span, bool) {
	s := span{math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(1))}
	return s, !math.IsNaN(lo) && !math.IsNaN(hi) && !math.IsInf(s.lo, 0) && !math.IsInf(s.hi, 0)
}

func (s span) plus(t span) (span, bool)  { return outwards(s.lo+t.lo, s.hi+t.hi) }
func (s span) minus(t span) (span, bool) { return outwards(s.lo-t.hi, s.hi-t.lo) }

func (s span) times(t span) (span, bool) {
	a, b, c, d := s.lo*t.lo, s.lo*t.hi, s.hi*t.lo, s.hi*t.hi
	return outwards(min(a, b, c, d), max(a, b, c, d))
}

// divide divides. A divisor that may be zero leaves nothing known.
func (s span) divide(t span) (span, bool) {
	if t.lo <= 0 && t.hi >= 0 {
		return span{}, false
	}
	a, b, c, d := s.lo/t.lo, s.lo/t.hi, s.hi/t.lo, s.hi/t.hi
	return outwards(min(a, b, c, d), max(a, b, c, d))
}

// truncated is what whole numbers of the span become when their digits after the point are cut.
func (s span) truncated() span { return span{math.Trunc(s.lo), math.Trunc(s.hi)} }

// rounded is what numbers of the span become when they are rounded to so many digits. Rounding
// never changes their order.
func (s span) rounded(fn string, digits int) (span, bool) {
	f := map[string]func(float64) float64{"round": math.Round, "trunc": math.Trunc, "floor": math.Floor, "ceil": math.Ceil}[fn]
	scale := math.Pow10(digits)
	// One step further out first, so that a product just beside a half falls on the safe side.
	lo, hi := math.Nextafter(s.lo*scale, math.Inf(-1)), math.Nextafter(s.hi*scale, math.Inf(1))
	return outwards(f(lo)/scale, f(hi)/scale)
}

// isInside reports whether all of the span is among the values of a type with bounds.
func (s span) isInside(t tree.Type) bool {
	switch t.Kind {
	case tree.Number:
		return pricing.Scaled(t.Lo, t.Step) <= s.lo && s.hi <= pricing.Scaled(t.Hi, t.Step)
	case tree.Real:
		return t.Range != nil && t.Range.Low <= s.lo && s.hi <= t.Range.High
	}
	return false
}

// square is the span of squares.
func (s span) square() (span, bool) {
	out, ok := s.times(s)
	if s.lo <= 0 && s.hi >= 0 {
		out.lo = 0
	}
	out.lo = max(out.lo, 0)
	return out, ok
}

// cutTo cuts to another span. Where the two do not meet, something with probability beta has
// happened, and the other one is all that is known.
func (s span) cutTo(t span) span {
	if s.hi < t.lo || s.lo > t.hi {
		return t
	}
	return span{max(s.lo, t.lo), min(s.hi, t.hi)}
}

// reach is the half width of an interval around x that holds the span, rounded up.
func (s span) reach(x float64) float64 {
	return math.Nextafter(max(s.hi-x, x-s.lo, 0), math.Inf(1))
}
