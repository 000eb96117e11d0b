package interpret

import (
	"cmp"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// timeArithmetic binds + - * / on times and intervals. It returns nil where the sides are neither.
func (b operatorBinder) timeArithmetic(op string, l, r *expr) (*expr, error) {
	isTime := func(x *expr) bool { return oid.KindOf(x.typ) == oid.KindTime }
	isSpan := func(x *expr) bool { return x.typ == oid.Interval }
	isNumber := func(x *expr) bool { return oid.IsInt(x.typ) || oid.KindOf(x.typ) == oid.KindFloat }
	if op == "+" && (isSpan(l) && isTime(r) || isSmall(l.typ) && r.typ == oid.Date) || op == "*" && isNumber(l) && isSpan(r) {
		l, r = r, l
	}
	sign := int64(1)
	if op == "-" {
		sign = -1
	}
	switch plus := op == "+" || op == "-"; {
	case plus && l.typ == oid.Date && isSmall(r.typ):
		return strict(oid.Date, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
			return moved(x, span{days: sign * int64(y.(datum.Int))}, r)
		}), nil
	case op == "-" && l.typ == oid.Date && r.typ == oid.Date:
		return strict(oid.Int4, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
			return datum.Int(x.(datum.Time).Sub(y.(datum.Time).Time) / (24 * time.Hour)), r.step(1)
		}), nil
	case plus && isTime(l) && isSpan(r):
		t := l.typ
		if t == oid.Date {
			t = oid.Timestamp
		}
		return strict(t, l, r, func(r *run, x, y datum.Value) (datum.Value, error) { return moved(x, spanOf(y).times(sign), r) }), nil
	case plus && isSpan(l) && isSpan(r):
		return strict(oid.Interval, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
			return spanOf(x).plus(spanOf(y).times(sign)).value(), r.step(1)
		}), nil
	case (op == "*" || op == "/") && isSpan(l) && isNumber(r):
		return strict(oid.Interval, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
			n := float(y)
			if op == "/" {
				if n == 0 {
					return nil, Fail("22012", "division by zero")
				}
				n = 1 / n
			}
			s, err := spanOf(x).scaled(n)
			if err != nil {
				return nil, err
			}
			return s.value(), r.step(1)
		}), nil
	}
	return nil, nil
}

func isSmall(t uint32) bool { return t == oid.Int2 || t == oid.Int4 }

func moved(v datum.Value, s span, r *run) (datum.Value, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	t, _ := v.(datum.Time)
	return s.after(t.UTC())
}

// compareSpans orders two intervals.
func compareSpans(x, y datum.Value) int { return cmp.Compare(spanOf(x).order(), spanOf(y).order()) }

// shifted is << on integers.
func shifted(n datum.Int, by datum.Int, t uint32) datum.Value {
	switch t {
	case oid.Int2:
		return datum.Int(int16(int32(n) << (by & 31)))
	case oid.Int4:
		return datum.Int(int32(n) << (by & 31))
	}
	return n << (by & 63)
}
