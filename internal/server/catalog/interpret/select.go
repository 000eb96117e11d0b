package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// selection is a SELECT that is no set operation.
type selection struct {
	scope    *scope
	query    *query
	parts    []*node // of FROM
	where    []*conjunct
	groups   []*expr
	having   []*conjunct
	grouped  bool
	distinct bool
	on       int // how many of the keys, the last ones, are of DISTINCT ON
	sorts    []sortKey
	keys     []*expr
	limit    func(*env, []datum.Tuple) ([]datum.Tuple, error)
}

// plain binds a SELECT that is no set operation.
func (s *scope) plain(st *pg.SelectStmt) (*query, error) {
	sel := &selection{scope: s, query: &query{scope: s}}
	var err error
	if sel.parts, err = s.fromClause(st.FromClause); err != nil {
		return nil, err
	}
	if st.WhereClause != nil {
		if sel.where, err = s.conjuncts(st.WhereClause, "WHERE"); err != nil {
			return nil, err
		}
	}
	s.aggOK, s.winOK, s.srfOK = true, true, true
	s.where = "SELECT"
	s.group = &grouping{}
	s.group.prepare(st.GroupClause, st.TargetList)
	if err := s.targets(st.TargetList, sel.query); err != nil {
		return nil, err
	}
	s.aggOK, s.winOK, s.srfOK = false, false, false
	s.group.off++
	if sel.groups, err = s.groupBy(st.GroupClause, sel.query); err != nil {
		return nil, err
	}
	s.group.off--
	s.aggOK = true
	if st.HavingClause != nil {
		if sel.having, err = s.conjuncts(st.HavingClause, "HAVING"); err != nil {
			return nil, err
		}
	}
	s.winOK, s.srfOK = true, true
	if sel.sorts, sel.keys, err = s.orderBy(st.SortClause, sel.query); err != nil {
		return nil, err
	}
	if err := sel.distinctBy(st.DistinctClause); err != nil {
		return nil, err
	}
	s.aggOK, s.winOK, s.srfOK = false, false, false
	if sel.limit, err = s.limit(st); err != nil {
		return nil, err
	}
	if sel.grouped = len(st.GroupClause) > 0 || len(s.aggs) > 0 || st.HavingClause != nil; sel.grouped {
		if err := s.group.check(sel.groups, s); err != nil {
			return nil, err
		}
	}
	s.group = nil
	sel.query.exec = sel.run
	return sel.query, nil
}

// run makes the rows of a SELECT.
func (sel *selection) run(e *env) ([]datum.Tuple, error) {
	s := sel.scope
	base := make([]datum.Tuple, s.rtes)
	rows, err := cross(e, sel.parts, base, sel.where)
	if err != nil {
		return nil, err
	}
	list := make([]state, len(rows))
	for i, row := range rows {
		list[i].row = row
	}
	if sel.grouped {
		if list, err = sel.groupRows(e, list, base); err != nil {
			return nil, err
		}
	}
	if err := s.numberRows(e, list); err != nil {
		return nil, err
	}
	out, keys, err := s.project(e, list, sel.query.outs, sel.keys)
	if err != nil {
		return nil, err
	}
	if sel.distinct {
		if out, keys, err = unique(e.run, out, keys); err != nil {
			return nil, err
		}
	}
	if len(sel.sorts) > 0 {
		if out, keys, err = sortRows(e.run, out, keys, sel.sorts); err != nil {
			return nil, err
		}
	}
	if sel.on > 0 {
		if out, err = sel.firsts(e.run, out, keys); err != nil {
			return nil, err
		}
	}
	return sel.limit(e, out)
}

// distinctBy binds DISTINCT and DISTINCT ON.
func (sel *selection) distinctBy(list []*pg.Node) error {
	sel.distinct = len(list) == 1 && list[0].GetNode() == nil
	if sel.distinct {
		return nil
	}
	for _, n := range list {
		x, err := sel.scope.outputOrExpr(n, sel.query)
		if err != nil {
			return err
		}
		sel.keys = append(sel.keys, x)
	}
	sel.on = len(list)
	return nil
}

// firsts keeps the first row of those that are alike in what DISTINCT ON says.
func (sel *selection) firsts(r *run, rows, keys []datum.Tuple) ([]datum.Tuple, error) {
	by := make([]datum.Tuple, len(keys))
	for i, k := range keys {
		by[i] = k[len(k)-sel.on:]
	}
	_, at, err := uniqueAt(r, by)
	out := make([]datum.Tuple, len(at))
	for i, j := range at {
		out[i] = rows[j]
	}
	return out, err
}

// unique keeps the first of equal rows, with what it is sorted by.
func unique(r *run, rows, keys []datum.Tuple) (out, outKeys []datum.Tuple, err error) {
	out, at, err := uniqueAt(r, rows)
	for _, i := range at {
		outKeys = append(outKeys, keys[i])
	}
	return out, outKeys, err
}

// uniqueAt keeps the first of equal rows, with where it was.
func uniqueAt(r *run, rows []datum.Tuple) (out []datum.Tuple, at []int, err error) {
	seen := map[string]bool{}
	for i, t := range rows {
		k, err := r.rowKey(t)
		if err != nil {
			return nil, nil, err
		}
		if !seen[k] {
			seen[k] = true
			out, at = append(out, t), append(at, i)
		}
	}
	return out, at, nil
}
