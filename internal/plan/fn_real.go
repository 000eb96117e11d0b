package plan

import (
	"math"
	"math/big"
)

// Functions of floating-point numbers. sqrt is the same on every machine; the others may
// differ in the last bits, which moves no sum by more than its rounding: a Real is
// rounded and clamped row by row before it is summed.

// maxReal is the largest value of exp and power; what is larger is NULL.
const maxReal = 1e250

func init() {
	for name, f := range map[string]struct {
		domain Range
		eval   func(float64) float64
	}{
		"sqrt":  {Range{0, math.MaxFloat64}, math.Sqrt},
		"ln":    {Range{smallest, math.MaxFloat64}, math.Log},
		"log10": {Range{smallest, math.MaxFloat64}, math.Log10},
		"exp":   {Range{-math.MaxFloat64, 575}, math.Exp},
	} {
		build := func(args []Expr, pos int32) (Expr, error) {
			x, err := need(name, args[0], pos, Number, Real)
			if err != nil {
				return nil, err
			}
			if x, err = domain(x, f.domain, pos); err != nil {
				return nil, err
			}
			if l, ok := x.(*Literal); ok && l.IsNullLiteral() {
				return x, nil
			}
			r := x.Type().real()
			ends := Range{f.eval(r.Low), f.eval(r.High)}
			if name != "sqrt" {
				ends = widened(ends.Low, ends.High)
			}
			return newCall(name, realType(ends, x.Type().Declared), pos, x)
		}
		functions[name] = function{1, 1, name + "(x)", build}
		nodes[name] = node{eval: func(_ *Call, a []Value) Value { return f.eval(a[0].(float64)) }}
		if name == "log10" {
			functions["log"] = functions[name]
		}
	}
	functions["power"] = function{2, 2, "power(x, 2)", newPower}
	functions["pow"] = functions["power"]
	nodes["power"] = node{eval: func(_ *Call, a []Value) Value { return math.Pow(a[0].(float64), a[1].(float64)) }}
}

// domain restricts an argument to where a function is defined, and makes it a Real. A
// number on a lattice is restricted before: above zero means at least one step.
func domain(x Expr, r Range, pos int32) (Expr, error) {
	t := x.Type()
	if t.Kind == Real {
		return withinReal(x, r, false, pos)
	}
	lo, hi := new(big.Rat), new(big.Rat)
	lo.Quo(lo.SetFloat64(r.Low), t.Step)
	hi.Quo(hi.SetFloat64(r.High), t.Step)
	up := new(big.Int).Neg(lo.Num())
	up.Neg(up.Div(up, lo.Denom()))
	x, err := within(x, up, new(big.Int).Div(hi.Num(), hi.Denom()), false, pos)
	if l, ok := x.(*Literal); ok && l.IsNullLiteral() {
		return newNull(realType(Range{}, true)), nil
	}
	if err != nil {
		return nil, err
	}
	return toReal(x), nil
}

// newPower raises to a constant power.
func newPower(args []Expr, pos int32) (Expr, error) {
	x, err := need("power", args[0], pos, Number, Real)
	if err != nil {
		return nil, err
	}
	l, ok := constant(adoptNumber(args[1]))
	if !ok || l.Number == nil {
		return nil, refuse(pos, "write power(x, 2) or power(x, 0.5)", "the exponent must be a constant number")
	}
	exponent := toReal(l)
	y := exponent.Type().real().High
	if math.Abs(y) > 1000 {
		return nil, refuse(pos, "write power(x, 2) or power(x, 0.5)", "the exponent must be between -1000 and 1000")
	}
	whole := y == math.Trunc(y)
	d := everyReal()
	switch limit := math.Pow(maxReal, 1/y); {
	case y < 0:
		d = Range{max(limit, smallest), math.MaxFloat64}
	case y > 0 && whole:
		d = Range{-min(limit, math.MaxFloat64), min(limit, math.MaxFloat64)}
	case y > 0:
		d = Range{0, min(limit, math.MaxFloat64)}
	}
	if x, err = domain(x, d, pos); err != nil {
		return nil, err
	}
	if l, ok := x.(*Literal); ok && l.IsNullLiteral() {
		return x, nil
	}
	r := x.Type().real()
	a, b := math.Pow(r.Low, y), math.Pow(r.High, y)
	ends := widened(min(a, b), max(a, b))
	if r.holds(0) && r.Low < 0 && math.Mod(y, 2) == 0 && y > 0 {
		ends.Low = 0
	}
	return newCall("power", realType(ends, x.Type().Declared), pos, x, exponent)
}
