package verify

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// arithmetic derives operations on numbers from what is known about their arguments.
type arithmetic struct{ *trail }

// rescale is the same number on a finer lattice.
func (c *arithmetic) rescale(x fact, e *tree.Rescale) fact {
	c.must(x.kind == tree.Number && e.Factor != nil && e.Factor.Sign() > 0, "a factor that is not positive, or of no number")
	c.must(e.Factor.Cmp(bits128) <= 0, "a factor of more than 127 bits")
	c.checkConstants(e, wide(e.Type()))
	out := x
	out.step = new(big.Rat).Quo(x.step, new(big.Rat).SetInt(e.Factor))
	if !x.never {
		out.lo, out.hi = new(big.Int).Mul(x.lo, e.Factor), new(big.Int).Mul(x.hi, e.Factor)
	}
	return out
}

// arith derives +, -, *, / and the operations of whole numbers.
func (c *arithmetic) arith(l, r fact, e *tree.Arith) fact {
	c.must(l.kind == r.kind, "%v and %v are computed with", l.kind, r.kind)
	var out fact
	switch {
	case l.kind == tree.Real:
		out = c.realArith(e, l, r)
	case l.kind != tree.Number:
		c.fail("%v is computed with", l.kind)
	case e.Op == tree.Mul:
		c.checkConstants(e, wide(e.Type()) || wide(e.L.Type()) || wide(e.R.Type()))
		out = times(l, r, same(e.L, e.R))
	case e.Op == tree.Add, e.Op == tree.Sub:
		c.must(sameStep(l.step, r.step), "numbers in steps of %v and of %v are added", l.step, r.step)
		out = plus(e.Op, l, r)
	case e.Op == tree.Quo, e.Op == tree.Rem:
		c.must(sameStep(l.step, whole) && sameStep(r.step, whole), "numbers that are not whole are divided")
		out = divided(e.Op, l, r)
	default:
		c.fail("no operation that is known here")
	}
	out.derived = l.derived || r.derived
	return out
}

func plus(op tree.ArithOp, l, r fact) fact {
	out := fact{kind: tree.Number, step: l.step, never: l.never || r.never}
	if out.never {
		return out
	}
	if op == tree.Add {
		out.lo, out.hi = new(big.Int).Add(l.lo, r.lo), new(big.Int).Add(l.hi, r.hi)
	} else {
		out.lo, out.hi = new(big.Int).Sub(l.lo, r.hi), new(big.Int).Sub(l.hi, r.lo)
	}
	return out
}

// times is a product, whose extremes are at the ends of both. What is multiplied with itself is not
// negative.
func times(l, r fact, square bool) fact {
	out := fact{kind: tree.Number, step: new(big.Rat).Mul(l.step, r.step), never: l.never || r.never}
	if out.never {
		return out
	}
	corners(&out, []*big.Int{l.lo, l.hi}, []*big.Int{r.lo, r.hi}, (*big.Int).Mul)
	if square && l.lo.Sign() <= 0 && l.hi.Sign() >= 0 {
		out.lo = zero
	}
	return out
}

// corners sets the ends of a fact to the extremes of an operation.
func corners(out *fact, xs, ys []*big.Int, f func(z, x, y *big.Int) *big.Int) {
	out.lo, out.hi = nil, nil
	for _, x := range xs {
		for _, y := range ys {
			z := f(new(big.Int), x, y)
			if out.lo == nil || z.Cmp(out.lo) < 0 {
				out.lo = z
			}
			if out.hi == nil || z.Cmp(out.hi) > 0 {
				out.hi = z
			}
		}
	}
}

