package expr

import (
	"math"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Functions of floating-point numbers. sqrt is the same on every machine; the others may
// differ in the last bits, which moves no sum by more than its rounding: a Real is
// rounded and clamped row by row before it is summed.

// maxReal is the largest value of exp and power; what is larger is NULL.
const maxReal = 1e250

func realFunctions() []Function {
	row := func(names string, within tree.Range, compute func(float64) float64) Function {
		name, _, _ := strings.Cut(names, " ")
		return Function{
			names: names, Usage: name + "(x)", least: 1, most: 1, Signature: Signature{Gives: "decimal"},
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) {
				x, err := need(name, args[0], pos, tree.Number, tree.Real)
				if err != nil {
					return nil, err
				}
				if x, err = domain(x, within, pos); err != nil {
					return nil, err
				}
				if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
					return x, nil
				}
				r := x.Type().RealRange()
				ends := tree.Range{Low: compute(r.Low), High: compute(r.High)}
				if name != "sqrt" {
					ends = widened(ends.Low, ends.High)
				}
				return NewCall(name, realType(ends, x.Type().Declared), pos, x)
			},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value { return compute(a[0].(float64)) },
		}
	}
	positive := tree.Range{Low: smallest, High: math.MaxFloat64}
	return []Function{
		row("sqrt", tree.Range{Low: 0, High: math.MaxFloat64}, math.Sqrt), row("ln", positive, math.Log),
		row("log10 log", positive, math.Log10),
		row("exp", tree.Range{Low: -math.MaxFloat64, High: 575}, math.Exp),
		{
			names: "power pow", Usage: "power(x, 2)", least: 2, most: 2, build: newPower, Signature: Signature{Gives: "decimal"},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value { return math.Pow(a[0].(float64), a[1].(float64)) },
		},
	}
}

// domain restricts an argument to where a function is defined, and makes it a Real. A
// number on a lattice is restricted before: above zero means at least one step.
func domain(x tree.Expr, r tree.Range, pos int32) (tree.Expr, error) {
	t := x.Type()
	if t.Kind == tree.Real {
		return restrictReal(x, r, false, pos)
	}
	lo, hi := new(big.Rat), new(big.Rat)
	lo.Quo(lo.SetFloat64(r.Low), t.Step)
	hi.Quo(hi.SetFloat64(r.High), t.Step)
	up := new(big.Int).Neg(lo.Num())
	up.Neg(up.Div(up, lo.Denom()))
	x, err := restrict(x, up, new(big.Int).Div(hi.Num(), hi.Denom()), false, pos)
	if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
		return NewNull(realType(tree.Range{}, true)), nil
	}
	if err != nil {
		return nil, err
	}
	return Real(x), nil
}

// newPower raises to a constant power.
func newPower(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need("power", args[0], pos, tree.Number, tree.Real)
	if err != nil {
		return nil, err
	}
	l, ok := Constant(AdoptNumber(args[1]))
	if !ok || l.Number == nil {
		return nil, syntax.Refuse(pos, "write power(x, 2) or power(x, 0.5)", "the exponent must be a constant number")
	}
	exponent := Real(l)
	y := exponent.Type().RealRange().High
	if math.Abs(y) > 1000 {
		return nil, syntax.Refuse(pos, "write power(x, 2) or power(x, 0.5)", "the exponent must be between -1000 and 1000")
	}
	whole := y == math.Trunc(y)
	d := tree.EveryReal()
	switch limit := math.Pow(maxReal, 1/y); {
	case y < 0:
		d = tree.Range{Low: max(limit, smallest), High: math.MaxFloat64}
	case y > 0 && whole:
		d = tree.Range{Low: -min(limit, math.MaxFloat64), High: min(limit, math.MaxFloat64)}
	case y > 0:
		d = tree.Range{Low: 0, High: min(limit, math.MaxFloat64)}
	}
	if x, err = domain(x, d, pos); err != nil {
		return nil, err
	}
	if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
		return x, nil
	}
	r := x.Type().RealRange()
	a, b := math.Pow(r.Low, y), math.Pow(r.High, y)
	ends := widened(min(a, b), max(a, b))
	if r.Holds(0) && r.Low < 0 && math.Mod(y, 2) == 0 && y > 0 {
		ends.Low = 0
	}
	return NewCall("power", realType(ends, x.Type().Declared), pos, x, exponent)
}
