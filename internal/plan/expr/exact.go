package expr

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Exact is a floating-point expression as the exact number that it stands for: a cast of an exact
// number, and sums, differences, products and choices of such, and their quotients by a constant.
// What an engine adds up is then a whole number of steps, as without the cast. Where there is none,
// as of a quotient of two columns, it reports false.
func Exact(e tree.Expr, pos int32) (tree.Expr, bool) {
	if e.Type().Kind == tree.Number {
		return e, true
	}
	switch x := e.(type) {
	case *tree.ToReal:
		return x.X, true
	case *tree.Arith:
		return exactArith(x, pos)
	case *tree.Case:
		return exactCase(x, pos)
	case *tree.Call:
		switch x.Fn {
		case "coalesce", "nullif", "greatest", "least", "abs":
			args, ok := exactAll(x.Args, pos)
			if !ok {
				return nil, false
			}
			out, err := Named(x.Fn, args, pos)
			return out, err == nil && out.Type().Kind == tree.Number
		}
	}
	return nil, false
}

func exactArith(e *tree.Arith, pos int32) (tree.Expr, bool) {
	l, ok1 := Exact(e.L, pos)
	r, ok2 := Exact(e.R, pos)
	if !ok1 || !ok2 {
		return nil, false
	}
	op := e.Op
	if op == tree.Div {
		c, ok := Constant(r)
		if !ok || c.Number == nil || c.Number.Sign() == 0 {
			return nil, false
		}
		value := new(big.Rat).Mul(new(big.Rat).SetInt(c.Number), c.Typ.Step)
		op, r = tree.Mul, NewNumber(value.Inv(value))
	}
	out, err := NewArith(op, l, r, pos)
	return out, err == nil && out.Type().Kind == tree.Number
}

func exactCase(e *tree.Case, pos int32) (tree.Expr, bool) {
	values := make([]tree.Expr, len(e.Whens), len(e.Whens)+1)
	for i, w := range e.Whens {
		values[i] = w.Then
	}
	values, ok := exactAll(append(values, e.Else), pos)
	if !ok {
		return nil, false
	}
	whens := make([]tree.When, len(e.Whens))
	for i, w := range e.Whens {
		whens[i] = tree.When{If: w.If, Then: values[i]}
	}
	out, err := NewCase(whens, values[len(whens)], pos)
	return out, err == nil && out.Type().Kind == tree.Number
}

// exactAll is [Exact] of each. A NULL is one of any kind.
func exactAll(all []tree.Expr, pos int32) ([]tree.Expr, bool) {
	out := make([]tree.Expr, len(all))
	for i, e := range all {
		if l, ok := e.(*tree.Literal); ok && l.IsNullLiteral() {
			out[i] = NewNull(tree.Type{})
			continue
		}
		var ok bool
		if out[i], ok = Exact(e, pos); !ok {
			return nil, false
		}
	}
	return out, true
}

// Numeric is a whole number that divides as PostgreSQL's numeric does, and not as its integers: the
// same number, times 1.0, which [Normal] leaves out again.
func Numeric(e tree.Expr, pos int32) (tree.Expr, error) {
	if !e.Type().Integer() || Pointed(e) {
		return e, nil
	}
	one := NewNumber(tree.One)
	one.Point = true
	return NewArith(tree.Mul, e, one, pos)
}

// Plain is an expression without the mark of [Numeric].
func Plain(e tree.Expr) tree.Expr {
	if a, ok := e.(*tree.Arith); ok && a.Op == tree.Mul && a.Typ.Integer() {
		if l, ok := a.R.(*tree.Literal); ok && l.Point && IsNumber(l, 1) && a.L.Type().Integer() {
			return a.L
		}
	}
	return e
}
