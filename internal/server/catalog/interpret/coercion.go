package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// typed gives a type to what has none. Literals are read now, so that what is wrong with them is
// told before anything runs.
func (b *binder) typed(x *expr, t uint32) (*expr, error) {
	switch {
	case x.param > 0:
		if b.params[x.param-1] == 0 || b.params[x.param-1] == oid.Unknown {
			b.params[x.param-1] = t
		}
		if known := b.params[x.param-1]; oid.Base(known) != t {
			return b.cast(b.typedParameter(x.param, known), t)
		}
		return b.typedParameter(x.param, t), nil
	case x.null:
		return constant(t, nil), nil
	case x.lit != nil:
		if oid.KindOf(t) == oid.KindTime || t == oid.Record {
			break // now is later
		}
		v, err := b.r.parse(*x.lit, t)
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
func (b *binder) settled(x *expr) (*expr, error) {
	if x.untyped() {
		return b.typed(x, oid.Text)
	}
	return x, nil
}

// coerce makes a value of a type where PostgreSQL does so without being told.
func (b *binder) coerce(x *expr, t uint32) (*expr, error) {
	t = oid.Base(t)
	switch {
	case x.typ == t:
		return x, nil
	case x.untyped():
		return b.typed(x, t)
	case implicit(x.typ, t) == 0:
		return nil, Fail("42804", "a value of type %s is not of type %s", b.r.nameType(x.typ), b.r.nameType(t))
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
func (b *binder) common(xs []*expr, where string) (uint32, error) {
	t := uint32(oid.Unknown)
	for _, x := range xs {
		switch {
		case x.untyped() || x.typ == t:
		case t == oid.Unknown:
			t = x.typ
		case b.category(x.typ) != b.category(t):
			return 0, Fail("42804", "%s types %s and %s cannot be matched", where, b.r.nameType(t), b.r.nameType(x.typ))
		case !preferred(t) && implicit(t, x.typ) > 0 && implicit(x.typ, t) == 0:
			t = x.typ
		}
	}
	return t, nil
}

func (b *binder) category(t uint32) string {
	if d := b.r.db.Types().Find(t); d != nil {
		return d.Category
	}
	return ""
}

// preferred says whether a type wins over others of its category, as typispreferred does.
func preferred(t uint32) bool {
	return t == oid.Text || t == oid.Oid || t == oid.Float8 || t == oid.Bool || t == oid.Timestamptz
}

// unify brings expressions to their common type: text where none has one.
func (b *binder) unify(xs []*expr, where string) (uint32, error) {
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
