package catalog

import (
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
	if elem(t) != 0 {
		return nil, at(unsupported("an array of arrays"), a.Location)
	}
	list := arrayOf(t)
	if list == 0 {
		return nil, at(fail("42704", "could not find array type for data type %s", s.b.c.formatType(t, -1)), a.Location)
	}
	return &expr{typ: list, eval: func(e *env) (any, error) {
		t, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		return e.run.list(t)
	}}, nil
}

// arrayOf binds ARRAY[...] whose elements are cast to those of the array type t.
func (s *scope) arrayOf(a *pg.A_ArrayExpr, t uint32) (*expr, error) {
	args, err := s.exprs(a.Elements)
	if err != nil {
		return nil, err
	}
	for i, x := range args {
		if elem(x.typ) != 0 {
			return nil, at(unsupported("an array of arrays"), a.Location)
		}
		if args[i], err = s.b.cast(x, elem(t)); err != nil {
			return nil, at(err, a.Location)
		}
	}
	return &expr{typ: t, eval: func(e *env) (any, error) {
		t, err := evalAll(e, args)
		if err != nil {
			return nil, err
		}
		return e.run.list(t)
	}}, nil
}

// subscript binds x[i] and x[i:j].
func (s *scope) subscript(x *expr, ix *pg.A_Indices) (*expr, error) {
	var err error
	if x.untyped() {
		if x, err = s.b.coerce(x, tTextArray); err != nil {
			return nil, err
		}
	}
	t := elem(x.typ)
	if t == 0 {
		return nil, fail("42804", "cannot subscript type %s because it does not support subscripting", s.b.c.formatType(x.typ, -1))
	}
	index := func(n *pg.Node) (*expr, error) {
		if n == nil {
			return nil, nil
		}
		i, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		return s.b.coerce(i, tInt4)
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
	if x.typ == tInt2Vector || x.typ == tOidVector {
		first = 0
	}
	number := func(e *env, i *expr, otherwise int64) (int64, bool, error) {
		if i == nil {
			return otherwise, true, nil
		}
		v, err := i.eval(e)
		n, ok := v.(int64)
		return n - first, ok, err
	}
	if ix.IsSlice {
		return &expr{typ: x.typ, eval: func(e *env) (any, error) {
			v, err := x.eval(e)
			if v == nil || err != nil {
				return nil, err
			}
			list, _ := v.([]any)
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
				return []any{}, nil
			}
			return e.run.list(append([]any(nil), list[from:to+1]...))
		}}, nil
	}
	if upper == nil {
		return nil, unsupported("this subscript")
	}
	return &expr{typ: t, cols: x.cols, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if v == nil || err != nil {
			return nil, err
		}
		list, _ := v.([]any)
		i, ok, err := number(e, upper, 0)
		if err != nil || !ok || i < 0 || i >= int64(len(list)) {
			return nil, err
		}
		if _, nested := list[i].([]any); nested {
			return nil, nil
		}
		return list[i], e.run.step(1)
	}}, nil
}
