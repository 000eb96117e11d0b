package interpret

import (
	"math"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// decimalFunctions are the functions on numerics.
var decimalFunctions = []Function{
	{"abs|numeric_abs(numeric) numeric", onNumeric(func(n datum.Numeric) datum.Numeric {
		if n.Sign() < 0 {
			return n.Negated()
		}
		return n
	})},
	{"sign(numeric) numeric", onNumeric(func(n datum.Numeric) datum.Numeric {
		if n == datum.NaN {
			return n
		}
		return datum.NewNumeric(int64(n.Sign()))
	})},
	{"floor(numeric) numeric", onNumeric(func(n datum.Numeric) datum.Numeric { return toward(n, -1) })},
	{"ceil|ceiling(numeric) numeric", onNumeric(func(n datum.Numeric) datum.Numeric { return toward(n, 1) })},
	{"round(numeric) numeric", onNumeric(func(n datum.Numeric) datum.Numeric { return n.Round(0) })},
	{"trunc(numeric) numeric", onNumeric(func(n datum.Numeric) datum.Numeric { return n.Truncated(0) })},
	{"round(numeric,int4) numeric", func(c *Call) (datum.Value, error) { return c.places(datum.Numeric.Round) }},
	{"trunc(numeric,int4) numeric", func(c *Call) (datum.Value, error) { return c.places(datum.Numeric.Truncated) }},
	{"trim_scale(numeric) numeric", onNumeric(datum.Numeric.Trimmed)},
	{"numeric_inc(numeric) numeric", onNumeric(func(n datum.Numeric) datum.Numeric { return n.Plus(datum.NewNumeric(1)) })},
	{"scale(numeric) int4", scaleOf(false)}, {"min_scale(numeric) int4", scaleOf(true)},
	{"div|numeric_div_trunc(numeric,numeric) numeric", func(c *Call) (datum.Value, error) {
		x, y := numeric(c.Args[0]), numeric(c.Args[1])
		switch {
		case y.Sign() == 0:
			return nil, Fail("22012", "division by zero")
		case !x.Finite() || !y.Finite():
			return x.Over(y), nil
		}
		rest := x.Remainder(y)
		q := x.Plus(rest.Negated()).Over(y)
		return q.Round(0), c.run.step(1)
	}},
}

// numeric is a number as a Numeric.
func numeric(v datum.Value) datum.Numeric {
	switch v := v.(type) {
	case datum.Int:
		return datum.NewNumeric(int64(v))
	case datum.Numeric:
		return v
	case datum.Float:
		return datum.FromFloat(float64(v))
	}
	return datum.Numeric{}
}

// numberOf is a number as one of a type with a fraction.
func numberOf(v datum.Value, t uint32) (datum.Value, error) {
	switch t {
	case oid.Numeric:
		if f, ok := v.(datum.Float); ok && f == datum.Float(float32(f)) {
			return datum.FromFloat(float64(f)), nil
		}
		return numeric(v), nil
	case oid.Float4:
		f := float(v)
		if math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
			return nil, overflow()
		}
		return datum.Float(float32(f)), nil
	}
	return datum.Float(float(v)), nil
}

func onNumeric(f func(datum.Numeric) datum.Numeric) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) { return f(numeric(c.Args[0])), nil }
}

// toward is the whole number next to a number, on one side.
func toward(n datum.Numeric, sign int) datum.Numeric {
	whole := n.Truncated(0)
	if n.Finite() && n.Compare(whole)*sign > 0 {
		return whole.Plus(datum.NewNumeric(int64(sign)))
	}
	return whole
}

func (c *Call) places(cut func(datum.Numeric, int) datum.Numeric) (datum.Value, error) {
	n := cut(numeric(c.Args[0]), int(c.Int(1)))
	return n, c.run.take(datum.Size(n))
}

func scaleOf(trimmed bool) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		n := numeric(c.Args[0])
		if trimmed {
			n = n.Trimmed()
		}
		if !n.Finite() {
			return nil, nil
		}
		return datum.Int(n.Scale()), nil
	}
}

// computeNumeric computes with numerics, and counts what that takes.
func computeNumeric(r *run, op string, x, y datum.Numeric) (datum.Value, error) {
	if err := r.spend(1+datum.Size(x)*datum.Size(y)/4096, datum.Size(x)+datum.Size(y)); err != nil {
		return nil, err
	}
	var n datum.Numeric
	switch op {
	case "+":
		n = x.Plus(y)
	case "-":
		n = x.Plus(y.Negated())
	case "*":
		n = x.Times(y)
	default:
		if y.Sign() == 0 && x != datum.NaN {
			return nil, Fail("22012", "division by zero")
		}
		if n = x.Remainder(y); op == "/" {
			n = x.Over(y)
		}
	}
	if !n.Fits() {
		return nil, Fail("22003", "value overflows numeric format")
	}
	return n, nil
}

// narrowed is a numeric of so many digits, of which scale are after the point.
func narrowed(x *expr, precision, scale int) *expr {
	inner := x.eval
	return &expr{typ: oid.Numeric, eval: func(e *env) (datum.Value, error) {
		v, err := inner(e)
		n, ok := v.(datum.Numeric)
		if !ok || err != nil || n == datum.NaN {
			return v, err
		}
		rounded := n.Round(scale)
		most, _ := datum.ParseNumeric("1e" + oid.Format(uint32(max(0, min(precision, datum.MaxDigits-1)-scale))))
		if !n.Finite() || rounded.Compare(most) >= 0 || rounded.Negated().Compare(most) >= 0 {
			return nil, Fail("22003", "numeric field overflow")
		}
		return rounded, e.run.step(1)
	}}
}

func factorial(c *Call) (datum.Value, error) {
	n := c.Int(0)
	switch {
	case n < 0:
		return nil, Fail("22003", "factorial of a negative number is undefined")
	case n > 449: // it has more digits than a numeric here
		return nil, Fail("22003", "value overflows numeric format")
	}
	out := datum.NewNumeric(1)
	for i := int64(2); i <= n; i++ {
		out = out.Times(datum.NewNumeric(i))
	}
	return out, c.run.spend(int(n*n/16)+1, 2*int(n))
}
