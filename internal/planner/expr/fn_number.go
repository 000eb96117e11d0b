package expr

import (
	"math"
	"math/big"
	"math/bits"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

func numberFunctions() []Function {
	rounding := func(name, fn, usage string, most int) Function {
		f := Function{names: name, Usage: usage, least: 1, most: most, Signature: Signature{"- integer", "alike"}, copies: 3,
			scratch: 320}
		f.build = func(args []tree.Expr, pos int32) (tree.Expr, error) {
			x, err := requireKind(name, args[0], pos, tree.Number, tree.Real)
			if err != nil {
				return nil, err
			}
			digits := int64(0)
			if len(args) == 2 {
				if digits, err = wholeConstant(args[1], -tree.MaxDigits, tree.MaxDigits, "round(x, 2)", pos); err != nil {
					return nil, err
				}
			}
			return newRounding(fn, x, int(digits), pos)
		}
		if fn == name {
			f.eval = evalRounding
		}
		return f
	}
	return []Function{
		{
			names: "abs", Usage: "abs(x)", least: 1, most: 1, build: newAbs, Signature: Signature{Gives: "alike"},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				if f, ok := a[0].(float64); ok {
					return math.Abs(f)
				}
				return new(big.Int).Abs(a[0].(*big.Int))
			},
		},
		{
			names: "sign", Usage: "sign(x)", least: 1, most: 1, build: newSign,
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				if f, ok := a[0].(float64); ok {
					return big.NewInt(int64(big.NewFloat(f).Sign()))
				}
				return big.NewInt(int64(a[0].(*big.Int).Sign()))
			},
		},
		rounding("round", "round", "round(x) or round(x, 2)", 2), rounding("trunc", "trunc", "trunc(x) or trunc(x, 2)", 2),
		rounding("floor", "floor", "floor(x)", 1), rounding("ceil", "ceil", "ceil(x)", 1), rounding("ceiling", "ceil", "ceiling(x)", 1),
		{
			names: "mod", Usage: "mod(x, y)", least: 2, most: 2, Signature: Signature{"alike", "alike"},
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) {
				return NewArith(tree.Rem, AdoptNumber(args[0]), AdoptNumber(args[1]), pos)
			},
		},
		{names: "width_bucket", Usage: "width_bucket(x, 0, 100, 10) or width_bucket(x, ARRAY[18, 40, 65])", least: 4, most: 4,
			build: newWidthBucket, Signature: Signature{Gives: "integer"}},
	}
}

func newAbs(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := requireKind("abs", args[0], pos, tree.Number, tree.Real)
	if err != nil {
		return nil, err
	}
	t := x.Type()
	if t.Kind == tree.Real {
		r := t.RealRange()
		low := 0.0
		if !r.Holds(0) {
			low = min(math.Abs(r.Low), math.Abs(r.High))
		}
		return NewCall("abs", realType(tree.Range{Low: low, High: r.Largest()}, t.Declared), pos, x)
	}
	low := new(big.Int)
	if t.Lo.Sign() > 0 || t.Hi.Sign() < 0 {
		low = Smaller(new(big.Int).Abs(t.Lo), new(big.Int).Abs(t.Hi))
	}
	return NewCall("abs", tree.NumberType(t.Step, low, MaxAbs(t), t.Declared), pos, x)
}

func newSign(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := requireKind("sign", args[0], pos, tree.Number, tree.Real)
	if err != nil {
		return nil, err
	}
	return NewCall("sign", tree.NumberType(tree.One, big.NewInt(-1), big.NewInt(1), true), pos, x)
}

