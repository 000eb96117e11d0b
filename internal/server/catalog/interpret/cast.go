package interpret

import (
	"math"
	"strconv"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// typeName finds the type that a cast names, and its modifier.
func (b *binder) typeName(n *pg.TypeName) (uint32, int64, error) {
	parts := nameParts(n.Names)
	if len(parts) == 0 || n.PctType || n.Setof {
		return 0, -1, unsupported("this type")
	}
	t := b.r.db.Types().Named(parts)
	if t == 0 {
		return 0, -1, locate(Fail("42704", "type %q does not exist", clip(strings.Join(parts, "."))), n.Location)
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
		d := b.r.db.Types().Find(t)
		if d == nil || d.Array == 0 {
			return 0, -1, locate(Fail("42704", "type %q[] does not exist", clip(strings.Join(parts, "."))), n.Location)
		}
		t = d.Array
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
	if a := c.Arg.GetAArrayExpr(); a != nil && oid.Elem(oid.Base(t)) != 0 {
		// ARRAY[...]::t[] makes each element a t first.
		if x, err = s.array(a, oid.Base(t)); err != nil {
			return nil, err
		}
	} else if x, err = s.expr(c.Arg); err != nil {
		return nil, err
	}
	x, err = s.b.cast(x, oid.Base(t))
	if err != nil {
		return nil, locate(err, c.Location)
	}
	if mod > 0 && (t == oid.Varchar || t == oid.Bpchar) {
		inner := x.eval
		return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
			v, err := inner(e)
			if s, ok := v.(datum.Text); ok {
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
		return nil, Fail("42846", "cannot cast type %s to %s", b.r.nameType(from), b.r.nameType(t))
	}
	inner := x.eval
	out := &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		v, err := inner(e)
		if v == nil || err != nil {
			return nil, err
		}
		return e.run.cast(v, from, t)
	}}
	// The same value under another name can be looked up by the same index.
	kind := oid.KindOf(t)
	if oid.KindOf(from) == kind && (kind == oid.KindText && t != oid.Char && t != oid.Name ||
		kind == oid.KindInt && (!oid.IsReg(from) || t == oid.Oid || oid.IsReg(t))) {
		out.scope, out.rte, out.attr = x.scope, x.rte, x.attr
	}
	return out, nil
}

// castable says whether CAST goes from a type to another.
func castable(from, to uint32) bool {
	f, t := oid.KindOf(from), oid.KindOf(to)
	number := func(k oid.Kind) bool { return k == oid.KindInt || k == oid.KindFloat }
	switch {
	case from == oid.Char && number(t), to == oid.Char && f != oid.KindText:
		return false
	case f == oid.KindText || oid.IsString(to):
		return true
	case f == oid.KindList && t == oid.KindList:
		return castable(oid.Elem(from), oid.Elem(to))
	case from == oid.Int4 && to == oid.Bool, from == oid.Bool && to == oid.Int4, number(f) && number(t):
		return true
	}
	return f == t && (f == oid.KindTime || f == oid.KindRecord)
}

// cast converts a value.
func (r *run) cast(v datum.Value, from, to uint32) (datum.Value, error) {
	if err := r.step(1); err != nil || v == nil {
		return nil, err
	}
	kind := oid.KindOf(to)
	s, isText := v.(datum.Text)
	switch {
	case isText && kind == oid.KindText && to != oid.Name && to != oid.Char:
		return s, nil
	case isText:
		return r.parse(string(s), to)
	case kind == oid.KindText:
		return r.castToText(v, from, to)
	}
	switch x := v.(type) {
	case datum.Int:
		switch kind {
		case oid.KindInt:
			return checkRange(x, to)
		case oid.KindFloat:
			return datum.Float(x), nil
		case oid.KindBool:
			return datum.Bool(x != 0), nil
		}
	case datum.Float:
		switch kind {
		case oid.KindInt:
			return r.round(float64(x), from, to)
		case oid.KindFloat:
			return x, nil
		}
	case datum.Bool:
		switch {
		case kind == oid.KindBool:
			return x, nil
		case bool(x):
			return datum.Int(1), nil
		}
		return datum.Int(0), nil
	case datum.Time:
		if to == oid.Date {
			return datum.Time{Time: x.UTC().Truncate(24 * time.Hour)}, nil
		}
		return x, nil
	case datum.List:
		out := make(datum.List, len(x))
		for i, y := range x {
			var err error
			if out[i], err = r.cast(y, oid.Elem(from), oid.Elem(to)); err != nil {
				return nil, err
			}
		}
		return r.list(out)
	case *datum.Record:
		return x, nil
	}
	return nil, Fail("42846", "cannot cast type %s to %s", r.nameType(from), r.nameType(to))
}

// castToText makes a text of a value.
func (r *run) castToText(v datum.Value, from, to uint32) (datum.Value, error) {
	if b, ok := v.(datum.Bool); ok {
		return datum.Text(strconv.FormatBool(bool(b))), nil
	}
	s, err := r.format(v, from)
	if err != nil {
		return nil, err
	}
	if to == oid.Name {
		s = ident.Truncate(s, 63)
	}
	return r.text(s)
}

// round makes a whole number of a double, to even, or of a numeric, away from zero.
func (r *run) round(x float64, from, to uint32) (datum.Value, error) {
	y := math.RoundToEven(x)
	if from == oid.Numeric {
		y = math.Round(x)
	}
	if !(y >= -9.2e18 && y <= 9.2e18) {
		return nil, Fail("22003", "%s out of range", r.nameType(to))
	}
	return checkRange(datum.Int(y), to)
}
