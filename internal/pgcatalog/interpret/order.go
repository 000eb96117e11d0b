package interpret

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
)

// sortKey is how one key of ORDER BY orders.
type sortKey struct {
	desc, nullsFirst bool
}

// readSortKey reads ASC, DESC and NULLS. NULLs are above everything.
func readSortKey(b *pg.SortBy) sortKey {
	k := sortKey{desc: b.SortbyDir == pg.SortByDir_SORTBY_DESC}
	k.nullsFirst = k.desc
	switch b.SortbyNulls {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		k.nullsFirst = true
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		k.nullsFirst = false
	}
	return k
}

func (k sortKey) compare(a, b datum.Value) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil || b == nil:
		if (a == nil) == k.nullsFirst {
			return -1
		}
		return 1
	}
	c := datum.Compare(a, b)
	if k.desc {
		c = -c
	}
	return c
}

func compareKeys(ks []sortKey, a, b datum.Tuple) int {
	for i, k := range ks {
		if c := k.compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// sortRows sorts rows by the first of their keys, stably.
func sortRows(r *run, rows, keys []datum.Tuple, ks []sortKey) (sorted, sortedKeys []datum.Tuple, err error) {
	n := 1
	for i := 1; i < len(rows); i *= 2 {
		n++
	}
	total := 0
	for _, k := range keys {
		for _, v := range k {
			total += datum.Weight(v)
		}
	}
	if err := r.step(n * (len(rows) + total) / 4); err != nil {
		return nil, nil, err
	}
	index := make([]int, len(rows))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(i, j int) int { return compareKeys(ks, keys[i], keys[j]) })
	sorted, sortedKeys = make([]datum.Tuple, len(rows)), make([]datum.Tuple, len(rows))
	for i, j := range index {
		sorted[i], sortedKeys[i] = rows[j], keys[j]
	}
	return sorted, sortedKeys, nil
}

// sortedBy binds ORDER BY inside of a call.
func (b callBinder) sortedBy(list []*pg.Node) (ks []sortKey, keys []*expr, err error) {
	for _, n := range list {
		by := n.GetSortBy()
		x, err := b.exprs.expr(by.GetNode())
		if err != nil {
			return nil, nil, err
		}
		ks, keys = append(ks, readSortKey(by)), append(keys, x)
	}
	return ks, keys, nil
}

// finish is ORDER BY and LIMIT of what has only output columns.
func (b selectBinder) finish(st *pg.SelectStmt, q *query) (func(*env, []datum.Tuple) ([]datum.Tuple, error), error) {
	order, err := b.outputOrder(st.SortClause, q)
	if err != nil {
		return nil, err
	}
	limit, err := b.limit(st)
	if err != nil {
		return nil, err
	}
	return func(e *env, rows []datum.Tuple) ([]datum.Tuple, error) {
		rows, err := order(e, rows)
		if err != nil {
			return nil, err
		}
		return limit(e, rows)
	}, nil
}

// outputOrder is ORDER BY of what has only output columns.
func (b selectBinder) outputOrder(clause []*pg.Node, q *query) (func(*env, []datum.Tuple) ([]datum.Tuple, error), error) {
	var ks []sortKey
	var cols []int
	for _, n := range clause {
		by := n.GetSortBy()
		i, ok, err := b.outputColumn(by.GetNode(), q)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, hint(Fail("0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause: only result column names can be used"),
				"put the UNION into a subquery")
		}
		ks, cols = append(ks, readSortKey(by)), append(cols, i)
	}
	return func(e *env, rows []datum.Tuple) ([]datum.Tuple, error) {
		if len(ks) == 0 {
			return rows, nil
		}
		keys := make([]datum.Tuple, len(rows))
		for i, t := range rows {
			keys[i] = make(datum.Tuple, len(cols))
			for j, c := range cols {
				keys[i][j] = t[c]
			}
		}
		if err := e.run.take(len(rows) * (24 + 16*len(cols))); err != nil {
			return nil, err
		}
		sorted, _, err := sortRows(e.run, rows, keys, ks)
		return sorted, err
	}, nil
}

// orderBy binds ORDER BY: numbers and names of output columns, or expressions.
func (b selectBinder) orderBy(list []*pg.Node, q *query) ([]sortKey, []*expr, error) {
	var ks []sortKey
	var keys []*expr
	for _, n := range list {
		by := n.GetSortBy()
		b.scope.allowed.clause = "ORDER BY"
		x, err := b.outputOrExpr(by.GetNode(), q)
		if err != nil {
			return nil, nil, err
		}
		ks, keys = append(ks, readSortKey(by)), append(keys, x)
	}
	return ks, keys, nil
}

// outputOrExpr is an output column, or else an expression.
func (b selectBinder) outputOrExpr(n *pg.Node, q *query) (*expr, error) {
	i, ok, err := b.outputColumn(n, q)
	if err != nil {
		return nil, err
	}
	if !ok {
		x, err := b.exprs.expr(n)
		if err != nil {
			return nil, err
		}
		return b.exprs.types.settled(x)
	}
	return &expr{typ: q.outs[i].typ, eval: func(e *env) (datum.Value, error) { return e.out[i], nil }}, nil
}

// outputColumn finds an output column by its number or name.
func (b selectBinder) outputColumn(n *pg.Node, q *query) (int, bool, error) {
	if k := n.GetAConst(); k != nil && !k.Isnull {
		v, ok := k.Val.(*pg.A_Const_Ival)
		if !ok {
			return 0, false, nil
		}
		if i := int(v.Ival.GetIval()); i >= 1 && i <= len(q.names) {
			return i - 1, true, nil
		}
		return 0, false, locate(Fail("42P10", "position %d is not in select list", v.Ival.GetIval()), k.Location)
	}
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) != 1 {
		return 0, false, nil
	}
	name := ref.Fields[0].GetString_().GetSval()
	found := -1
	for i, out := range q.names {
		if out == name && name != "" {
			if found >= 0 {
				if a, b := q.outs[i], q.outs[found]; a.scope != nil && a.scope == b.scope && a.rte == b.rte && a.attr == b.attr {
					continue
				}
				return 0, false, locate(Fail("42702", "ORDER BY %q is ambiguous", clip(name)), ref.Location)
			}
			found = i
		}
	}
	return found, found >= 0, nil
}
