package verify

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// rescale is the same number on a finer lattice.
func (c *checker) rescale(x fact, e *tree.Rescale) fact {
	c.must(x.kind == tree.Number && e.Factor != nil && e.Factor.Sign() > 0, "a factor that is not positive, or of no number")
	c.must(e.Factor.Cmp(bits128) <= 0, "a factor of more than 127 bits")
	c.constants(e, wide(e.Type()))
	out := x
	out.step = new(big.Rat).Quo(x.step, new(big.Rat).SetInt(e.Factor))
	if !x.never {
		out.lo, out.hi = new(big.Int).Mul(x.lo, e.Factor), new(big.Int).Mul(x.hi, e.Factor)
	}
	return out
}

// arith derives +, -, *, / and the operations of whole numbers.
func (c *checker) arith(s *scope, e *tree.Arith) fact {
	l, r := c.expr(s, e.L), c.expr(s, e.R)
	c.must(l.kind == r.kind, "%v and %v are computed with", l.kind, r.kind)
	var out fact
	switch {
	case l.kind == tree.Real:
		out = c.realArith(e, l, r)
	case l.kind != tree.Number:
		c.fail("%v is computed with", l.kind)
	case e.Op == tree.Mul:
		c.constants(e, wide(e.Type()) || wide(e.L.Type()) || wide(e.R.Type()))
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

// constants makes sure that the constants of a chain of products, put together, are still numbers
// of the width in which they are printed: an optimizer may multiply them with each other first, and
// overflow where no row does. One alone is a number as it is.
func (c *checker) constants(e tree.Expr, wide bool, more ...*big.Int) {
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