// divided is a quotient or a remainder of whole numbers, towards zero, and NULL by zero.
func divided(op tree.ArithOp, l, r fact) fact {
	out := fact{kind: tree.Number, step: whole, never: l.never || r.never}
	if out.never {
		return out
	}
	var by []*big.Int // the extremes of the divisor, without zero
	if r.lo.Sign() < 0 {
		by = append(by, r.lo, lower(big.NewInt(-1), r.hi))
	}
	if r.hi.Sign() > 0 {
		by = append(by, r.hi, upper(unit, r.lo))
	}
	if len(by) == 0 {
		out.never = true
		return out
	}
	if op == tree.Quo {
		dividends := []*big.Int{l.lo, l.hi}
		if l.lo.Sign() < 0 && l.hi.Sign() > 0 {
			dividends = append(dividends, zero)
		}
		corners(&out, dividends, by, (*big.Int).Quo)
		return out
	}
	// A remainder has the sign of the dividend, is no larger than it, and is smaller than the
	// divisor.
	size := new(big.Int).Sub(r.farthest(), unit)
	out.lo, out.hi = zero, zero
	if l.lo.Sign() < 0 {
		out.lo = upper(l.lo, new(big.Int).Neg(size))
	}
	if l.hi.Sign() > 0 {
		out.hi = lower(l.hi, size)
	}
	return out
}

// checkConstants makes sure that the constants of a chain of products, put together, are still
// numbers of the width in which they are printed: an optimizer may multiply them with each other
// first, and overflow where no row does. One alone is a number as it is.
func (c *trail) checkConstants(e tree.Expr, wide bool, more ...*big.Int) {
	all := append(factors(e), more...)
	short, product := new(big.Int).Set(unit), new(big.Int).Set(unit)
	for _, n := range all {
		if product.Mul(product, n); n.Cmp(int64Max) <= 0 {
			short.Mul(short, n)
		}
	}
	c.must(len(all) < 2 || product.Cmp(bits128) <= 0 && (wide || short.Cmp(int64Max) <= 0), "the constants of a product overflow together")
}

// factors are the constants in a chain of products.
func factors(e tree.Expr) []*big.Int {
	switch e := e.(type) {
	case *tree.Literal:
		if e.Number != nil && e.Number.Sign() != 0 {
			return []*big.Int{new(big.Int).Abs(e.Number)}
		}
	case *tree.Rescale:
		return append(factors(e.X), e.Factor)
	case *tree.Arith:
		if e.Op == tree.Mul {
			return append(factors(e.L), factors(e.R)...)
		}
	}
	return nil
}

// same reports whether two expressions are the same function of a row. It compares what they are
// made of.
func same(a, b tree.Expr) bool {
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *tree.Column:
		b, ok := b.(*tree.Column)
		return ok && a.Index == b.Index
	case *tree.Literal:
		b, ok := b.(*tree.Literal)
		return ok && a.Number != nil && b.Number != nil && a.Number.Cmp(b.Number) == 0 && sameStep(a.Type().Step, b.Type().Step) ||
			ok && a.Text != nil && b.Text != nil && *a.Text == *b.Text || ok && a.Bool != nil && b.Bool != nil && *a.Bool == *b.Bool ||
			ok && a.Days != nil && b.Days != nil && *a.Days == *b.Days ||
			ok && a.Micros != nil && b.Micros != nil && *a.Micros == *b.Micros ||
			ok && a.IsNullLiteral() && b.IsNullLiteral()
	case *tree.Rescale:
		b, ok := b.(*tree.Rescale)
		return ok && a.Factor.Cmp(b.Factor) == 0 && same(a.X, b.X)
	case *tree.ToReal:
		b, ok := b.(*tree.ToReal)
		return ok && same(a.X, b.X)
	case *tree.Arith:
		b, ok := b.(*tree.Arith)
		return ok && a.Op == b.Op && same(a.L, b.L) && same(a.R, b.R)
	case *tree.Compare:
		b, ok := b.(*tree.Compare)
		return ok && a.Op == b.Op && same(a.L, b.L) && same(a.R, b.R)
	case *tree.Logic:
		b, ok := b.(*tree.Logic)
		return ok && a.Op == b.Op && sameAll(a.Args, b.Args)
	case *tree.Not:
		b, ok := b.(*tree.Not)
		return ok && same(a.X, b.X)
	case *tree.In:
		b, ok := b.(*tree.In)
		if !ok || len(a.List) != len(b.List) || !same(a.X, b.X) {
			return false
		}
		for i := range a.List {
			if !same(a.List[i], b.List[i]) {
				return false
			}
		}
		return true
	case *tree.IsNull:
		b, ok := b.(*tree.IsNull)
		return ok && same(a.X, b.X)
	case *tree.Case:
		b, ok := b.(*tree.Case)
		return ok && len(a.Whens) == len(b.Whens) && sameAll(parts(a), parts(b))
	case *tree.Call:
		b, ok := b.(*tree.Call)
		// A rounding is of its argument and its digits; all other functions are of their arguments
		// alone.
		return ok && a.Fn == b.Fn && sameAll(a.Args, b.Args)
	case *tree.Within:
		b, ok := b.(*tree.Within)
		return ok && sameType(a.Type(), b.Type()) && same(a.X, b.X)
	case *tree.Like:
		b, ok := b.(*tree.Like)
		if !ok || len(a.Pattern) != len(b.Pattern) || !same(a.X, b.X) {
			return false
		}
		for i := range a.Pattern {
			if a.Pattern[i] != b.Pattern[i] {
				return false
			}
		}
		return true
	case *tree.Exists: // the same where it is the same relation
		b, ok := b.(*tree.Exists)
		return ok && sameRows(a.From, b.From) && a.Outer == b.Outer &&
			(a.On == nil && b.On == nil || a.On != nil && b.On != nil && same(a.On, b.On))
	}
	return false
}

