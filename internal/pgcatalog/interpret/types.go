package interpret

import (
	"math"
	"strconv"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// typeBinder decides the types of expressions and parameters.
type typeBinder struct {
	run    *run
	params []uint32
}

// typed gives a type to what has none. Literals are read now, so that what is wrong with them is
// told before anything runs.
func (b *typeBinder) typed(x *expr, t uint32) (*expr, error) {
	switch {
	case x.param > 0:
		if b.params[x.param-1] == 0 || b.params[x.param-1] == oid.Unknown {
			b.params[x.param-1] = t
		}
		if known := b.params[x.param-1]; oid.Base(known) != t {
			return b.cast(typedParameter(x.param, known), t)
		}
		return typedParameter(x.param, t), nil
	case x.null:
		return constant(t, nil), nil
	case x.lit != nil:
		if oid.KindOf(t) == oid.KindTime || t == oid.Record {
			break // now is later
		}
		v, err := b.run.parse(*x.lit, t)
		if err != nil {
			return nil, err
		}
		return constant(t, v), nil
	}
	inner := x.eval
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		v, err := inner(e)
		if s, ok := v.(datum.Text); ok && err == nil {
			return e.run.parse(string(s), t)
		}
		return v, err
	}}, nil
}

// settled makes a text of what has no type.
func (b *typeBinder) settled(x *expr) (*expr, error) {
	if x.untyped() {
		return b.typed(x, oid.Text)
	}
	return x, nil
}

// coerce makes a value of a type where PostgreSQL does so without being told.
func (b *typeBinder) coerce(x *expr, t uint32) (*expr, error) {
	t = oid.Base(t)
	switch {
	case x.typ == t:
		return x, nil
	case x.untyped():
		return b.typed(x, t)
	case implicit(x.typ, t) == 0:
		return nil, Fail("42804", "a value of type %s is not of type %s", b.run.nameType(x.typ), b.run.nameType(t))
	}
	return b.cast(x, t)
}

// implicit says how well a type goes into another by itself: 0 not at all, 3 the same.
func implicit(from, to uint32) int {
	from, to = oid.Base(from), oid.Base(to)
	switch {
	case from == to:
		return 3
	case from == oid.Unknown:
		return 1
	case oid.IsInt(from) && oid.IsInt(to):
		if rank(from) < rank(to) {
			return 2
		}
		return 0
	case oid.IsInt(from) && (to == oid.Numeric || to == oid.Float8 || to == oid.Float4),
		from == oid.Numeric && (to == oid.Float8 || to == oid.Float4), from == oid.Float4 && to == oid.Float8:
		return 1
	case (oid.IsInt(from) || oid.IsReg(from)) && (to == oid.Oid || oid.IsReg(to) && oid.IsInt(from)), from == oid.Oid && oid.IsReg(to):
		return 1
	case oid.IsString(from) && to == oid.Text:
		return 2
	case (from == oid.Text || from == oid.Varchar || from == oid.Bpchar) && (to == oid.Name || to == oid.Varchar || to == oid.Bpchar):
		return 1
	case (from == oid.Text || from == oid.Varchar) && to == oid.Regclass:
		return 1
	case from == oid.Date && (to == oid.Timestamp || to == oid.Timestamptz), from == oid.Timestamp && to == oid.Timestamptz:
		return 1
	case oid.Elem(from) != 0 && to == oid.AnyArray:
		return 1
	case from == oid.Int2Vector && to == oid.Int2Array, from == oid.OidVector && to == oid.OidArray, from == oid.NodeTree && to == oid.Text:
		return 1
	case from == oid.NameArray && to == oid.TextArray, from == oid.VarcharArray && to == oid.TextArray,
		from == oid.CharArray && to == oid.TextArray:
		return 1
	case oid.Elem(from) != 0 && oid.Elem(to) != 0 && from != oid.Int2Vector && from != oid.OidVector && implicit(oid.Elem(from),
		oid.Elem(to)) > 0:
		return 1
	}
	return 0
}

// rank orders the integer types by their size.
func rank(t uint32) int {
	switch t {
	case oid.Int2:
		return 1
	case oid.Int4:
		return 2
	}
	return 3
}

