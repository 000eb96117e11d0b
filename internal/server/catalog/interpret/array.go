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
	if ix.IsSlice {
		return s.slice(x, ix)
	}
	if ix.Uidx == nil {
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

// slice binds x[i:j]. Elements count from 1 in it; a side that is missing is the array's own.
func (s *scope) slice(x *expr, ix *pg.A_Indices) (*expr, error) {
	if oid.IsVector(x.typ) {
		return nil, unsupported("a slice of a vector")
	}
	args := []*expr{x}
	for _, n := range []*pg.Node{ix.Lidx, ix.Uidx} {
		if n == nil {
			args = append(args, &expr{typ: oid.Int4, eval: func(*env) (datum.Value, error) { return datum.Int(-1), nil }})
			continue
		}
		i, err := s.expr(n)
		if err == nil {
			i, err = s.b.coerce(i, oid.Int4)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, i)
	}
	return compute(x.typ, args, func(r *run, v datum.Tuple) (datum.Value, error) {
		l, ok := v[0].(datum.List)
		if !ok || v[1] == nil || v[2] == nil {
			return nil, nil
		}
		from, to := int(v[1].(datum.Int)), int(v[2].(datum.Int))
		if ix.Lidx == nil {
			from = 1
		}
		if ix.Uidx == nil {
			to = len(l)
		}
		from, to = max(from, 1), min(to, len(l))
		if from > to {
			return datum.List{}, nil
		}
		return r.list(l[from-1 : to])
	}), nil
}
