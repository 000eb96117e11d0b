package plan

import (
	"math"
	"math/big"
)

// Functions whose value is an exact number: abs, sign, roundings, mod, width_bucket.

// maxDigits is how many digits a rounding can name, on both sides of the point.
const maxDigits = 12

func init() {
	functions["abs"] = function{1, 1, "abs(x)", newAbs}
	nodes["abs"] = node{eval: func(_ *Call, a []Value) Value {
		if f, ok := a[0].(float64); ok {
			return math.Abs(f)
		}
		return new(big.Int).Abs(a[0].(*big.Int))
	}}
	functions["sign"] = function{1, 1, "sign(x)", newSign}
	nodes["sign"] = node{eval: func(_ *Call, a []Value) Value {
		if f, ok := a[0].(float64); ok {
			return big.NewInt(int64(big.NewFloat(f).Sign()))
		}
		return big.NewInt(int64(a[0].(*big.Int).Sign()))
	}}
	for name, usage := range map[string]string{"round": "round(x) or round(x, 2)", "trunc": "trunc(x) or trunc(x, 2)", "floor": "floor(x)", "ceil": "ceil(x)", "ceiling": "ceiling(x)"} {
		most := 1
		if name == "round" || name == "trunc" {
			most = 2
		}
		fn := name
		if name == "ceiling" {
			fn = "ceil"
		}
		functions[name] = function{1, most, usage, func(args []Expr, pos int32) (Expr, error) {
			x, err := need(name, args[0], pos, Number, Real)
			if err != nil {
				return nil, err
			}
			digits := int64(0)
			if len(args) == 2 {
				if digits, err = wholeConstant(args[1], -maxDigits, maxDigits, "round(x, 2)", pos); err != nil {
					return nil, err
				}
			}
			return newRounding(fn, x, int(digits), pos)
		}}
		if fn == name {
			nodes[fn] = node{copies: 3, eval: evalRounding}
		}
	}
	functions["mod"] = function{2, 2, "mod(x, y)", func(args []Expr, pos int32) (Expr, error) {
		return newArith(Rem, adoptNumber(args[0]), adoptNumber(args[1]), pos)
	}}
	functions["width_bucket"] = function{4, 4, "width_bucket(x, 0, 100, 10)", newWidthBucket}
}

func newAbs(args []Expr, pos int32) (Expr, error) {
	x, err := need("abs", args[0], pos, Number, Real)
	if err != nil {
		return nil, err
	}
	t := x.Type()
	if t.Kind == Real {
		r := t.real()
		low := 0.0
		if !r.holds(0) {
			low = min(math.Abs(r.Low), math.Abs(r.High))
		}
		return newCall("abs", realType(Range{low, r.largest()}, t.Declared), pos, x)
	}
	low := new(big.Int)
	if t.Lo.Sign() > 0 || t.Hi.Sign() < 0 {
		low = smaller(new(big.Int).Abs(t.Lo), new(big.Int).Abs(t.Hi))
	}
	return newCall("abs", numberType(t.Step, low, maxAbs(t), t.Declared), pos, x)
}

func newSign(args []Expr, pos int32) (Expr, error) {
	x, err := need("sign", args[0], pos, Number, Real)
	if err != nil {
		return nil, err
	}
	return newCall("sign", numberType(one, big.NewInt(-1), big.NewInt(1), true), pos, x)
}

// power10 is 10^n, also below the point.
func power10(n int) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil)
	if n < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// newRounding rounds to a multiple of 10^-digits. A Real becomes a Number here: row by row, and