// common is the type that several expressions have together, as in UNION, CASE and COALESCE.
func (b *typeBinder) common(xs []*expr, where string) (uint32, error) {
	t := uint32(oid.Unknown)
	for _, x := range xs {
		switch {
		case x.untyped() || x.typ == t:
		case t == oid.Unknown:
			t = x.typ
		case b.category(x.typ) != b.category(t):
			return 0, Fail("42804", "%s types %s and %s cannot be matched", where, b.run.nameType(t), b.run.nameType(x.typ))
		case !preferred(t) && implicit(t, x.typ) > 0 && implicit(x.typ, t) == 0:
			t = x.typ
		}
	}
	return t, nil
}

func (b *typeBinder) category(t uint32) string {
	if d := b.run.db.Types().Find(t); d != nil {
		return d.Category
	}
	return ""
}

// preferred says whether a type wins over others of its category, as typispreferred does.
func preferred(t uint32) bool {
	return t == oid.Text || t == oid.Oid || t == oid.Float8 || t == oid.Bool || t == oid.Timestamptz
}

// unify brings expressions to their common type: text where none has one.
func (b *typeBinder) unify(xs []*expr, where string) (uint32, error) {
	t, err := b.common(xs, where)
	if err != nil {
		return 0, err
	}
	if t == oid.Unknown {
		t = oid.Text
	}
	for i, x := range xs {
		if xs[i], err = b.coerce(x, t); err != nil {
			return 0, err
		}
	}
	return t, nil
}

// typeName finds the type that a cast names, and its modifier.
func (b *typeBinder) typeName(n *pg.TypeName) (uint32, int64, error) {
	parts := nameParts(n.Names)
	if len(parts) == 0 || n.PctType || n.Setof {
		return 0, -1, unsupported("this type")
	}
	t := b.run.db.Types().Named(parts)
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
		d := b.run.db.Types().Find(t)
		if d == nil || d.Array == 0 {
			return 0, -1, locate(Fail("42704", "type %q[] does not exist", clip(strings.Join(parts, "."))), n.Location)
		}
		t = d.Array
	}
	return t, mod, nil
}

