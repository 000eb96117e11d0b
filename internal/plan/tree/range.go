package tree

import "math"

// Range is the interval that a Real is proven to lie in. Sums, products, quotients and
// square roots are rounded in one way by every machine, and rounding keeps
// order, so the ends of a result are the results at the ends. Logarithms and powers
// may differ in the last bits between machines; their ends are moved outward by far more.
type Range struct{ Low, High float64 }

func (r Range) Holds(x float64) bool { return r.Low <= x && x <= r.High }
func (r Range) Inside(s Range) bool  { return s.Low <= r.Low && r.High <= s.High }
func (r Range) Hull(s Range) Range   { return Range{min(r.Low, s.Low), max(r.High, s.High)} }
func (r Range) Largest() float64     { return max(math.Abs(r.Low), math.Abs(r.High)) }
func EveryReal() Range               { return Range{-math.MaxFloat64, math.MaxFloat64} }

// RealRange returns the range of a Real.
func (t Type) RealRange() Range {
	switch {
	case t.Range != nil:
		return *t.Range
	case t.Exponent >= AnyExponent:
		return EveryReal()
	}
	return Range{-math.Ldexp(1, t.Exponent), math.Ldexp(1, t.Exponent)}
}