// newRounding rounds to a multiple of 10^-digits. A Real becomes a Number here: row by row, and
// before any sum. One that could be beyond 2^100 steps is NULL there.
func newRounding(fn string, x tree.Expr, digits int, pos int32) (tree.Expr, error) {
	t, step := x.Type(), tree.Power10(-digits)
	if t.Kind == tree.Number {
		p, q := t.RoundingRatio(step)
		if q.Cmp(big.NewInt(1)) == 0 {
			return x, nil // it is such a multiple already
		}
		// An engine computes with twice the numerator.
		reach := new(big.Int).Mul(MaxAbs(t), p)
		reach.Add(reach.Lsh(reach, 1), q)
		if reach.CmpAbs(tree.Widest) > 0 {
			return Checked(&tree.Literal{Typ: tree.NumberType(step, reach, reach, false)}, pos)
		}
		return NewCall(fn, tree.NumberType(step, roundRatio(fn, t.Lo, p, q), roundRatio(fn, t.Hi, p, q), t.Declared), pos, x,
			NewNumber(big.NewRat(int64(digits), 1)))
	}
	f, _ := step.Float64()
	limit := math.Ldexp(f, 100)
	x, err := restrictReal(x, tree.Range{Low: -limit, High: limit}, false, pos)
	if err != nil {
		return nil, err
	}
	r := x.Type().RealRange()
	typ := tree.NumberType(step, roundReal(fn, r.Low, digits), roundReal(fn, r.High, digits), x.Type().Declared)
	return NewCall(fn, typ, pos, x, NewNumber(big.NewRat(int64(digits), 1)))
}

// roundRatio rounds n p / q. Halves go away from zero.
func roundRatio(fn string, n, p, q *big.Int) *big.Int {
	x := new(big.Int).Mul(n, p)
	z := new(big.Int)
	switch fn {
	case "trunc":
		return z.Quo(x, q)
	case "floor":
		return z.Div(x, q) // q is positive: rounded down
	case "ceil":
		return z.Neg(z.Div(x.Neg(x), q))
	}
	half := new(big.Int).Mul(q, big.NewInt(int64(x.Sign())))
	return z.Quo(half.Add(half, x.Lsh(x, 1)), new(big.Int).Lsh(q, 1))
}

// roundSmall is roundRatio for what fits a machine's numbers: planning rounds over and over, and
// this builds nothing but the value.
func roundSmall(e *tree.Call, n *big.Int) (*big.Int, bool) {
	num, den, ok1 := smallRatio(e.Args[0].Type().Step)
	toNum, toDen, ok2 := smallRatio(e.Typ.Step)
	p, q := num*toDen, den*toNum
	if !ok1 || !ok2 || n.BitLen()+bits.Len64(uint64(p)) > 60 {
		return nil, false
	}
	x := n.Int64() * p
	z, rest := x/q, x%q
	switch {
	case e.Fn == "floor" && rest < 0:
		z--
	case e.Fn == "ceil" && rest > 0:
		z++
	case e.Fn == "round" && 2*rest >= q:
		z++
	case e.Fn == "round" && 2*rest <= -q:
		z--
	}
	return big.NewInt(z), true
}

// smallRatio is a positive ratio whose numbers have 30 bits at most, so that a product of two has
// 60.
func smallRatio(r *big.Rat) (num, den int64, ok bool) {
	den = 1
	if !r.IsInt() {
		if r.Denom().BitLen() > 30 {
			return 0, 0, false
		}
		den = r.Denom().Int64()
	}
	return r.Num().Int64(), den, r.Num().BitLen() <= 30
}

// roundReal rounds a double that is multiplied by 10^digits first, as a double.
func roundReal(fn string, f float64, digits int) *big.Int {
	scale, _ := tree.Power10(max(digits, -digits)).Float64()
	if digits >= 0 {
		f *= scale
	} else {
		f /= scale
	}
	switch fn {
	case "trunc":
		f = math.Trunc(f)
	case "floor":
		f = math.Floor(f)
	case "ceil":
		f = math.Ceil(f)
	default:
		f = math.Round(f)
	}
	n, _ := big.NewFloat(f).Int(nil)
	return n
}

func evalRounding(e *tree.Call, a []tree.Value) tree.Value {
	if f, ok := a[0].(float64); ok {
		n := roundReal(e.Fn, f, int(a[1].(*big.Int).Int64()))
		return Larger(e.Typ.Lo, Smaller(e.Typ.Hi, n)) // clamped, as by an engine
	}
	if n, ok := roundSmall(e, a[0].(*big.Int)); ok {
		return n
	}
	p, q := e.RoundingRatio()
	return roundRatio(e.Fn, a[0].(*big.Int), p, q)
}