func (b exprBinder) typeCast(c *pg.TypeCast) (*expr, error) {
	t, mod, err := b.types.typeName(c.TypeName)
	if err != nil {
		return nil, err
	}
	var x *expr
	if a := c.Arg.GetAArrayExpr(); a != nil && oid.Elem(oid.Base(t)) != 0 {
		// ARRAY[...]::t[] makes each element a t first.
		if x, err = b.array(a, oid.Base(t)); err != nil {
			return nil, err
		}
	} else if x, err = b.expr(c.Arg); err != nil {
		return nil, err
	}
	if t == oid.Bit && (oid.IsInt(x.typ) || oid.KindOf(x.typ) == oid.KindText && !x.null) {
		return bitCast(x, c, mod)
	}
	x, err = b.types.cast(x, oid.Base(t))
	if err != nil {
		return nil, locate(err, c.Location)
	}
	if t == oid.Numeric && mod > 0 {
		scale := 0
		if len(c.TypeName.Typmods) > 1 {
			k, _ := c.TypeName.Typmods[1].GetAConst().GetVal().(*pg.A_Const_Ival)
			scale = int(k.Ival.GetIval())
		}
		return narrowed(x, int(mod), scale), nil
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
func (b *typeBinder) cast(x *expr, t uint32) (*expr, error) {
	from := x.typ
	if from == t {
		return x, nil
	}
	if x.untyped() {
		return b.typed(x, t)
	}
	if !castable(from, t) {
		return nil, Fail("42846", "cannot cast type %s to %s", b.run.nameType(from), b.run.nameType(t))
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
	if strange(from) {
		return oid.IsString(to)
	}
	f, t := oid.KindOf(from), oid.KindOf(to)
	number := func(k oid.Kind) bool { return k == oid.KindInt || k == oid.KindFloat }
	document := from == oid.JSON || from == oid.JSONB
	switch {
	case from == oid.Char && number(t), to == oid.Char && f != oid.KindText:
		return false
	case oid.IsString(to) || from == to:
		return true
	case from == oid.JSONB && (number(t) || to == oid.Bool):
		return !oid.IsReg(to) && to != oid.Oid && to != oid.Xid && to != oid.Cid
	case document && (to == oid.JSON || to == oid.JSONB):
		return true
	case oid.IsString(from) || from == oid.NodeTree:
		return true
	case f == oid.KindText:
		return false
	case f == oid.KindList && t == oid.KindList:
		return castable(oid.Elem(from), oid.Elem(to))
	case from == oid.Int4 && to == oid.Bool, from == oid.Bool && to == oid.Int4, number(f) && number(t):
		return true
	}
	return f == t && (f == oid.KindTime || f == oid.KindRecord)
}

func (r *run) cast(v datum.Value, from, to uint32) (datum.Value, error) {
	if err := r.step(1); err != nil || v == nil {
		return nil, err
	}
	kind := oid.KindOf(to)
	s, isText := v.(datum.Text)
	if from == oid.JSONB && kind != oid.KindText {
		return castDocument(r, string(s), to)
	}
	if n, ok := v.(datum.Int); ok && from == oid.Int8 && (to == oid.Oid || oid.IsReg(to)) && n < 0 {
		return nil, Fail("22003", "OID out of range")
	}
	switch {
	case isText && kind == oid.KindText && oid.IsString(to) && to != oid.Name && to != oid.Char:
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
			return numberOf(x, to)
		case oid.KindBool:
			return datum.Bool(x != 0), nil
		}
	case datum.Float:
		switch kind {
		case oid.KindInt:
			return r.round(float64(x), to)
		case oid.KindFloat:
			return numberOf(x, to)
		}
	case datum.Numeric:
		switch kind {
		case oid.KindInt:
			n, ok := x.Int64()
			switch {
			case !x.Finite():
				return nil, Fail("0A000", "cannot convert %s to %s", x, r.nameType(to))
			case !ok:
				return nil, Fail("22003", "%s out of range", r.nameType(to))
			}
			return checkRange(datum.Int(n), to)
		case oid.KindFloat:
			return numberOf(x, to)
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

func (r *run) castToText(v datum.Value, from, to uint32) (datum.Value, error) {
	if b, ok := v.(datum.Bool); ok {
		return datum.Text(strconv.FormatBool(bool(b))), nil
	}
	s, err := r.format(v, from)
	if err != nil {
		return nil, err
	}
	if to == oid.Name {
		s = datum.Truncate(s, 63)
	}
	return r.text(s)
}

// round makes a whole number of a double, to even.
func (r *run) round(x float64, to uint32) (datum.Value, error) {
	y := math.RoundToEven(x)
	if !(y >= -9.2e18 && y <= 9.2e18) {
		return nil, Fail("22003", "%s out of range", r.nameType(to))
	}
	return checkRange(datum.Int(y), to)
}

// parameter binds $n. It has no type until what is around it gives one, or the client has.
func (b exprBinder) parameter(p *pg.ParamRef) (*expr, error) {
	n := int(p.Number)
	if n < 1 || n > 1000 {
		return nil, locate(Fail("42P02", "there is no parameter $%d", n), p.Location)
	}
	t := b.types
	for len(t.params) < n {
		t.params = append(t.params, 0)
	}
	if known := t.params[n-1]; known != 0 && known != oid.Unknown {
		return typedParameter(n, known), nil
	}
	return &expr{typ: oid.Unknown, param: n, eval: func(e *env) (datum.Value, error) { return e.run.parameter(n, oid.Text) }}, nil
}

// typedParameter is a parameter of a known type.
func typedParameter(n int, t uint32) *expr {
	return &expr{typ: oid.Base(t), eval: func(e *env) (datum.Value, error) { return e.run.parameter(n, oid.Base(t)) }}
}

// parameter is the value of a parameter, as a type.
func (r *run) parameter(n int, t uint32) (datum.Value, error) {
	if n > len(r.params) {
		return nil, Fail("08P01", "there is no value for parameter $%d", n)
	}
	switch v := r.params[n-1].(type) {
	case nil:
		return nil, nil
	case datum.Text:
		return r.parse(string(v), t)
	case datum.List:
		if oid.Elem(t) == 0 {
			return nil, Fail("42804", "parameter $%d is an array, but a %s is expected", n, r.nameType(t))
		}
		out := make(datum.List, len(v))
		for i, x := range v {
			text, ok := x.(datum.Text)
			if !ok {
				return nil, Fail("42804", "parameter $%d has an element that is not text", n)
			}
			var err error
			if out[i], err = r.parse(string(text), oid.Elem(t)); err != nil {
				return nil, err
			}
		}
		return r.list(out)
	case datum.Int:
		return r.cast(v, oid.Int8, t)
	case datum.Float:
		return r.cast(v, oid.Float8, t)
	case datum.Numeric:
		return r.cast(v, oid.Numeric, t)
	case datum.Bool:
		return r.cast(v, oid.Bool, t)
	}
	return nil, Fail("42804", "parameter $%d is of an unknown kind", n)
}
