package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// setOperation binds UNION, INTERSECT and EXCEPT.
func (s *scope) setOperation(st *pg.SelectStmt) (*query, error) {
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
	op, all := st.Op, st.All
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
		rows, err := setRows(e.run, a, b, op, all)
		if err != nil {
			return nil, err
		}
		return finish(e, rows)
	}
	return q, nil
}

// setRows joins the rows of the two sides.
func setRows(r *run, a, b []datum.Tuple, op pg.SetOperation, all bool) ([]datum.Tuple, error) {
	if err := r.step(len(a) + len(b)); err != nil {
		return nil, err
	}
	if err := r.take(24 * (len(a) + len(b))); err != nil {
		return nil, err
	}
	if op == pg.SetOperation_SETOP_UNION && all {
		return append(a[:len(a):len(a)], b...), nil
	}
	count := map[string]int{}
	if op != pg.SetOperation_SETOP_UNION {
		for _, t := range b {
			k, err := r.rowKey(t)
			if err != nil {
				return nil, err
			}
			count[k]++
		}
	}
	var out []datum.Tuple
	done := map[string]bool{}
	for i, list := range [][]datum.Tuple{a, b} {
		if i == 1 && op != pg.SetOperation_SETOP_UNION {
			break
		}
		for _, t := range list {
			k, err := r.rowKey(t)
			if err != nil {
				return nil, err
			}
			take := true
			switch op {
			case pg.SetOperation_SETOP_INTERSECT:
				take = count[k] > 0
			case pg.SetOperation_SETOP_EXCEPT:
				take = count[k] <= 0
			}
			if all {
				count[k]--
				if op == pg.SetOperation_SETOP_EXCEPT && !take {
					continue
				}
			} else if done[k] {
				continue
			}
			if take {
				done[k] = true
				out = append(out, t)
			}
		}
	}
	return out, nil
}
