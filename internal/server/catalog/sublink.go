package catalog

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// members are the values of a subquery that depends on nothing, for IN.
type members struct {
	keys map[string]bool
	null bool
}

func (s *scope) subLink(l *pg.SubLink) (*expr, error) {
	st := l.Subselect.GetSelectStmt()
	if st == nil {
		return nil, unsupported("this subquery")
	}
	q, err := s.b.selectIn(st, s.child(false))
	if err != nil {
		return nil, err
	}
	one := func() error {
		if len(q.outs) != 1 {
			return fail("42601", "subquery must return only one column")
		}
		return nil
	}
	switch l.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		q.settle()
		return &expr{typ: tBool, eval: func(e *env) (any, error) {
			rows, err := q.cached(e)
			return len(rows) > 0, err
		}}, nil
	case pg.SubLinkType_EXPR_SUBLINK:
		if err := one(); err != nil {
			return nil, err
		}
		q.settle()
		return &expr{typ: q.outs[0].typ, cols: q.outs[0].cols, eval: func(e *env) (any, error) {
			rows, err := q.cached(e)
			switch {
			case err != nil || len(rows) == 0:
				return nil, err
			case len(rows) > 1:
				return nil, fail("21000", "more than one row returned by a subquery used as an expression")
			}
			return rows[0][0], nil
		}}, nil
	case pg.SubLinkType_ARRAY_SUBLINK:
		if err := one(); err != nil {
			return nil, err
		}
		q.settle()
		t := arrayOf(q.outs[0].typ)
		if t == 0 {
			return nil, fail("42704", "could not find array type for data type %s", s.b.c.formatType(q.outs[0].typ, -1))
		}
		return &expr{typ: t, cols: q.outs[0].cols, eval: func(e *env) (any, error) {
			rows, err := q.cached(e)
			if err != nil {
				return nil, err
			}
			out := make([]any, len(rows))
			for i, r := range rows {
				out[i] = r[0]
			}
			return e.run.list(out)
		}}, nil
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		return s.quantified(l, q)
	}
	return nil, unsupported("this subquery")
}

// quantified is x op ANY (SELECT ...) or ALL, with IN for = ANY.
func (s *scope) quantified(l *pg.SubLink, q *query) (*expr, error) {
	op := "="
	if names := nameOf(l.OperName); len(names) > 0 {
		op = names[len(names)-1]
	}
	all := l.SubLinkType == pg.SubLinkType_ALL_SUBLINK
	var left []*expr
	if r := l.Testexpr.GetRowExpr(); r != nil {
		xs, err := s.exprs(r.Args)
		if err != nil {
			return nil, err
		}
		left = xs
	} else {
		x, err := s.expr(l.Testexpr)
		if err != nil {
			return nil, err
		}
		left = []*expr{x}
	}
	if len(left) != len(q.outs) {
		return nil, fail("42601", "subquery has too many or too few columns")
	}
	vals := make([]any, len(left))
	items := make([]any, len(left))
	var tests []*expr
	plain := op == "=" && !all && len(left) == 1
	for i, x := range left {
		if q.outs[i].untyped() {
			t := x.typ
			if x.untyped() {
				t = tText
			}
			if err := q.coerce(i, t); err != nil {
				return nil, err
			}
		}
		if x.untyped() {
			var err error
			if x, err = s.b.coerce(x, operand(q.outs[i].typ)); err != nil {
				return nil, err
			}
			left[i] = x
		}
		a := &expr{typ: x.typ, cols: x.cols, eval: func(*env) (any, error) { return vals[i], nil }}
		b := &expr{typ: q.outs[i].typ, cols: q.outs[i].cols, eval: func(*env) (any, error) { return items[i], nil }}
		t, err := s.b.binary(op, a, b)
		if err != nil {
			return nil, err
		}
		if t.typ != tBool {
			return nil, fail("42804", "row comparison operator must yield type boolean")
		}
		if t.eq == nil || t.eq.l != a || t.eq.r != b {
			plain = false
		}
		tests = append(tests, t)
	}
	if len(left) > 1 && op != "=" {
		return nil, unsupported("a comparison of rows other than IN")
	}
	return &expr{typ: tBool, eval: func(e *env) (any, error) {
		v, err := evalAll(e, left)
		if err != nil {
			return nil, err
		}
		rows, err := q.cached(e)
		if err != nil {
			return nil, err
		}
		if plain && !q.scope.escapes {
			m, err := e.run.members(q, rows)
			if err != nil {
				return nil, err
			}
			switch {
			case len(rows) == 0:
				return false, nil
			case v[0] == nil:
				return nil, nil
			case m.keys[string(key(nil, v[0]))]:
				return true, nil
			case m.null:
				return nil, nil
			}
			return false, nil
		}
		unknown := false
		for _, r := range rows {
			if err := e.run.step(1); err != nil {
				return nil, err
			}
			var verdict any = true
			for i, t := range tests {
				copy(vals, v)
				copy(items, r)
				got, err := t.eval(e)
				if err != nil {
					return nil, err
				}
				if got == false {
					verdict = false
					break
				}
				if got == nil {
					verdict = nil
				}
				_ = i
			}
			if verdict == nil {
				unknown = true
			} else if (verdict == true) != all {
				return !all, nil
			}
		}
		if unknown {
			return nil, nil
		}
		return all, nil
	}}, nil
}

func (r *run) members(q *query, rows []tuple) (*members, error) {
	if m := r.sets[q]; m != nil {
		return m, nil
	}
	m := &members{keys: map[string]bool{}}
	for _, t := range rows {
		if t[0] == nil {
			m.null = true
			continue
		}
		k := string(key(nil, t[0]))
		if err := r.take(len(k) + 32); err != nil {
			return nil, err
		}
		m.keys[k] = true
	}
	if r.sets == nil {
		r.sets = map[*query]*members{}
	}
	r.sets[q] = m
	return m, r.step(len(rows))
}
