package plan

import (
	"math"
	"math/big"
	"slices"
)

// Range is the interval that a Real is proven to lie in. Sums, products, quotients and
// square roots are rounded in one way by every machine, and rounding keeps
// order, so the ends of a result are the results at the ends. Logarithms and powers
// may differ in the last bits between machines; their ends are moved outward by far more.
type Range struct{ Low, High float64 }

func (r Range) holds(x float64) bool { return r.Low <= x && x <= r.High }
func (r Range) inside(s Range) bool  { return s.Low <= r.Low && r.High <= s.High }
func (r Range) hull(s Range) Range   { return Range{min(r.Low, s.Low), max(r.High, s.High)} }
func (r Range) largest() float64     { return max(math.Abs(r.Low), math.Abs(r.High)) }
func everyReal() Range               { return Range{-math.MaxFloat64, math.MaxFloat64} }

// slack is how far, in proportion, the ends of logarithms and powers are moved.
const slack = 1.0 / (1 << 40)

// widened moves ends outward, by far more than libraries differ. The smallest doubles, of
// which only some bits are left, are not told apart.
func widened(low, high float64) Range {
	low, high = low-slack*math.Abs(low), high+slack*math.Abs(high)
	if math.Abs(low) < smallest {
		low = math.Floor(low/smallest) * smallest
	}
	if math.Abs(high) < smallest {
		high = math.Ceil(high/smallest) * smallest
	}
	return Range{low, high}
}

// smallest is the smallest positive double that has all of its bits.
const smallest = 0x1p-1022

func realType(r Range, declared bool) Type {
	if !(r.Low <= r.High) { // no range at all, such as that of infinity minus infinity
		r = Range{math.Inf(-1), math.Inf(1)}
	}
	t := Type{Kind: Real, Range: &r, Declared: declared, Exponent: anyExponent}
	if m := r.largest(); m <= math.MaxFloat64 {
		_, t.Exponent = math.Frexp(m)
	}
	return t
}

// real returns the range of a Real.
func (t Type) real() Range {
	switch {
	case t.Range != nil:
		return *t.Range
	case t.Exponent >= anyExponent:
		return everyReal()
	}
	return Range{-math.Ldexp(1, t.Exponent), math.Ldexp(1, t.Exponent)}
}

// realOf is the type of a Number that is turned into a Real.
func realOf(t Type) Type {
	r := Range{asReal(t.Lo, t.Step), asReal(t.Hi, t.Step)}
	if t.Wide() {
		// Above 64 bits an engine may round the last bit otherwise.
		// Zero is exact.
		if t.Lo.Sign() != 0 {
			r.Low = math.Nextafter(r.Low, math.Inf(-1))
		}
		if t.Hi.Sign() != 0 {
			r.High = math.Nextafter(r.High, math.Inf(1))
		}
	}
	return realType(r, t.Declared)
}

// asReal turns a number of steps into a double, with the same two roundings as an
// engine: to a double, then by the step.
func asReal(n *big.Int, step *big.Rat) float64 {
	f, _ := new(big.Float).SetPrec(53).SetInt(n).Float64()
	num, _ := new(big.Float).SetInt(step.Num()).Float64()
	den, _ := new(big.Float).SetInt(step.Denom()).Float64()
	return f * num / den
}

func stepSize(t Type) float64 { return asReal(big.NewInt(1), t.Step) }

// realArith is the range of an operation. A divisor is at least least away from zero
// where its own range holds zero.
func realArith(op ArithOp, a, b Range, least float64) Range {
	switch op {
	case Add:
		return Range{a.Low + b.Low, a.High + b.High}
	case Sub:
		return Range{a.Low - b.High, a.High - b.Low}
	case Mul:
		return corners(a, []float64{b.Low, b.High}, func(x, y float64) float64 { return x * y })
	}
	if !b.holds(0) {
		return corners(a, []float64{b.Low, b.High}, func(x, y float64) float64 { return x / y })
	}
	var ends []float64
	if b.High > 0 {
		ends = append(ends, min(least, b.High), b.High)
	}
	if b.Low < 0 {
		ends = append(ends, b.Low, max(-least, b.Low))
	}
	if len(ends) == 0 { // zero, always: every quotient is NULL
		return Range{}
	}
	return corners(a, ends, func(x, y float64) float64 { return x / y })
}

func corners(a Range, ends []float64, f func(x, y float64) float64) Range {
	var all []float64
	for _, x := range []float64{a.Low, a.High} {
		for _, y := range ends {
			all = append(all, f(x, y))
		}
	}
	return Range{slices.Min(all), slices.Max(all)}
}

func textType(length int) Type { return Type{Kind: Text, MaxLength: max(1, length)} }

// hull is the type of a value that is one of several, all of one kind and on one
// lattice. A NULL adds nothing.
func hull(of []Expr) Type {
	t := of[0].Type() // where all are NULL
	first := true
	for _, e := range of {
		if l, ok := e.(*Literal); ok && l.IsNullLiteral() {
			continue
		}
		u := e.Type()
		if first {
			t, first = u, false
			continue
		}
		t.loDeclared, t.hiDeclared = t.from() && u.from(), t.to() && u.to()
		t.Declared = t.Declared && u.Declared
		switch t.Kind {
		case Number:
			t.Lo, t.Hi = smaller(t.Lo, u.Lo), larger(t.Hi, u.Hi)
		case Real:
			t = realType(t.real().hull(u.real()), t.Declared)
		case Text:
			if t.MaxLength == 0 || u.MaxLength == 0 {
				t.MaxLength = 0
			}
			if t.MaxLength > 0 {
				t.MaxLength = max(t.MaxLength, u.MaxLength)
			}
		case Date, Timestamp:
			a, b := t.span()
			c, d := u.span()
			t.Lo, t.Hi = smaller(a, c), larger(b, d)
		}
	}
	return t
}

// from and to report whether the lower and the upper end follow from the policy and literals.
func (t Type) from() bool { return t.Declared || t.loDeclared }
func (t Type) to() bool   { return t.Declared || t.hiDeclared }

func smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}
