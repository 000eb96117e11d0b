package catalog

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// arithmetic binds + - * / % ^ and the operators on bits, and the difference of two times.
func (b *binder) arithmetic(op string, l, r *expr) (*expr, error) {
	var err error
	if l.untyped() && r.untyped() {
		return nil, hint(fail("42725", "operator is not unique: unknown %s unknown", op), "Could not choose a best candidate operator. You might need to add explicit type casts.")
	}
	if l.untyped() {
		l, err = b.coerce(l, r.typ)
	} else if r.untyped() {
		r, err = b.coerce(r, l.typ)
	}
	if err != nil {
		return nil, err
	}
	if class(l.typ) == 't' && class(r.typ) == 't' && op == "-" {
		return &expr{typ: tInterval, eval: func(e *env) (any, error) {
			v, err := evalAll(e, []*expr{l, r})
			if err != nil || v[0] == nil || v[1] == nil {
				return nil, err
			}
			x, _ := v[0].(time.Time)
			y, _ := v[1].(time.Time)
			return formatInterval(x.Sub(y)), nil
		}}, nil
	}
	kind := func(t uint32) (uint32, bool) {
		switch {
		case isInt(t) || class(t) == 'f':
			return t, true
		case t == tOid || isReg(t):
			return tInt8, true // as near as one gets to what int4 and oid make
		}
		return 0, false
	}
	lt, lok := kind(l.typ)
	rt, rok := kind(r.typ)
	if !lok || !rok {
		return nil, b.noOperator(op, l, r)
	}
	var t uint32
	switch {
	case isInt(lt) && isInt(rt):
		t = lt
		if rank(rt) > rank(lt) {
			t = rt
		}
		if (op == "<<" || op == ">>") && isInt(lt) {
			t = lt
		}
		if op == "^" {
			t = tFloat8
		}
	case lt == tNumeric && (isInt(rt) || rt == tNumeric), rt == tNumeric && isInt(lt):
		t = tNumeric
	default:
		t = tFloat8
	}
	if class(t) == 'f' && strings.Contains("&|#<<>>", op) {
		return nil, b.noOperator(op, l, r)
	}
	whole := isInt(t)
	return strict(t, l, r, func(r *run, x, y any) (any, error) {
		if err := r.step(1); err != nil {
			return nil, err
		}
		if whole {
			p, _ := x.(int64)
			q, _ := y.(int64)
			return wholeArithmetic(op, p, q, t)
		}
		return realArithmetic(op, toFloat(x), toFloat(y), t)
	}), nil
}

// wholeArithmetic computes with integers, and refuses what leaves the type.
func wholeArithmetic(op string, p, q int64, t uint32) (any, error) {
	over := func() error { return fail("22003", "%s out of range", sqlNames[t]) }
	var n int64
	switch op {
	case "+":
		if n = p + q; (n > p) != (q > 0) {
			return nil, over()
		}
	case "-":
		if n = p - q; (n < p) != (q > 0) {
			return nil, over()
		}
	case "*":
		if n = p * q; p != 0 && (n/p != q || p == -1 && q == math.MinInt64) {
			return nil, over()
		}
	case "/", "%":
		if q == 0 {
			return nil, fail("22012", "division by zero")
		}
		switch {
		case q == -1 && op == "%":
			n = 0
		case q == -1 && p == math.MinInt64:
			return nil, over()
		case op == "/":
			n = p / q
		default:
			n = p % q
		}
	case "&":
		n = p & q
	case "|":
		n = p | q
	case "#":
		n = p ^ q
	case "<<", ">>":
		bits := int64(32)
		if t == tInt8 {
			bits = 64
		}
		q &= bits - 1
		if op == ">>" {
			n = p >> q
		} else if n = p << q; bits == 32 {
			n = int64(int32(n))
			if t == tInt2 {
				n = int64(int16(n))
			}
		}
	}
	return inRange(n, t)
}

// realArithmetic computes with doubles.
func realArithmetic(op string, p, q float64, t uint32) (any, error) {
	var f float64
	switch op {
	case "+":
		f = p + q
	case "-":
		f = p - q
	case "*":
		f = p * q
	case "/", "%":
		if q == 0 {
			return nil, fail("22012", "division by zero")
		}
		if op == "/" {
			f = p / q
		} else {
			f = math.Mod(p, q)
		}
	case "^":
		f = math.Pow(p, q)
	}
	if math.IsInf(f, 0) && !math.IsInf(p, 0) && !math.IsInf(q, 0) {
		return nil, fail("22003", "value out of range: overflow")
	}
	if t == tNumeric {
		// A numeric is kept as a double here, and shows the digits that a double is sure of.
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	}
	return f, nil
}

// toFloat is a number as a double.
func toFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