// before any sum. One that could be beyond 2^100 steps is NULL there.
func newRounding(fn string, x Expr, digits int, pos int32) (Expr, error) {
	t, step := x.Type(), power10(-digits)
	if t.Kind == Number {
		p, q := t.roundingRatio(step)
		if q.Cmp(big.NewInt(1)) == 0 {
			return x, nil // it is such a multiple already
		}
		// An engine computes with twice the numerator.
		reach := new(big.Int).Mul(maxAbs(t), p)
		reach.Add(reach.Lsh(reach, 1), q)
		if reach.CmpAbs(widest) > 0 {
			return checked(&Literal{typ: numberType(step, reach, reach, false)}, pos)
		}
		return newCall(fn, numberType(step, roundRatio(fn, t.Lo, p, q), roundRatio(fn, t.Hi, p, q), t.Declared), pos, x, newNumber(ratOf(int64(digits))))
	}
	f, _ := step.Float64()
	limit := math.Ldexp(f, 100)
	x, err := withinReal(x, Range{-limit, limit}, false, pos)
	if err != nil {
		return nil, err
	}
	r := x.Type().real()
	typ := numberType(step, roundReal(fn, r.Low, digits), roundReal(fn, r.High, digits), x.Type().Declared)
	return newCall(fn, typ, pos, x, newNumber(ratOf(int64(digits))))
}

// roundingRatio returns how many new steps an old step is, as a fraction.
func (t Type) roundingRatio(step *big.Rat) (p, q *big.Int) {
	ratio := new(big.Rat).Quo(t.Step, step)
	return ratio.Num(), ratio.Denom()
}

// RoundingRatio returns how many steps of a rounding one step of its argument is, as a fraction.
func (e *Call) RoundingRatio() (p, q *big.Int) { return e.Args[0].Type().roundingRatio(e.typ.Step) }

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

// roundReal rounds a double that is multiplied by 10^digits first, as a double.
func roundReal(fn string, f float64, digits int) *big.Int {
	scale, _ := power10(max(digits, -digits)).Float64()
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

func evalRounding(e *Call, a []Value) Value {
	if f, ok := a[0].(float64); ok {
		n := roundReal(e.Fn, f, int(a[1].(*big.Int).Int64()))
		return larger(e.typ.Lo, smaller(e.typ.Hi, n)) // clamped, as by an engine
	}
	p, q := e.RoundingRatio()
	return roundRatio(e.Fn, a[0].(*big.Int), p, q)
}

// newWidthBucket numbers n equal parts of [lo, hi) from 1, with 0 below and n+1 above.
func newWidthBucket(args []Expr, pos int32) (Expr, error) {
	x, err := need("width_bucket", args[0], pos, Number)
	if err != nil {
		return nil, err
	}
	var ends [2]*big.Rat
	for i := range ends {
		l, ok := constant(adoptNumber(args[i+1]))
		if !ok || l.Number == nil {
			return nil, refuse(pos, "write numbers there, as in width_bucket(x, 0, 100, 10)", "the ends of width_bucket must be constant numbers")
		}
		ends[i] = new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.typ.Step)
	}
	if ends[0].Cmp(ends[1]) >= 0 {
		return nil, refuse(pos, "write the lower end first, as in width_bucket(x, 0, 100, 10)", "the ends of width_bucket are the wrong way round")
	}
	n, err := wholeConstant(args[3], 1, 1_000_000, "width_bucket(x, 0, 100, 10)", pos)
	if err != nil {
		return nil, err
	}
	lo, hi := newNumber(ends[0]), newNumber(ends[1])
	below, err := newCompare(Lt, x, lo, pos)
	if err != nil {
		return nil, err
	}
	above, err := newCompare(Ge, x, hi, pos)
	if err != nil {
		return nil, err
	}
	part, err := newArith(Sub, x, lo, pos)
	if err != nil {
		return nil, err
	}
	scale := new(big.Rat).Quo(ratOf(n), new(big.Rat).Sub(ends[1], ends[0]))
	if part, err = newArith(Mul, part, newNumber(scale), pos); err != nil {
		return nil, err
	}
	if part, err = newRounding("floor", part, 0, pos); err != nil {
		return nil, err
	}
	// A bucket between the ends is one of n; only a NULL is in none of the three.
	if part, err = newArith(Add, part, newNumber(one), pos); err != nil {
		return nil, err
	}
	if part, err = within(part, big.NewInt(0), big.NewInt(n+1), true, pos); err != nil {
		return nil, err
	}
	e, err := newCase([]When{{below, newNumber(ratOf(0))}, {above, newNumber(ratOf(n + 1))}}, part, pos)
	if c, ok := e.(*Case); ok {
		c.typ.Declared = true // by the ends that the question gives
	}
	return e, err
}
