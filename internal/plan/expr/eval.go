package expr

import (
	"cmp"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Eval computes an expression; leaf gives the values of its columns, of
// released values and of Exists. It is used on what has been released, and
// by tests as the reference for what every engine must compute.
func Eval(e tree.Expr, leaf func(tree.Expr) tree.Value) tree.Value {
	return evaluation{nil, leaf}.value(e)
}

// Compute is Eval for who plans: what it takes is counted.
func Compute(m *meter.Meter, e tree.Expr, leaf func(tree.Expr) tree.Value) tree.Value {
	return evaluation{m, leaf}.value(e)
}

// evaluation computes one expression.
type evaluation struct {
	meter *meter.Meter
	leaf  func(tree.Expr) tree.Value
}

func (v evaluation) value(e tree.Expr) tree.Value {
	v.meter.Work(1, meter.Computed)
	switch e := e.(type) {
	case *tree.Column, *tree.Released, *tree.Exists:
		return v.leaf(e)
	case *tree.Literal:
		v.meter.Build(16)
		return e.Value()
	case *tree.Rescale:
		v.meter.Build(meter.Number)
		if x, ok := v.value(e.X).(*big.Int); ok {
			return new(big.Int).Mul(x, e.Factor)
		}
	case *tree.ToReal:
		v.meter.Work(2, meter.Computed)
		v.meter.Build(2 * meter.Number)
		if x, ok := v.value(e.X).(*big.Int); ok {
			return asReal(x, e.X.Type().Step)
		}
	case *tree.Arith:
		v.meter.Build(meter.Number)
		return evalArith(e.Op, v.value(e.L), v.value(e.R))
	case *tree.Compare:
		l, r := v.value(e.L), v.value(e.R)
		if e.Op == tree.Distinct || e.Op == tree.NotDistinct {
			same := l == nil && r == nil || l != nil && r != nil && CompareValues(l, r) == 0
			return same == (e.Op == tree.NotDistinct)
		}
		if l == nil || r == nil {
			return nil
		}
		return decides(e.Op, CompareValues(l, r))
	case *tree.Logic:
		return v.logic(e)
	case *tree.Not:
		if x, ok := v.value(e.X).(bool); ok {
			return !x
		}
	case *tree.In:
		x := v.value(e.X)
		if x == nil {
			return nil
		}
		v.meter.Work(len(e.List), meter.Computed)
		for _, l := range e.List {
			if CompareValues(x, l.Value()) == 0 {
				return true
			}
		}
		return false
	case *tree.IsNull:
		return v.value(e.X) == nil
	case *tree.Case:
		for _, w := range e.Whens {
			if v.value(w.If) == true {
				return v.value(w.Then)
			}
		}
		return v.value(e.Else)
	case *tree.Call:
		return v.call(e)
	case *tree.Within:
		if x := v.value(e.X); x != nil && isWithin(e, x) {
			return x
		}
	case *tree.Like:
		if x, ok := v.value(e.X).(string); ok {
			v.meter.Work(len(x)*(len(e.Pattern)+1), meter.Liked)
			return matches(e, x)
		}
	}
	return nil
}

func evalArith(op tree.ArithOp, l, r tree.Value) tree.Value {
	if a, ok := l.(float64); ok {
		b, ok := r.(float64)
		if !ok {
			return nil
		}
		switch {
		case op == tree.Add:
			return a + b
		case op == tree.Sub:
			return a - b
		case op == tree.Mul:
			return a * b
		case b == 0:
			return nil
		}
		return a / b
	}
	a, ok1 := l.(*big.Int)
	b, ok2 := r.(*big.Int)
	if !ok1 || !ok2 {
		return nil
	}
	z := new(big.Int)
	switch op {
	case tree.Add:
		return z.Add(a, b)
	case tree.Sub:
		return z.Sub(a, b)
	case tree.Mul:
		return z.Mul(a, b)
	}
	if b.Sign() == 0 {
		return nil
	}
	if op == tree.Rem {
		return z.Rem(a, b)
	}
	return z.Quo(a, b)
}

func (v evaluation) logic(e *tree.Logic) tree.Value {
	decides := e.Op == tree.Or // the value that settles it
	null := false
	for _, a := range e.Args {
		switch v.value(a) {
		case decides:
			return decides
		case nil:
			null = true
		}
	}
	if null {
		return nil
	}
	return !decides
}

func decides(op tree.CompareOp, c int) bool {
	switch op {
	case tree.Eq:
		return c == 0
	case tree.Ne:
		return c != 0
	case tree.Lt:
		return c < 0
	case tree.Le:
		return c <= 0
	case tree.Gt:
		return c > 0
	}
	return c >= 0
}

// CompareValues orders two values of one type that are not NULL. Text is
// ordered by its bytes and false comes before true.
func CompareValues(l, r tree.Value) int {
	switch l := l.(type) {
	case *big.Int:
		return l.Cmp(r.(*big.Int))
	case float64:
		return cmp.Compare(l, r.(float64))
	case string:
		return strings.Compare(l, r.(string))
	case tree.Day:
		return cmp.Compare(l, r.(tree.Day))
	case tree.Moment:
		return cmp.Compare(l, r.(tree.Moment))
	case bool:
		if l == r.(bool) {
			return 0
		} else if l {
			return 1
		}
		return -1
	}
	panic("plan: a value of no type")
}

// CompareRows orders two rows of released values by ORDER BY; the leaves give each
// row's values.
func CompareRows(order []tree.Order, a, b func(tree.Expr) tree.Value) int {
	x, y := make([]tree.Value, len(order)), make([]tree.Value, len(order))
	for i, o := range order {
		x[i], y[i] = Eval(o.By, a), Eval(o.By, b)
	}
	return CompareOrdered(order, x, y)
}

// CompareOrdered is CompareRows for what each row has for the items of ORDER BY.
func CompareOrdered(order []tree.Order, a, b []tree.Value) int {
	for i, o := range order {
		l, r := a[i], b[i]
		c := 0
		switch {
		case l == nil && r == nil:
			continue
		case l == nil || r == nil:
			// Where NULLs stand does not depend on the direction.
			if (l == nil) == o.NullsFirst {
				return -1
			}
			return 1
		default:
			c = CompareValues(l, r)
		}
		if o.Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}
