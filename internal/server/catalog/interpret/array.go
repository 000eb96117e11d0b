package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// array binds ARRAY[...]. Its elements get their common type, or that of the elements of the array
// type t where it is cast to one.
func (s *scope) array(a *pg.A_ArrayExpr, t uint32) (*expr, error) {
	args, err := s.exprs(a.Elements)
	if err != nil {
		return nil, err
	}
	if t != 0 {
		for i, x := range args {
			if oid.Elem(x.typ) != 0 {
				return nil, locate(unsupported("an array of arrays"), a.Location)
			}
			if args[i], err = s.b.cast(x, oid.Elem(t)); err != nil {
				return nil, locate(err, a.Location)
			}
		}
		return list(t, args), nil
	}
	if len(args) == 0 {
		return untypedLiteral("{}"), nil
	}
	el, err := s.b.unify(args, "ARRAY")
	if err != nil {
		return nil, locate(err, a.Location)
	}
	if oid.Elem(el) != 0 {
		return nil, locate(unsupported("an array of arrays"), a.Location)
	}
	if t = oid.ArrayOf(el); t == 0 {
		return nil, locate(s.b.noArray(el), a.Location)
	}
	return list(t, args), nil
}

// list is an array of expressions.
func list(t uint32, args []*expr) *expr {
	return compute(t, args, func(r *run, t datum.Tuple) (datum.Value, error) { return r.list(datum.List(t)) })
}

// noArray says that there are no arrays of a type.
func (b *binder) noArray(t uint32) error {
	return Fail("42704", "could not find array type for data type %s", b.r.nameType(t))
}

// subscript binds x[i].
func (s *scope) subscript(x *expr, ix *pg.A_Indices) (*expr, error) {
	var err error
	if x.untyped() {
		if x, err = s.b.coerce(x, oid.TextArray); err != nil {
			return nil, err
		}
	}
	t := oid.Elem(x.typ)
	if t == 0 {
		return nil, Fail("42804", "cannot subscript type %s because it does not support subscripting", s.b.r.nameType(x.typ))
	}
	if ix.IsSlice || ix.Uidx == nil {
		return nil, unsupported("this subscript")
	}
	index, err := s.expr(ix.Uidx)
	if err == nil {
		index, err = s.b.coerce(index, oid.Int4)
	}
	if err != nil {
		return nil, err
	}
	first := datum.Int(firstIndex(x.typ))
	el := strict(t, x, index, func(r *run, a, n datum.Value) (datum.Value, error) {
		l, i := a.(datum.List), n.(datum.Int)-first
		if i < 0 || i >= datum.Int(len(l)) {
			return nil, nil
		}
		return l[i], r.step(1)
	})
	el.cols = x.cols
	return el, nil
}
