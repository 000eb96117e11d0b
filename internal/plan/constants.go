package plan

import "math/big"

// No two constants of a product or a sum stand where an engine's optimizer could bring them together: (x * 4e9) * 4e9 is nothing that
// overflows where x is 0, and x * (4e9 * 4e9) is an error on the first row. So they are brought together here, in
// integers of any size. The value is the same for every row, NULL included, and so are lattice and interval.

// withoutFactor splits a number into an expression and what it is multiplied by: x is y times f. The number of steps of x is then
// f times that of y.
func withoutFactor(x Expr) (y Expr, f *big.Int) {
	f = big.NewInt(1)
	for {
		switch e := x.(type) {
		case *Rescale:
			x, f = e.X, new(big.Int).Mul(f, e.Factor)
			continue
		case *Arith:
			if l, ok := e.R.(*Literal); ok && e.Op == Mul && l.Number != nil && e.typ.Kind == Number {
				x, f = e.L, new(big.Int).Mul(f, l.Number)
				continue
			}
		}
		return x, f
	}
}

// Factored splits a number into an expression and the whole number that its steps are multiplied by, so that an engine that multiplies
// by another one has one constant to write.
func Factored(x Expr) (y Expr, f *big.Int) {
	if y, f = withoutFactor(x); isZero(y) {
		f = new(big.Int)
	}
	return y, f
}

// isZero reports whether a number is 0 or NULL, whatever the row.
func isZero(x Expr) bool {
	t := x.Type()
	return t.Kind == Number && t.Lo.Sign() == 0 && t.Hi.Sign() == 0
}

// oneFactor brings the constants of a product together, of a type that stays as it is. A number that is never anything but 0 is multiplied
// by 0: what it was multiplied by may be larger than any number that an engine has.
func oneFactor(e Expr) Expr {
	y, f := withoutFactor(e)
	if y == e {
		return e
	}
	if isZero(y) {
		f = new(big.Int)
	}
	if r, ok := e.(*Rescale); ok && r.X == y && !isZero(y) {
		return e
	}
	// The literal's step is what is left of the product's.
	t := e.Type()
	return &Arith{Op: Mul, L: y, R: &Literal{typ: numberType(new(big.Rat).Quo(t.Step, y.Type().Step), f, f, true), Number: f}, typ: t}
}

// oneSummand brings the constants of a sum together, where what they make is a number that an engine has.
func oneSummand(e *Arith) Expr {
	c, ok := e.R.(*Literal)
	if e.Op != Add || !ok || c.Number == nil {
		return e
	}
	inner, ok := e.L.(*Arith)
	if !ok || inner.Op != Add || inner.typ.Kind != Number {
		return e
	}
	d, ok := inner.R.(*Literal)
	if !ok || d.Number == nil {
		return e
	}
	n := new(big.Int).Add(c.Number, d.Number)
	sum := &Literal{typ: numberType(c.typ.Step, n, n, true), Number: n}
	if sum.typ.tooWide() {
		return e
	}
	return &Arith{Op: Add, L: inner.L, R: sum, typ: e.typ}
}
