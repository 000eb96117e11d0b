package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// values binds VALUES.
func (s *scope) values(st *pg.SelectStmt) (*query, error) {
	q := &query{scope: s}
	for i, n := range st.ValuesLists {
		list, err := s.exprs(n.GetList().GetItems())
		if err != nil {
			return nil, err
		}
		if i > 0 && len(list) != len(q.lists[0]) {
			return nil, Fail("42601", "VALUES lists must all be the same length")
		}
		q.lists = append(q.lists, list)
	}
	for i := range q.lists[0] {
		var col []*expr
		for _, l := range q.lists {
			col = append(col, l[i])
		}
		t, err := s.b.common(col, "VALUES")
		if err != nil {
			return nil, err
		}
		q.names = append(q.names, "column"+oid.Format(uint32(i+1)))
		q.outs = append(q.outs, &expr{typ: oid.Unknown, cols: col[0].cols})
		if err := q.coerce(i, t); err != nil {
			return nil, err
		}
	}
	finish, err := s.finish(st, q)
	if err != nil {
		return nil, err
	}
	q.exec = func(e *env) ([]datum.Tuple, error) {
		var rows []datum.Tuple
		for _, l := range q.lists {
			t, err := evalAll(e, l)
			if err != nil {
				return nil, err
			}
			rows = append(rows, t)
		}
		return finish(e, rows)
	}
	return q, nil
}
