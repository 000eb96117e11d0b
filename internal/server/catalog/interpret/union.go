package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// union binds UNION and EXCEPT.
func (s *scope) union(st *pg.SelectStmt) (*query, error) {
	except := st.Op == pg.SetOperation_SETOP_EXCEPT
	if st.Op == pg.SetOperation_SETOP_INTERSECT || except && st.All {
		return nil, unsupported("INTERSECT or EXCEPT ALL")
	}
	left, err := s.b.selectIn(st.Larg, s.child(false))
	if err != nil {
		return nil, err
	}
	right, err := s.b.selectIn(st.Rarg, s.child(false))
	if err != nil {
		return nil, err
	}
	if len(left.outs) != len(right.outs) {
		return nil, Fail("42601", "each UNION query must have the same number of columns")
	}
	q := &query{names: left.names, scope: s, parts: []*query{left, right}}
	for i := range left.outs {
		t, err := s.b.common([]*expr{left.outs[i], right.outs[i]}, "UNION")
		if err != nil {
			return nil, err
		}
		q.outs = append(q.outs, &expr{typ: oid.Unknown, cols: left.outs[i].cols})
		if err := q.coerce(i, t); err != nil {
			return nil, err
		}
	}
	finish, err := s.finish(st, q)
	if err != nil {
		return nil, err
	}
	q.exec = func(e *env) ([]datum.Tuple, error) {
		a, err := left.run(e)
		if err != nil {
			return nil, err
		}
		b, err := right.run(e)
		if err != nil {
			return nil, err
		}
		combine := unite
		if except {
			combine = without
		}
		rows, err := combine(e.run, a, b, st.All)
		if err != nil {
			return nil, err
		}
		return finish(e, rows)
	}
	return q, nil
}

// unite joins the rows of the two sides.
func unite(r *run, a, b []datum.Tuple, all bool) ([]datum.Tuple, error) {
	if err := r.spend(len(a)+len(b), 24*(len(a)+len(b))); err != nil {
		return nil, err
	}
	rows := append(a[:len(a):len(a)], b...)
	if all {
		return rows, nil
	}
	rows, _, err := unique(r, rows, rows)
	return rows, err
}

// without keeps the rows of the first side that are not in the second, each once.
func without(r *run, a, b []datum.Tuple, _ bool) ([]datum.Tuple, error) {
	out, _, err := uniqueAt(r, a)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, t := range b {
		k, err := r.rowKey(t)
		if err != nil {
			return nil, err
		}
		gone[k] = true
	}
	var left []datum.Tuple
	for _, t := range out {
		k, err := r.rowKey(t)
		if err != nil {
			return nil, err
		}
		if !gone[k] {
			left = append(left, t)
		}
	}
	return left, nil
}
