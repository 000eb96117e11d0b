package interpret

import (
	"math"
	"strconv"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// arithmetic binds + - * / % and the operators on bits.
func (b *binder) arithmetic(op string, l, r *expr) (*expr, error) {
	var err error
	switch {
	case l.untyped() && r.untyped():
		return nil, hint(Fail("42725", "operator is not unique: unknown %s unknown", op),
			"Could not choose a best candidate operator. You might need to add explicit type casts.")
	case l.untyped():
		l, err = b.coerce(l, r.typ)
	case r.untyped():
		r, err = b.coerce(r, l.typ)
	}
	if err != nil {
		return nil, err
	}
	if op == "-" && isMoment(l.typ) && l.typ == r.typ {
		return strict(oid.Interval, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
			return difference(y.(datum.Time), x.(datum.Time)), r.step(1)
		}), nil
	}
	t := arithmeticType(op, l.typ, r.typ)
	if t == 0 {
		return nil, b.noOperator(op, l, r)
	}
	return strict(t, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		if err := r.step(1); err != nil {
			return nil, err
		}
		if oid.IsInt(t) {
			return computeInt(op, x.(datum.Int), y.(datum.Int), t)
		}
		return computeFloat(op, float(x), float(y), t)
	}), nil
}

// arithmeticType is the type that an operator makes of two others, or 0.
func arithmeticType(op string, l, r uint32) uint32 {
	number := func(t uint32) uint32 {
		switch {
		case oid.IsInt(t) || oid.KindOf(t) == oid.KindFloat:
			return t
		case t == oid.Oid || oid.IsReg(t):
			return oid.Int8 // as near as one gets to what int4 and oid make
		}
		return 0
	}
	l, r = number(l), number(r)
	switch {
	case l == 0 || r == 0:
		return 0
	case oid.IsInt(l) && oid.IsInt(r):
		if op == ">>" || rank(l) >= rank(r) {
			return l
		}
		return r
	case op == "&" || op == "|" || op == ">>":
		return 0
	case l == oid.Numeric && (oid.IsInt(r) || r == oid.Numeric), r == oid.Numeric && oid.IsInt(l):
		return oid.Numeric
	}
	return oid.Float8
}

// computeInt computes with integers, and refuses what leaves the type.
func computeInt(op string, p, q datum.Int, t uint32) (datum.Value, error) {
	over := func() error { return Fail("22003", "%s out of range", oid.Types(nil).Format(t, -1)) }
	var n datum.Int
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
		switch {
		case q == 0:
			return nil, Fail("22012", "division by zero")
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
	case ">>":
		if n = p >> (q & 31); t == oid.Int8 {
			n = p >> (q & 63)
		}
	}
	return checkRange(n, t)
}

// computeFloat computes with doubles.
func computeFloat(op string, p, q float64, t uint32) (datum.Value, error) {
	var f float64
	switch op {
	case "+":
		f = p + q
	case "-":
		f = p - q
	case "*":
		f = p * q
	default:
		if q == 0 {
			return nil, Fail("22012", "division by zero")
		}
		if f = p / q; op == "%" {
			f = math.Mod(p, q)
		}
	}
	if math.IsInf(f, 0) && !math.IsInf(p, 0) && !math.IsInf(q, 0) {
		return nil, Fail("22003", "value out of range: overflow")
	}
	if t == oid.Numeric {
		// A numeric is kept as a double here, and shows the digits that a double is sure of.
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	}
	return datum.Float(f), nil
}

// float is a number as a double.
func float(v datum.Value) float64 {
	switch v := v.(type) {
	case datum.Int:
		return float64(v)
	case datum.Float:
		return float64(v)
	}
	return 0
}