// newWidthBucket numbers n equal parts of [lo, hi) from 1, with 0 below and n+1 above.
func newWidthBucket(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := requireKind("width_bucket", args[0], pos, tree.Number)
	if err != nil {
		return nil, err
	}
	var ends [2]*big.Rat
	for i := range ends {
		l, ok := Constant(AdoptNumber(args[i+1]))
		if !ok || l.Number == nil {
			return nil, syntax.Refuse(syntax.Unsupported, pos, "write numbers here, as in width_bucket(x, 0, 100, 10)",
				"the ends of width_bucket must be constant numbers")
		}
		ends[i] = new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.Typ.Step)
	}
	if ends[0].Cmp(ends[1]) >= 0 {
		return nil, syntax.Refuse(syntax.BadValue, pos, "write the lower end first, as in width_bucket(x, 0, 100, 10)",
			"the ends of width_bucket are the wrong way round")
	}
	n, err := wholeConstant(args[3], 1, 1_000_000, "width_bucket(x, 0, 100, 10)", pos)
	if err != nil {
		return nil, err
	}
	lo, hi := NewNumber(ends[0]), NewNumber(ends[1])
	below, err := NewCompare(tree.Lt, x, lo, pos)
	if err != nil {
		return nil, err
	}
	above, err := NewCompare(tree.Ge, x, hi, pos)
	if err != nil {
		return nil, err
	}
	part, err := NewArith(tree.Sub, x, lo, pos)
	if err != nil {
		return nil, err
	}
	scale := new(big.Rat).Quo(big.NewRat(n, 1), new(big.Rat).Sub(ends[1], ends[0]))
	if part, err = NewArith(tree.Mul, part, NewNumber(scale), pos); err != nil {
		return nil, err
	}
	if part, err = newRounding("floor", part, 0, pos); err != nil {
		return nil, err
	}
	// A bucket between the ends is one of n; only a NULL is in none of the three.
	if part, err = NewArith(tree.Add, part, NewNumber(tree.One), pos); err != nil {
		return nil, err
	}
	if part, err = restrict(part, big.NewInt(1), big.NewInt(n), true, pos); err != nil {
		return nil, err
	}
	var whens []tree.When // where there can be such
	at := func(n *big.Int) *big.Rat { return new(big.Rat).Mul(new(big.Rat).SetInt(n), x.Type().Step) }
	if at(x.Type().Lo).Cmp(ends[0]) < 0 {
		whens = append(whens, tree.When{If: below, Then: NewNumber(big.NewRat(0, 1))})
	}
	if at(x.Type().Hi).Cmp(ends[1]) >= 0 {
		whens = append(whens, tree.When{If: above, Then: NewNumber(big.NewRat(n+1, 1))})
	}
	if len(whens) == 0 {
		return part, nil
	}
	e, err := NewCase(whens, part, pos)
	if c, ok := e.(*tree.Case); ok {
		c.Typ.Declared = true // by the ends that the question gives
	}
	return e, err
}

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
				x, err := requireKind(name, args[0], pos, tree.Number, tree.Real)
				if err != nil {
					return nil, err
				}
				if x, err = restrictDomain(x, within, pos); err != nil {
					return nil, err
				}
				if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
					return x, nil
				}
				r := x.Type().RealRange()
				ends := tree.Range{Low: compute(r.Low), High: compute(r.High)}
				if name != "sqrt" {
					ends = widen(ends.Low, ends.High)
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

// restrictDomain restricts an argument to where a function is defined, and makes it a Real. A
// number on a lattice is restricted before: above zero means at least one step.
func restrictDomain(x tree.Expr, r tree.Range, pos int32) (tree.Expr, error) {
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

func newPower(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := requireKind("power", args[0], pos, tree.Number, tree.Real)
	if err != nil {
		return nil, err
	}
	l, ok := Constant(AdoptNumber(args[1]))
	if !ok || l.Number == nil {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "write power(x, 2) or power(x, 0.5)", "the exponent must be a constant number")
	}
	exponent := Real(l)
	y := exponent.Type().RealRange().High
	if math.Abs(y) > 1000 {
		return nil, syntax.Refuse(syntax.BadValue, pos, "write power(x, 2) or power(x, 0.5)", "the exponent must be between -1000 and 1000")
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
	if x, err = restrictDomain(x, d, pos); err != nil {
		return nil, err
	}
	if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
		return x, nil
	}
	r := x.Type().RealRange()
	a, b := math.Pow(r.Low, y), math.Pow(r.High, y)
	ends := widen(min(a, b), max(a, b))
	if r.Holds(0) && r.Low < 0 && math.Mod(y, 2) == 0 && y > 0 {
		ends.Low = 0
	}
	return NewCall("power", realType(ends, x.Type().Declared), pos, x, exponent)
}
