package catalog

import (
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
	q.exec = func(e *env) ([]tuple, error) {
		base := make([]tuple, s.rtes)
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
			heads := make([]tuple, len(out))
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

// state is a row on its way through a SELECT.
type state struct {
	row  []tuple
	aggs []any
	wins []any
}

func (t *state) enter(e *env) { e.row, e.aggs, e.wins = t.row, t.aggs, t.wins }

// project evaluates the output, and what it is sorted by, of each row. A function that returns a set makes several rows of one.
func (s *scope) project(e *env, list []state, outs, keys, on []*expr) (out, sorts []tuple, err error) {
	keys = append(keys[:len(keys):len(keys)], on...)
	one := func() error {
		t, err := evalAll(e, outs)
		if err != nil {
			return err
		}
		out = append(out, t)
		if len(keys) > 0 {
			k, err := evalAll(&env{run: e.run, outer: e.outer, row: e.row, aggs: e.aggs, wins: e.wins, srfs: append(e.srfs[:len(e.srfs):len(e.srfs)], t)}, keys)
			if err != nil {
				return err
			}
			sorts = append(sorts, k)
		} else {
			sorts = append(sorts, nil)
		}
		return nil
	}
	for i := range list {
		list[i].enter(e)
		if err := e.run.step(1); err != nil {
			return nil, nil, err
		}
		if len(s.srfs) == 0 {
			if err := one(); err != nil {
				return nil, nil, err
			}
			continue
		}
		sets := make([][]any, len(s.srfs))
		longest := 0
		e.srfs = make([]any, len(s.srfs))
		for j, f := range s.srfs {
			if sets[j], err = f.eval(e); err != nil {
				return nil, nil, err
			}
			longest = max(longest, len(sets[j]))
		}
		for k := range longest {
			e.srfs = make([]any, len(s.srfs))
			for j := range sets {
				if k < len(sets[j]) {
					e.srfs[j] = sets[j][k]
				}
			}
			if err := e.run.step(len(sets)); err != nil {
				return nil, nil, err
			}
			if err := one(); err != nil {
				return nil, nil, err
			}
		}
		e.srfs = nil
	}
	return out, sorts, nil
}

// unique keeps the first row of each key.
func unique(r *run, rows, by, sorts []tuple) ([]tuple, []tuple, error) {
	seen := map[string]bool{}
	var out, outSorts []tuple
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

// targets binds the output columns.
func (s *scope) targets(list []*pg.Node, q *query) error {
	for _, n := range list {
		t := n.GetResTarget()
		if t == nil {
			return unsupported("this output column")
		}
		if fields, ok, err := s.star(t.Val); err != nil {
			return err
		} else if ok {
			for _, f := range fields {
				q.names = append(q.names, f.name)
				q.outs = append(q.outs, f.expr())
			}
			continue
		}
		if in := t.Val.GetAIndirection(); in != nil && len(in.Indirection) > 0 && in.Indirection[len(in.Indirection)-1].GetAStar() != nil {
			// (composite).*
			x, err := s.indirection(in.Arg, in.Indirection[:len(in.Indirection)-1])
			if err != nil {
				return err
			}
			if x.cols == nil {
				return fail("42809", "a value of type %s has no columns", s.b.c.formatType(x.typ, -1))
			}
			for i, c := range x.cols {
				q.names = append(q.names, c.Name)
				q.outs = append(q.outs, pick(x, i))
			}
			continue
		}
		x, err := s.expr(t.Val)
		if err != nil {
			return err
		}
		name := t.Name
		if name == "" {
			name, _ = figure(t.Val)
		}
		q.names = append(q.names, truncate(name, 63))
		q.outs = append(q.outs, x)
	}
	if len(q.outs) > 1664 {
		return fail("54011", "target lists can have at most 1664 entries")
	}
	return nil
}

// star returns what * or t.* stands for.
func (s *scope) star(n *pg.Node) ([]field, bool, error) {
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) == 0 || ref.Fields[len(ref.Fields)-1].GetAStar() == nil {
		return nil, false, nil
	}
	if len(ref.Fields) == 1 {
		if s.rtes == 0 {
			return nil, false, at(fail("42601", "SELECT * with no tables specified is not valid"), ref.Location)
		}
		return s.stars, true, nil
	}
	parts := nameOf(ref.Fields[:len(ref.Fields)-1])
	for f, hidden := s, false; f != nil; f = f.outer {
		if !hidden {
			if sp := f.space(parts); sp != nil {
				depth := f.at(s)
				if depth == 0 {
					return sp.fields, true, nil
				}
				var out []field
				for _, fd := range sp.fields {
					out = append(out, field{fd.name, func() *expr {
						x := fd.expr()
						inner := x.eval
						return &expr{typ: x.typ, cols: x.cols, eval: func(e *env) (any, error) { return inner(e.up(depth)) }}
					}})
				}
				return out, true, nil
			}
		}
		hidden = f.hidden
	}
	return nil, false, at(fail("42P01", "missing FROM-clause entry for table %q", clip(parts[len(parts)-1])), ref.Location)
}

// groupBy binds GROUP BY: numbers and names of output columns, or expressions.
func (s *scope) groupBy(list []*pg.Node, q *query) ([]*expr, error) {
	var out []*expr
	for _, n := range list {
		if n.GetGroupingSet() != nil {
			if len(n.GetGroupingSet().Content) == 0 {
				continue
			}
			return nil, unsupported("GROUPING SETS")
		}
		s.where = "GROUP BY"
		if ref := n.GetColumnRef(); ref != nil && len(ref.Fields) == 1 && ref.Fields[0].GetString_() != nil {
			// A column of FROM comes before one of the output.
			x, err := s.local([]string{ref.Fields[0].GetString_().GetSval()})
			if err != nil {
				return nil, at(err, ref.Location)
			}
			if x != nil {
				out = append(out, x)
				continue
			}
		}
		i, ok, err := s.outputColumn(n, q)
		if err != nil {
			return nil, err
		}
		if ok {
			if q.outs[i].untyped() {
				if err := q.coerce(i, tText); err != nil {
					return nil, err
				}
			}
			out = append(out, q.outs[i])
			continue
		}
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// orderBy binds ORDER BY: numbers and names of output columns, or expressions.
func (s *scope) orderBy(list []*pg.Node, q *query) ([]sortKey, []*expr, error) {
	var ks []sortKey
	var keys []*expr
	for _, n := range list {
		b := n.GetSortBy()
		s.where = "ORDER BY"
		x, err := s.orOutput(b.GetNode(), q)
		if err != nil {
			return nil, nil, err
		}
		ks, keys = append(ks, sortKeyOf(b)), append(keys, x)
	}
	return ks, keys, nil
}

// orOutput is an output column, or else an expression.
func (s *scope) orOutput(n *pg.Node, q *query) (*expr, error) {
	i, ok, err := s.outputColumn(n, q)
	if err != nil {
		return nil, err
	}
	if !ok {
		x, err := s.expr(n)
		if err == nil && x.untyped() {
			x, err = s.b.coerce(x, tText)
		}
		return x, err
	}
	// project leaves the output behind the sets.
	return &expr{typ: q.outs[i].typ, eval: func(e *env) (any, error) { return e.srfs[len(e.srfs)-1].(tuple)[i], nil }}, nil
}

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
