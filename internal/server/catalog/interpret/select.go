package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// plain binds a SELECT that is no set operation.
func (s *scope) plain(st *pg.SelectStmt) (*query, error) {
	parts, err := s.from(st.FromClause)
	if err != nil {
		return nil, err
	}
	var where []*conjunct
	if st.WhereClause != nil {
		if where, err = s.conjuncts(st.WhereClause, "WHERE"); err != nil {
			return nil, err
		}
	}
	s.clause = st.WindowClause
	q := &query{scope: s}
	s.aggOK, s.winOK, s.srfOK = true, true, true
	s.where = "SELECT"
	s.group = &grouping{}
	s.group.prepare(s, st.GroupClause, st.TargetList)
	if err := s.targets(st.TargetList, q); err != nil {
		return nil, err
	}
	s.aggOK, s.winOK, s.srfOK = false, false, false
	s.group.off++
	groups, err := s.groupBy(st.GroupClause, q)
	if err != nil {
		return nil, err
	}
	s.group.off--
	s.aggOK = true
	var having []*conjunct
	if st.HavingClause != nil {
		if having, err = s.conjuncts(st.HavingClause, "HAVING"); err != nil {
			return nil, err
		}
	}
	s.winOK, s.srfOK = true, true
	ks, keys, err := s.orderBy(st.SortClause, q)
	if err != nil {
		return nil, err
	}
	distinct, on, err := s.distinct(st.DistinctClause, q)
	if err != nil {
		return nil, err
	}
	s.aggOK, s.winOK, s.srfOK = false, false, false
	limit, err := s.limit(st)
	if err != nil {
		return nil, err
	}
	grouped := len(st.GroupClause) > 0 || len(s.aggs) > 0 || st.HavingClause != nil
	if grouped {
		if err := s.group.check(groups, s); err != nil {
			return nil, err
		}
	}
	s.group = nil
	q.exec = func(e *env) ([]datum.Tuple, error) {
		base := make([]datum.Tuple, s.rtes)
		rows, err := cross(e, parts, base, where)
		if err != nil {
			return nil, err
		}
		list := make([]state, len(rows))
		for i, row := range rows {
			list[i].row = row
		}
		if grouped {
			if list, err = s.groupRows(e, list, groups, len(st.GroupClause) == 0, base); err != nil {
				return nil, err
			}
			if len(having) > 0 {
				kept := list[:0]
				for _, g := range list {
					g.enter(e)
					ok, err := holds(e, having)
					if err != nil {
						return nil, err
					}
					if ok {
						kept = append(kept, g)
					}
				}
				list = kept
			}
		}
		if len(s.wins) > 0 {
			if err := s.windows(e, list); err != nil {
				return nil, err
			}
		}
		out, sorts, err := s.project(e, list, q.outs, keys, on)
		if err != nil {
			return nil, err
		}
		n := len(keys)
		if distinct {
			if out, sorts, err = unique(e.run, out, out, sorts); err != nil {
				return nil, err
			}
		}
		if len(ks) > 0 {
			if out, sorts, err = sortRows(e.run, out, sorts, ks); err != nil {
				return nil, err
			}
		}
		if len(on) > 0 {
			heads := make([]datum.Tuple, len(out))
			for i := range sorts {
				heads[i] = sorts[i][n:]
			}
			if out, _, err = unique(e.run, out, heads, sorts); err != nil {
				return nil, err
			}
		}
		return limit(e, out)
	}
	return q, nil
}

// distinct binds DISTINCT, or the expressions of DISTINCT ON.
func (s *scope) distinct(list []*pg.Node, q *query) (bool, []*expr, error) {
	if len(list) == 0 {
		return false, nil, nil
	}
	if len(list) == 1 && list[0].GetNode() == nil {
		return true, nil, nil
	}
	var on []*expr
	for _, n := range list {
		x, err := s.orOutput(n, q)
		if err != nil {
			return false, nil, err
		}
		on = append(on, x)
	}
	return false, on, nil
}

// unique keeps the first row of each key.
func unique(r *run, rows, by, sorts []datum.Tuple) ([]datum.Tuple, []datum.Tuple, error) {
	seen := map[string]bool{}
	var out, outSorts []datum.Tuple
	for i, t := range rows {
		k, err := r.rowKey(by[i])
		if err != nil {
			return nil, nil, err
		}
		if !seen[k] {
			seen[k] = true
			out, outSorts = append(out, t), append(outSorts, sorts[i])
		}
	}
	return out, outSorts, nil
}
