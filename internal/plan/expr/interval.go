package expr

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// slack is how far, in proportion, the ends of logarithms and powers are moved.
const slack = 1.0 / (1 << 40)

// widened moves ends outward, by far more than libraries differ. The smallest doubles, of
// which only some bits are left, are not told apart.
func widened(low, high float64) tree.Range {
	low, high = low-slack*math.Abs(low), high+slack*math.Abs(high)
	if math.Abs(low) < smallest {
		low = math.Floor(low/smallest) * smallest
	}
	if math.Abs(high) < smallest {
		high = math.Ceil(high/smallest) * smallest
	}
	return tree.Range{Low: low, High: high}
}

// smallest is the smallest positive double that has all of its bits.
const smallest = 0x1p-1022

func realType(r tree.Range, declared bool) tree.Type {
	if !(r.Low <= r.High) { // no range at all, such as that of infinity minus infinity
		r = tree.Range{Low: math.Inf(-1), High: math.Inf(1)}
	}
	t := tree.Type{Kind: tree.Real, Range: &r, Declared: declared, Exponent: tree.AnyExponent}
	if m := r.Largest(); m <= math.MaxFloat64 {
		_, t.Exponent = math.Frexp(m)
	}
	return t
}

// realOf is the type of a Number that is turned into a Real.
func realOf(t tree.Type) tree.Type {
	r := tree.Range{Low: asReal(t.Lo, t.Step), High: asReal(t.Hi, t.Step)}
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

func stepSize(t tree.Type) float64 { return asReal(big.NewInt(1), t.Step) }

// realArith is the range of an operation. A divisor is at least least away from zero
// where its own range holds zero.
func realArith(op tree.ArithOp, a, b tree.Range, least float64) tree.Range {
	switch op {
	case tree.Add:
		return tree.Range{Low: a.Low + b.Low, High: a.High + b.High}
	case tree.Sub:
		return tree.Range{Low: a.Low - b.High, High: a.High - b.Low}
	case tree.Mul:
		return corners(a, []float64{b.Low, b.High}, func(x, y float64) float64 { return x * y })
	}
	if !b.Holds(0) {
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
		return tree.Range{}
	}
	return corners(a, ends, func(x, y float64) float64 { return x / y })
}

func corners(a tree.Range, ends []float64, f func(x, y float64) float64) tree.Range {
	var all []float64
	for _, x := range []float64{a.Low, a.High} {
		for _, y := range ends {
			all = append(all, f(x, y))
		}
	}
	return tree.Range{Low: slices.Min(all), High: slices.Max(all)}
}

func textType(length int) tree.Type { return tree.Type{Kind: tree.Text, MaxLength: max(1, length)} }

// Hull is the type of a value that is one of several, all of one kind and on one
// lattice. A NULL adds nothing.
func Hull(of []tree.Expr) tree.Type {
	t := of[0].Type() // where all are NULL
	first := true
	for _, e := range of {
		if l, ok := e.(*tree.Literal); ok && l.IsNullLiteral() {
			continue
		}
		u := e.Type()
		if first {
			t, first = u, false
			continue
		}
		t.LoDeclared, t.HiDeclared = t.LoIsDeclared() && u.LoIsDeclared(), t.HiIsDeclared() && u.HiIsDeclared()
		t.Declared = t.Declared && u.Declared
		switch t.Kind {
		case tree.Number:
			t.Lo, t.Hi = Smaller(t.Lo, u.Lo), Larger(t.Hi, u.Hi)
		case tree.Real:
			t = realType(t.RealRange().Hull(u.RealRange()), t.Declared)
		case tree.Text:
			if t.MaxLength == 0 || u.MaxLength == 0 {
				t.MaxLength = 0
			}
			if t.MaxLength > 0 {
				t.MaxLength = max(t.MaxLength, u.MaxLength)
			}
		case tree.Date, tree.Timestamp:
			a, b := t.Span()
			c, d := u.Span()
			t.Lo, t.Hi = Smaller(a, c), Larger(b, d)
		}
	}
	return t
}

func Smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func Larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}
