package tree

import "math/big"

// ConstantFactor splits a number into an expression and what it is multiplied by: x is y times f. The number of steps of x is then
// f times that of y.
func ConstantFactor(x Expr) (y Expr, f *big.Int) {
	f = big.NewInt(1)
	for {
		switch e := x.(type) {
		case *Rescale:
			x, f = e.X, new(big.Int).Mul(f, e.Factor)
			continue
		case *Arith:
			if l, ok := e.R.(*Literal); ok && e.Op == Mul && l.Number != nil && e.Typ.Kind == Number {
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
	if y, f = ConstantFactor(x); IsZero(y) {
		f = new(big.Int)
	}
	return y, f
}

// IsZero reports whether a number is 0 or NULL, whatever the row.
func IsZero(x Expr) bool {
	t := x.Type()
	return t.Kind == Number && t.Lo.Sign() == 0 && t.Hi.Sign() == 0
}
