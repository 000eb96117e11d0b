package catalog

import (
	"math"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// typeName finds the type that a cast names, and its modifier.
func (b *binder) typeName(n *pg.TypeName) (uint32, int64, error) {
	parts := nameOf(n.Names)
	if len(parts) == 0 || n.PctType || n.Setof {
		return 0, -1, unsupported("this type")
	}
	t := b.c.typeByParts(parts)
	if t == 0 {
		return 0, -1, at(fail("42704", "type %q does not exist", clip(strings.Join(parts, "."))), n.Location)
	}
	mod := int64(-1)
	if len(n.Typmods) > 0 {
		if k := n.Typmods[0].GetAConst(); k != nil {
			if v, ok := k.Val.(*pg.A_Const_Ival); ok {
				mod = int64(v.Ival.GetIval())
			}
		}
	}
	if len(n.ArrayBounds) > 0 {
		d := b.c.typeOf(t)
		if d == nil || d.array == 0 {
			return 0, -1, at(fail("42704", "type %q[] does not exist", clip(strings.Join(parts, "."))), n.Location)
		}
		t = d.array
	}
	return t, mod, nil
}

// typeCast binds CAST and ::.
func (s *scope) typeCast(c *pg.TypeCast) (*expr, error) {
	t, mod, err := s.b.typeName(c.TypeName)
	if err != nil {
		return nil, err
	}
	var x *expr
	if a := c.Arg.GetAArrayExpr(); a != nil && elem(base(t)) != 0 {
		// ARRAY[...]::t[] makes each element a t first.
		if x, err = s.arrayOf(a, base(t)); err != nil {
			return nil, err
		}
	} else if x, err = s.expr(c.Arg); err != nil {
		return nil, err
	}
	x, err = s.b.cast(x, base(t))
	if err != nil {
		return nil, at(err, c.Location)
	}
	if mod > 0 && (t == tVarchar || t == tBpchar) {
		inner := x.eval
		return &expr{typ: t, eval: func(e *env) (any, error) {
			v, err := inner(e)
			if s, ok := v.(string); ok {
				n := int64(0)
				for i := range s {
					if n == mod {
						return s[:i], err
					}
					n++
				}
			}
			return v, err
		}}, nil
	}
	return x, nil
}

// cast makes a value of a type, as CAST does.
func (b *binder) cast(x *expr, t uint32) (*expr, error) {
	from := x.typ
	if from == t {
		return x, nil
	}
	if x.untyped() {
		return b.typed(x, t)
	}
	if !castable(from, t) {
		return nil, fail("42846", "cannot cast type %s to %s", b.c.formatType(from, -1), b.c.formatType(t, -1))
	}
	inner := x.eval
	out := &expr{typ: t, eval: func(e *env) (any, error) {
		v, err := inner(e)
		if v == nil || err != nil {
			return nil, err
		}
		return e.run.cast(v, from, t)
	}}
	// The same value under another name can be looked up by the same index.
	if class(from) == class(t) && (class(t) == 's' && t != tChar && t != tName || class(t) == 'n' && !isReg(from) || isReg(from) && (t == tOid || isReg(t))) {
		out.scope, out.rte, out.attr = x.scope, x.rte, x.attr
	}
	return out, nil
}

// castable says whether CAST goes from a type to another.
func castable(from, to uint32) bool {
	f, t := class(from), class(to)
	switch {
	case to == tText || to == tVarchar || to == tName || to == tBpchar || f == 's':
		return true
	case to == tChar:
		return f == 's' || from == tInt4
	case f == 'n' && t == 'n', f == 'n' && t == 'f', f == 'f' && t == 'n', f == 'f' && t == 'f', f == 't' && t == 't':
		return true
	case from == tInt4 && to == tBool, from == tBool && to == tInt4, from == tXid && t == 'n':
		return true
	case f == 'a' && t == 'a':
		return castable(elem(from), elem(to))
	case f == 'r' && t == 'r':
		return true
	}
	return false
}

// cast converts a value.
func (r *run) cast(v any, from, to uint32) (any, error) {
	if err := r.step(1); err != nil || v == nil {
		return nil, err
	}
	f, t := class(from), class(to)
	switch {
	case f == 's':
		s, _ := v.(string)
		switch {
		case from == tChar && to == tInt4:
			if s == "" {
				return int64(0), nil
			}
			return int64(int8(s[0])), nil
		case t == 's' && to != tName && to != tChar:
			return s, nil
		}
		return r.parse(s, to)
	case t == 's':
		if n, ok := v.(int64); ok && to == tChar {
			if n < -128 || n > 127 {
				return nil, fail("22003", "\"char\" out of range")
			}
			if n == 0 {
				return "", nil
			}
			return string(rune(uint8(n) & 0x7f)), nil
		}
		if f == 'b' {
			if v == true {
				return "true", nil
			}
			return "false", nil
		}
		s, err := r.format(v, from)
		if err != nil {
			return nil, err
		}
		if to == tName {
			s = truncate(s, 63)
		}
		return r.text(s)
	}
	switch x := v.(type) {
	case int64:
		switch t {
		case 'n':
			return inRange(x, to)
		case 'f':
			return float64(x), nil
		case 'b':
			return x != 0, nil
		}
	case float64:
		switch t {
		case 'n':
			y := math.RoundToEven(x)
			if from == tNumeric {
				y = math.Round(x)
			}
			if !(y >= -9.2e18 && y <= 9.2e18) {
				return nil, fail("22003", "%s out of range", r.c.formatType(to, -1))
			}
			return inRange(int64(y), to)
		case 'f':
			return x, nil
		}
	case bool:
		if t == 'b' {
			return x, nil
		}
		if x {
			return int64(1), nil
		}
		return int64(0), nil
	case time.Time:
		if to == tDate {
			return x.UTC().Truncate(24 * time.Hour), nil
		}
		return x, nil
	case []any:
		out := make([]any, len(x))
		for i, y := range x {
			inner, into := elem(from), elem(to)
			if _, nested := y.([]any); nested {
				inner, into = from, to
			}
			c, err := r.cast(y, inner, into)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return r.list(out)
	case *record:
		return x, nil
	}
	return nil, fail("42846", "cannot cast type %s to %s", r.c.formatType(from, -1), r.c.formatType(to, -1))
}
