package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// members are the values of a subquery that depends on nothing, for IN.
type members struct {
	keys map[string]bool
	null bool
}

func (b exprBinder) subLink(l *pg.SubLink) (*expr, error) {
	st := l.Subselect.GetSelectStmt()
	if st == nil {
		return nil, unsupported("this subquery")
	}
	q, err := b.scope.binder.bindSelect(st, b.scope.child(false))
	if err != nil {
		return nil, err
	}
	one := func() error {
		if len(q.outs) != 1 {
			return Fail("42601", "subquery must return only one column")
		}
		return nil
	}
	switch l.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		q.settle()
		return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
			rows, err := q.cached(e)
			return datum.Bool(len(rows) > 0), err
		}}, nil
	case pg.SubLinkType_EXPR_SUBLINK:
		if err := one(); err != nil {
			return nil, err
		}
		q.settle()
		return &expr{typ: q.outs[0].typ, cols: q.outs[0].cols, eval: func(e *env) (datum.Value, error) {
			rows, err := q.cached(e)
			switch {
			case err != nil || len(rows) == 0:
				return nil, err
			case len(rows) > 1:
				return nil, Fail("21000", "more than one row returned by a subquery used as an expression")
			}
			return rows[0][0], nil
		}}, nil
	case pg.SubLinkType_ARRAY_SUBLINK:
		if err := one(); err != nil {
			return nil, err
		}
		q.settle()
		t := oid.ArrayOf(q.outs[0].typ)
		if t == 0 {
			return nil, b.types.noArray(q.outs[0].typ)
		}
		return &expr{typ: t, cols: q.outs[0].cols, eval: func(e *env) (datum.Value, error) {
			rows, err := q.cached(e)
			if err != nil {
				return nil, err
			}
			return e.run.column(rows)
		}}, nil
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		return b.quantified(l, q)
	}
	return nil, unsupported("this subquery")
}

// quantified is x op ANY (SELECT ...) or ALL, with IN for = ANY.
func (b exprBinder) quantified(l *pg.SubLink, q *query) (*expr, error) {
	op := "="
	if names := nameParts(l.OperName); len(names) > 0 {
		op = names[len(names)-1]
	}
	all := l.SubLinkType == pg.SubLinkType_ALL_SUBLINK
	var left []*expr
	if r := l.Testexpr.GetRowExpr(); r != nil {
		xs, err := b.exprs(r.Args)
		if err != nil {
			return nil, err
		}
		left = xs
	} else {
		x, err := b.expr(l.Testexpr)
		if err != nil {
			return nil, err
		}
		left = []*expr{x}
	}
	if len(left) != len(q.outs) {
		return nil, Fail("42601", "subquery has too many or too few columns")
	}
	vals := make(datum.Tuple, len(left))
	items := make(datum.Tuple, len(left))
	var tests []*expr
	plain := op == "=" && !all && len(left) == 1
	for i, x := range left {
		if err := b.pair(&left[i], q, i); err != nil {
			return nil, err
		}
		x = left[i]
		l, r := x.held(&vals[i]), q.outs[i].held(&items[i])
		t, err := b.operators.binary(op, l, r)
		if err != nil {
			return nil, err
		}
		if t.typ != oid.Bool {
			return nil, Fail("42804", "row comparison operator must yield type boolean")
		}
		plain = plain && t.eq != nil && t.eq.l == l && t.eq.r == r
		tests = append(tests, t)
	}
	if len(left) > 1 && op != "=" {
		return nil, unsupported("a comparison of rows other than IN")
	}
	return &expr{typ: oid.Bool, eval: func(e *env) (datum.Value, error) {
		v, err := evalAll(e, left)
		if err != nil {
			return nil, err
		}
		rows, err := q.cached(e)
		if err != nil {
			return nil, err
		}
		if plain && !q.scope.escapes {
			return e.run.contains(q, rows, v[0])
		}
		return e.run.decide(len(rows), !all, func(i int) (datum.Value, error) {
			return e.run.decide(len(tests), false, func(j int) (datum.Value, error) {
				copy(vals, v)
				copy(items, rows[i])
				return tests[j].eval(e)
			})
		})
	}}, nil
}

// pair gives a type to a side of x op ANY (SELECT ...) that has none.
func (b exprBinder) pair(x **expr, q *query, i int) error {
	if q.outs[i].untyped() {
		t := (*x).typ
		if (*x).untyped() {
			t = oid.Text
		}
		if err := q.coerce(i, t); err != nil {
			return err
		}
	}
	if !(*x).untyped() {
		return nil
	}
	typed, err := b.types.coerce(*x, operand(q.outs[i].typ))
	*x = typed
	return err
}

// contains is whether a value is among the rows of a query that depends on nothing.
func (r *run) contains(q *query, rows []datum.Tuple, v datum.Value) (datum.Value, error) {
	m, err := r.members(q, rows)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return datum.False, nil
	case v == nil:
		return nil, nil
	case m.keys[string(datum.Key(nil, v))]:
		return datum.True, nil
	case m.null:
		return nil, nil
	}
	return datum.False, nil
}

func (r *run) members(q *query, rows []datum.Tuple) (*members, error) {
	if m := r.sets[q]; m != nil {
		return m, nil
	}
	m := &members{keys: map[string]bool{}}
	for _, t := range rows {
		if t[0] == nil {
			m.null = true
			continue
		}
		k := string(datum.Key(nil, t[0]))
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
