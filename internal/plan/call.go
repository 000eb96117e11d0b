package plan

import (
	"fmt"
	"math/big"
)

// Call is a function of the table in function.go, on arguments for which it is
// defined: what is not is NULL, and a Within below says so. Arguments that the
// table wants as constants are literals.
type Call struct {
	Fn   string
	Args []Expr
	typ  Type
}

// Within is X where it lies in the interval of the type, and NULL elsewhere. It makes
// partial functions total: a square root is that of a number that is NULL below zero.
type Within struct {
	X   Expr
	typ Type
}

// newCall makes a node, or refuses one that is too wide or too large.
func newCall(fn string, t Type, pos int32, args ...Expr) (Expr, error) {
	e := &Call{Fn: fn, Args: args, typ: t}
	if err := notTooLarge(e, pos); err != nil {
		return nil, err
	}
	return checked(e, pos)
}

func (e *Call) eval(leaf func(Expr) Value) Value {
	f := nodes[e.Fn]
	args := make([]Value, len(e.Args))
	for i, a := range e.Args {
		if args[i] = Eval(a, leaf); args[i] == nil && !f.nulls {
			return nil
		}
	}
	return f.eval(e, args)
}

// within restricts a number or a time to an interval, in steps. It changes nothing where the
// value cannot be outside.
func within(x Expr, lo, hi *big.Int, declared bool, pos int32) (Expr, error) {
	t := x.Type()
	from, to := t.Lo, t.Hi
	if t.Kind != Number {
		from, to = t.span()
	}
	if from.Cmp(lo) >= 0 && to.Cmp(hi) <= 0 {
		return x, nil
	}
	t.Lo, t.Hi = larger(from, lo), smaller(to, hi)
	t.Declared = t.Declared || declared
	if t.Lo.Cmp(t.Hi) > 0 { // never inside
		t.Lo, t.Hi = new(big.Int), new(big.Int)
		return newNull(t), nil
	}
	e := &Within{X: x, typ: t}
	return e, notTooLarge(e, pos)
}

// withinReal is within for a Real.
func withinReal(x Expr, r Range, declared bool, pos int32) (Expr, error) {
	t := x.Type()
	have := t.real()
	if have.inside(r) {
		return x, nil
	}
	r = Range{max(have.Low, r.Low), min(have.High, r.High)}
	if r.Low > r.High {
		return newNull(realType(Range{}, true)), nil
	}
	e := &Within{X: x, typ: realType(r, t.Declared || declared)}
	return e, notTooLarge(e, pos)
}

func (e *Within) holds(v Value) bool {
	switch v := v.(type) {
	case *big.Int:
		return e.typ.Lo.Cmp(v) <= 0 && v.Cmp(e.typ.Hi) <= 0
	case float64:
		return e.typ.Range.holds(v)
	case Day:
		return e.typ.Lo.Cmp(big.NewInt(int64(v))) <= 0 && e.typ.Hi.Cmp(big.NewInt(int64(v))) >= 0
	case Moment:
		return e.typ.Lo.Cmp(big.NewInt(int64(v))) <= 0 && e.typ.Hi.Cmp(big.NewInt(int64(v))) >= 0
	}
	return false
}

// ends writes the interval in one spelling.
func (e *Within) ends() string {
	if r := e.typ.Range; r != nil {
		return fmt.Sprintf("[%x..%x]", r.Low, r.High)
	}
	return fmt.Sprintf("[%v..%v]", e.typ.Lo, e.typ.Hi)
}

// mayVanish reports whether a node can be NULL where nothing below it is.
func mayVanish(e Expr) bool {
	switch e := e.(type) {
	case *Within:
		return true
	case *Call:
		return nodes[e.Fn].vanishes
	}
	return false
}

// copies is how often an engine may write a part of a node.
func copies(e Expr, part int) int {
	switch e := e.(type) {
	case *Within:
		return 2
	case *Arith:
		if part == 1 && (e.Op == Div || e.Op == Quo || e.Op == Rem) {
			return 2 // the divisor is looked at before
		}
	case *Call:
		return max(1, nodes[e.Fn].copies)
	}
	return 1
}
