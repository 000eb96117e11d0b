package plan

import (
	"cmp"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Value is the value of an expression: nil for NULL, *big.Int steps for a
// Number, float64 for a Real, string, bool, Day or Moment.
type Value any

// Day is a date in days since 1970-01-01.
type Day int64

func (d Day) String() string { return policy.FormatDate(int64(d)) }

// Eval computes an expression; leaf gives the values of its columns, of
// released values and of Exists. It is used on what has been released, to fold constants, and
// by tests as the reference for what every engine must compute.
func Eval(e Expr, leaf func(Expr) Value) Value {
	switch e := e.(type) {
	case *Column, *Released, *Exists:
		return leaf(e)
	case *Literal:
		return e.Value()
	case *Rescale:
		if x, ok := Eval(e.X, leaf).(*big.Int); ok {
			return new(big.Int).Mul(x, e.Factor)
		}
	case *ToReal:
		if x, ok := Eval(e.X, leaf).(*big.Int); ok {
			return asReal(x, e.X.Type().Step)
		}
	case *Arith:
		return evalArith(e.Op, Eval(e.L, leaf), Eval(e.R, leaf))
	case *Compare:
		l, r := Eval(e.L, leaf), Eval(e.R, leaf)
		if e.Op == Distinct || e.Op == NotDistinct {
			same := l == nil && r == nil || l != nil && r != nil && compareValues(l, r) == 0
			return same == (e.Op == NotDistinct)
		}
		if l == nil || r == nil {
			return nil
		}
		return e.Op.holds(compareValues(l, r))
	case *Logic:
		return evalLogic(e, leaf)
	case *Not:
		if x, ok := Eval(e.X, leaf).(bool); ok {
			return !x
		}
	case *In:
		x := Eval(e.X, leaf)
		if x == nil {
			return nil
		}
		for _, l := range e.List {
			if compareValues(x, l.Value()) == 0 {
				return true
			}
		}
		return false
	case *IsNull:
		return Eval(e.X, leaf) == nil
	case *Case:
		for _, w := range e.Whens {
			if Eval(w.If, leaf) == true {
				return Eval(w.Then, leaf)
			}
		}
		return Eval(e.Else, leaf)
	case *Call:
		return e.eval(leaf)
	case *Within:
		if x := Eval(e.X, leaf); x != nil && e.holds(x) {
			return x
		}
	case *Like:
		if x, ok := Eval(e.X, leaf).(string); ok {
			return e.matches(x)
		}
	}
	return nil
}

// Value returns the literal's value.
func (e *Literal) Value() Value {
	switch {
	case e.Number != nil:
		return e.Number
	case e.Text != nil:
		return *e.Text
	case e.Bool != nil:
		return *e.Bool
	case e.Days != nil:
		return Day(*e.Days)
	case e.Micros != nil:
		return Moment(*e.Micros)
	}
	return nil
}

func evalArith(op ArithOp, l, r Value) Value {
	if a, ok := l.(float64); ok {
		b, ok := r.(float64)
		if !ok {
			return nil
		}
		switch {
		case op == Add:
			return a + b
		case op == Sub:
			return a - b
		case op == Mul:
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
	case Add:
		return z.Add(a, b)
	case Sub:
		return z.Sub(a, b)
	case Mul:
		return z.Mul(a, b)
	}
	if b.Sign() == 0 {
		return nil
	}
	if op == Rem {
		return z.Rem(a, b)
	}
	return z.Quo(a, b)
}

func evalLogic(e *Logic, leaf func(Expr) Value) Value {
	decides := e.Op == Or // the value that settles it
	null := false
	for _, a := range e.Args {
		switch Eval(a, leaf) {
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

func (op CompareOp) holds(c int) bool {
	switch op {
	case Eq:
		return c == 0
	case Ne:
		return c != 0
	case Lt:
		return c < 0
	case Le:
		return c <= 0
	case Gt:
		return c > 0
	}
	return c >= 0
}

// compareValues orders two values of one type that are not NULL. Text is
// ordered by its bytes and false comes before true.
func compareValues(l, r Value) int {
	switch l := l.(type) {
	case *big.Int:
		return l.Cmp(r.(*big.Int))
	case float64:
		return cmp.Compare(l, r.(float64))
	case string:
		return strings.Compare(l, r.(string))
	case Day:
		return cmp.Compare(l, r.(Day))
	case Moment:
		return cmp.Compare(l, r.(Moment))
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
