package expr

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// No two constants of a product or a sum stand where an engine's optimizer could bring them
// together: (x * 4e9) * 4e9 is nothing that overflows where x is 0, and x * (4e9 * 4e9) is an error
// on the first row. So they are brought together here, in integers of any size. The value is the
// same for every row, NULL included, and so are lattice and interval.

// oneFactor brings the constants of a product together, of a type that stays as it is. A number
// that is never anything but 0 is multiplied by 0: what it was multiplied by may be larger than any
// number that an engine has.
func oneFactor(e tree.Expr) tree.Expr {
	y, f := tree.ConstantFactor(e)
	if y == e {
		return e
	}
	if tree.IsZero(y) {
		f = new(big.Int)
	}
	if r, ok := e.(*tree.Rescale); ok && r.X == y && !tree.IsZero(y) {
		return e
	}
	// The literal's step is what is left of the product's.
	t := e.Type()
	return &tree.Arith{Op: tree.Mul, L: y,
		R: &tree.Literal{Typ: tree.NumberType(new(big.Rat).Quo(t.Step, y.Type().Step), f, f, true), Number: f}, Typ: t}
}

// oneSummand brings the constants of a sum together, where what they make is a number that an
// engine has.
func oneSummand(e *tree.Arith) tree.Expr {
	c, ok := e.R.(*tree.Literal)
	if e.Op != tree.Add || !ok || c.Number == nil {
		return e
	}
	inner, ok := e.L.(*tree.Arith)
	if !ok || inner.Op != tree.Add || inner.Typ.Kind != tree.Number {
		return e
	}
	d, ok := inner.R.(*tree.Literal)
	if !ok || d.Number == nil {
		return e
	}
	n := new(big.Int).Add(c.Number, d.Number)
	sum := &tree.Literal{Typ: tree.NumberType(c.Typ.Step, n, n, true), Number: n}
	if sum.Typ.TooWide() {
		return e
	}
	return &tree.Arith{Op: tree.Add, L: inner.L, R: sum, Typ: e.Typ}
}
