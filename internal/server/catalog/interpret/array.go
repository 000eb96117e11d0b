package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// array binds ARRAY[...].
func (s *scope) array(a *pg.A_ArrayExpr) (*expr, error) {
	args, err := s.exprs(a.Elements)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return untypedLiteral("{}"), nil
	}
	t, err := s.b.unify(args, "ARRAY")
	if err != nil {
		return nil, at(err, a.Location)
	}
	if oid.Elem(t) != 0 {
		return nil, at(unsupported("an array of arrays"), a.Location)
	}
	list := oid.ArrayOf(t)
	if list == 0 {
		return nil, at(Fail("42704", "could not find array type for data type %s", s.b.r.nameType(t)), a.Location)
	}
	return &expr{typ: list, eval: func(e *env) (datum.Value, error) {
		t, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		return e.run.list(datum.List(t))
	}}, nil
}

// arrayOf binds ARRAY[...] whose elements are cast to those of the array type t.
func (s *scope) arrayOf(a *pg.A_ArrayExpr, t uint32) (*expr, error) {
	args, err := s.exprs(a.Elements)
	if err != nil {
		return nil, err
	}
	for i, x := range args {
		if oid.Elem(x.typ) != 0 {
			return nil, at(unsupported("an array of arrays"), a.Location)
		}
		if args[i], err = s.b.cast(x, oid.Elem(t)); err != nil {
			return nil, at(err, a.Location)
		}
	}
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		t, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		return e.run.list(datum.List(t))
	}}, nil
}

// subscript binds x[i] and x[i:j].
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
	index := func(n *pg.Node) (*expr, error) {
		if n == nil {
			return nil, nil
		}
		i, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		return s.b.coerce(i, oid.Int4)
	}
	lower, err := index(ix.Lidx)
	if err != nil {
		return nil, err
	}
	upper, err := index(ix.Uidx)
	if err != nil {
		return nil, err
	}
	first := int64(1)
	if x.typ == oid.Int2Vector || x.typ == oid.OidVector {
		first = 0
	}
	number := func(e *env, i *expr, otherwise int64) (int64, bool, error) {
		if i == nil {
			return otherwise, true, nil
		}
		v, err := i.eval(e)
		n, ok := v.(datum.Int)
		return int64(n) - first, ok, err
	}
	if ix.IsSlice {
		return &expr{typ: x.typ, eval: func(e *env) (datum.Value, error) {
			v, err := x.eval(e)
			if v == nil || err != nil {
				return nil, err
			}
			list, _ := v.(datum.List)
			from, ok, err := number(e, lower, 0)
			if err != nil || !ok {
				return nil, err
			}
			to, ok, err := number(e, upper, int64(len(list))-1)
			if err != nil || !ok {
				return nil, err
			}
			from, to = max(from, 0), min(to, int64(len(list))-1)
			if from > to {
				return datum.List{}, nil
			}
			return e.run.list(append(datum.List(nil), list[from:to+1]...))
		}}, nil
	}
	if upper == nil {
		return nil, unsupported("this subscript")
	}
	return &expr{typ: t, cols: x.cols, eval: func(e *env) (datum.Value, error) {
		v, err := x.eval(e)
		if v == nil || err != nil {
			return nil, err
		}
		list, _ := v.(datum.List)
		i, ok, err := number(e, upper, 0)
		if err != nil || !ok || i < 0 || i >= int64(len(list)) {
			return nil, err
		}
		if _, nested := list[i].(datum.List); nested {
			return nil, nil
		}
		return list[i], e.run.step(1)
	}}, nil
}