// sameRows reports whether two relations are one, or as many rows of each person of one.
func sameRows(a, b tree.Relation) bool {
	if a == b {
		return true
	}
	x, ok1 := a.(*tree.Cut)
	y, ok2 := b.(*tree.Cut)
	return ok1 && ok2 && x.Rows == y.Rows && sameRows(x.From, y.From)
}

func sameAll(a, b []tree.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// Sums, products, quotients and square roots of doubles are rounded correctly by every machine, and
// a correct rounding keeps the order of numbers. So the extremes of a result are the results at the
// extremes. Of logarithms and powers libraries say that they are off by a few of the last bits at
// most: their ends are moved outward by many more.

// margin is how far, in proportion, the ends of logarithms and powers are moved here: 256 times the
// last bit.
const margin = 0x1p-44

func outward(low, high float64) (float64, float64) {
	return low - margin*math.Abs(low), high + margin*math.Abs(high)
}

// asDouble is a number of steps as a double, in the two roundings of an engine.
func asDouble(n *big.Int, step *big.Rat) float64 {
	f := func(n *big.Int) float64 { x, _ := new(big.Float).SetInt(n).Float64(); return x }
	return f(n) * f(step.Num()) / f(step.Denom())
}

// toReal is a number on a lattice as a double.
func (c *arithmetic) toReal(x fact, e *tree.ToReal) fact {
	c.must(x.kind == tree.Number, "%v is turned into a real number", x.kind)
	out := fact{kind: tree.Real, never: x.never, derived: x.derived}
	if x.never {
		return out
	}
	out.low, out.high = asDouble(x.lo, x.step), asDouble(x.hi, x.step)
	if x.lo.CmpAbs(narrow) > 0 || x.hi.CmpAbs(narrow) > 0 {
		// The digits of 128 bits are rounded by a library.
		if x.lo.Sign() != 0 {
			out.low = math.Nextafter(out.low, math.Inf(-1))
		}
		if x.hi.Sign() != 0 {
			out.high = math.Nextafter(out.high, math.Inf(1))
		}
	}
	return out
}

// realArith derives an operation on doubles. None is near infinity, and no divisor is near zero
// without being zero.
func (c *arithmetic) realArith(e *tree.Arith, l, r fact) fact {
	out := fact{kind: tree.Real, never: l.never || r.never}
	if out.never {
		return out
	}
	for _, f := range []fact{l, r} {
		c.must(max(math.Abs(f.low), math.Abs(f.high)) < largestReal, "a real number that can be near infinity is computed with")
	}
	switch e.Op {
	case tree.Add:
		out.low, out.high = l.low+r.low, l.high+r.high
	case tree.Sub:
		out.low, out.high = l.low-r.high, l.high-r.low
	case tree.Mul:
		out.low, out.high = extremes(l, []float64{r.low, r.high}, func(x, y float64) float64 { return x * y })
	case tree.Div:
		by := c.divisors(e.R, r)
		if len(by) == 0 { // by zero, in every row
			out.never = true
			return out
		}
		out.low, out.high = extremes(l, by, func(x, y float64) float64 { return x / y })
	default:
		c.fail("no operation of real numbers that is known here")
	}
	c.must(max(math.Abs(out.low), math.Abs(out.high)) < largestReal, "a real number can come near infinity")
	return out
}

// divisors are the extremes of a divisor without zero. One that comes of a lattice is at least one
// step away from zero where it is not zero.
func (c *arithmetic) divisors(e tree.Expr, r fact) []float64 {
	if r.low > 0 || r.high < 0 {
		return []float64{r.low, r.high}
	}
	exact, ok := e.(*tree.ToReal)
	c.must(ok, "a divisor that could be as close to zero as numbers are")
	least := asDouble(unit, exact.X.Type().Step)
	c.must(least > 0, "a divisor that could be as close to zero as numbers are")
	var by []float64
	if r.high > 0 {
		by = append(by, min(least, r.high), r.high)
	}
	if r.low < 0 {
		by = append(by, r.low, max(-least, r.low))
	}
	return by
}

func extremes(l fact, ys []float64, f func(x, y float64) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range []float64{l.low, l.high} {
		for _, y := range ys {
			z := f(x, y)
			low, high = min(low, z), max(high, z)
		}
	}
	return low, high
}

// transcendental derives sqrt, ln, log10 and exp, where they are defined.
func (c *functions) transcendental(fn string, x fact) fact {
	c.must(x.kind == tree.Real, "%s of %v", fn, x.kind)
	out := fact{kind: tree.Real, never: x.never}
	if x.never {
		return out
	}
	switch fn {
	case "sqrt":
		c.must(x.low >= 0, "the root of a negative number")
		out.low, out.high = math.Sqrt(x.low), math.Sqrt(x.high)
	case "ln":
		c.must(x.low > 0, "the logarithm of a number that is not positive")
		out.low, out.high = outward(math.Log(x.low), math.Log(x.high))
	case "log10":
		c.must(x.low > 0, "the logarithm of a number that is not positive")
		out.low, out.high = outward(math.Log10(x.low), math.Log10(x.high))
	case "exp":
		c.must(x.high <= 600, "an exponential that can be near infinity")
		out.low, out.high = outward(math.Exp(x.low), math.Exp(x.high))
	}
	return out
}

// power is x to a constant, where that is defined.
func (c *functions) power(x, exponent fact) fact {
	c.must(x.kind == tree.Real && exponent.kind == tree.Real, "a power of what is no real number")
	out := fact{kind: tree.Real, never: x.never || exponent.never}
	if out.never {
		return out
	}
	y := exponent.low
	c.must(exponent.high == y && math.Abs(y) <= 1000, "an exponent that is no constant, or too large")
	c.must(y >= 0 || x.low > 0, "a negative power of zero or below")
	c.must(x.low >= 0 || y == math.Trunc(y), "a root of a negative number")
	a, b := math.Pow(x.low, y), math.Pow(x.high, y)
	out.low, out.high = outward(min(a, b), max(a, b))
	if x.low < 0 && x.high > 0 && y > 0 && math.Mod(y, 2) == 0 {
		out.low = 0 // an even power, in between
	}
	c.must(max(math.Abs(out.low), math.Abs(out.high)) < largestReal, "a power can come near infinity")
	return out
}
