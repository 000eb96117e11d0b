package expr

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Functions of floating-point numbers. sqrt is the same on every machine; the others may
// differ in the last bits, which moves no sum by more than its rounding: a Real is
// rounded and clamped row by row before it is summed.

// maxReal is the largest value of exp and power; what is larger is NULL.
const maxReal = 1e250

func init() {
	for name, f := range map[string]struct {
		domain tree.Range
		eval   func(float64) float64
	}{
		"sqrt":  {tree.Range{Low: 0, High: math.MaxFloat64}, math.Sqrt},
		"ln":    {tree.Range{Low: smallest, High: math.MaxFloat64}, math.Log},
		"log10": {tree.Range{Low: smallest, High: math.MaxFloat64}, math.Log10},
		"exp":   {tree.Range{Low: -math.MaxFloat64, High: 575}, math.Exp},
	} {
		build := func(args []tree.Expr, pos int32) (tree.Expr, error) {
			x, err := need(name, args[0], pos, tree.Number, tree.Real)
			if err != nil {
				return nil, err
			}
			if x, err = domain(x, f.domain, pos); err != nil {
				return nil, err
			}
			if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
				return x, nil
			}
			r := x.Type().RealRange()
			ends := tree.Range{Low: f.eval(r.Low), High: f.eval(r.High)}
			if name != "sqrt" {
				ends = widened(ends.Low, ends.High)
			}
			return NewCall(name, realType(ends, x.Type().Declared), pos, x)
		}
		Registry[name] = function{1, 1, name + "(x)", build}
		nodes[name] = node{eval: func(_ *tree.Call, a []tree.Value) tree.Value { return f.eval(a[0].(float64)) }}
		if name == "log10" {
			Registry["log"] = Registry[name]
		}
	}
	Registry["power"] = function{2, 2, "power(x, 2)", newPower}
	Registry["pow"] = Registry["power"]
	nodes["power"] = node{eval: func(_ *tree.Call, a []tree.Value) tree.Value { return math.Pow(a[0].(float64), a[1].(float64)) }}
}

// domain restricts an argument to where a function is defined, and makes it a Real. A
// number on a lattice is restricted before: above zero means at least one step.
func domain(x tree.Expr, r tree.Range, pos int32) (tree.Expr, error) {
	t := x.Type()
	if t.Kind == tree.Real {
		return withinReal(x, r, false, pos)
	}
	lo, hi := new(big.Rat), new(big.Rat)
	lo.Quo(lo.SetFloat64(r.Low), t.Step)
	hi.Quo(hi.SetFloat64(r.High), t.Step)
	up := new(big.Int).Neg(lo.Num())
	up.Neg(up.Div(up, lo.Denom()))
	x, err := within(x, up, new(big.Int).Div(hi.Num(), hi.Denom()), false, pos)
	if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
		return NewNull(realType(tree.Range{}, true)), nil
	}
	if err != nil {
		return nil, err
	}
	return toReal(x), nil
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
	exponent := toReal(l)
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
