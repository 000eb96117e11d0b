package catalog

import (
	"sort"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// query is a SELECT that can run.
type query struct {
	names []string
	outs  []*expr // the columns of a plain SELECT; of others they have a type alone
	exec  func(*env) ([]tuple, error)
	scope *scope
	// parts are the sides of a set operation or the rows of VALUES, whose columns get one type.
	parts []*query
	lists [][]*expr
}

// run runs a query inside another. Every SELECT has its own env.
func (q *query) run(outer *env) ([]tuple, error) {
	if err := outer.run.step(1); err != nil {
		return nil, err
	}
	if outer.run.depth++; outer.run.depth > 200 {
		return nil, fail("54001", "subqueries are nested too deep")
	}
	defer func() { outer.run.depth-- }()
	return q.exec(&env{run: outer.run, outer: outer})
}

// cached is run, once for all where the query depends on nothing outside of it.
func (q *query) cached(outer *env) ([]tuple, error) {
	if q.scope.escapes {
		return q.run(outer)
	}
	if rows, ok := outer.run.cache[q]; ok {
		return rows, nil
	}
	rows, err := q.run(outer)
	if err != nil {
		return nil, err
	}
	if outer.run.cache == nil {
		outer.run.cache = map[*query][]tuple{}
	}
	outer.run.cache[q] = rows
	return rows, nil
}

func (q *query) columns() []Column {
	out := make([]Column, len(q.outs))
	for i, x := range q.outs {
		out[i] = Column{q.names[i], x.typ}
	}
	return out
}

func (q *query) fields() map[int][]Column {
	m := map[int][]Column{}
	for i, x := range q.outs {
		if x.cols != nil {
			m[i] = x.cols
		}
	}
	return m
}

// settle makes text of what still has no type.
func (q *query) settle() {
	for i, x := range q.outs {
		if x.untyped() {
			_ = q.coerce(i, tText) // everything untyped is a text already
		}
	}
}

// coerce changes the type of a column that has none yet, or of one that a UNION needs wider.
func (q *query) coerce(i int, t uint32) error {
	if q.outs[i].typ == t {
		return nil
	}
	b := q.scope.b
	for _, p := range q.parts {
		if err := p.coerce(i, t); err != nil {
			return err
		}
	}
	for _, l := range q.lists {
		x, err := b.coerce(l[i], t)
		if err != nil {
			return err
		}
		l[i] = x
	}
	if q.parts != nil || q.lists != nil {
		q.outs[i] = &expr{typ: t, cols: q.outs[i].cols}
		return nil
	}
	x, err := b.coerce(q.outs[i], t)
	if err != nil {
		return err
	}
	q.outs[i] = x
	return nil
}

func (b *binder) selectStmt(st *pg.SelectStmt, outer *scope) (*query, error) {
	return b.selectIn(st, &scope{b: b, outer: outer})
}

// selectIn binds a SELECT in a new scope.
func (b *binder) selectIn(st *pg.SelectStmt, s *scope) (*query, error) {
	if b.queries++; b.queries > maxQueries {
		return nil, fail("54000", "the query has more than %d SELECTs", maxQueries)
	}
	if st.IntoClause != nil {
		return nil, unsupported("SELECT INTO")
	}
	if len(st.LockingClause) > 0 {
		return nil, unsupported("FOR UPDATE")
	}
	if st.WithClause != nil {
		if err := s.with(st.WithClause); err != nil {
			return nil, err
		}
	}
	switch {
	case st.Op != pg.SetOperation_SETOP_NONE:
		return s.setOperation(st)
	case len(st.ValuesLists) > 0:
		return s.values(st)
	}
	return s.plain(st)
}

func (s *scope) with(w *pg.WithClause) error {
	s.ctes = map[string]*cte{}
	for _, n := range w.Ctes {
		e := n.GetCommonTableExpr()
		st := e.GetCtequery().GetSelectStmt()
		if st == nil {
			return unsupported("WITH of anything but SELECT")
		}
		if s.ctes[e.Ctename] != nil {
			return at(fail("42712", "WITH query name %q specified more than once", clip(e.Ctename)), e.Location)
		}
		c := &cte{name: e.Ctename}
		rename := func(cols []Column) ([]Column, error) {
			cols = append([]Column(nil), cols...)
			if len(e.Aliascolnames) > len(cols) {
				return nil, at(fail("42P10", "WITH query %q has %d columns available but %d columns specified", clip(e.Ctename), len(cols), len(e.Aliascolnames)), e.Location)
			}
			for i, n := range e.Aliascolnames {
				cols[i].Name = n.GetString_().GetSval()
			}
			return cols, nil
		}
		if w.Recursive && st.Op == pg.SetOperation_SETOP_UNION && st.WithClause == nil && len(st.SortClause) == 0 && st.LimitCount == nil && mentions(st.Rarg, e.Ctename) {
			c.recursive, c.all = true, st.All
			c.scope = s.child(false)
			first, err := s.b.selectIn(st.Larg, c.scope)
			if err != nil {
				return err
			}
			first.settle()
			if c.cols, err = rename(first.columns()); err != nil {
				return err
			}
			s.ctes[e.Ctename] = c
			second := s.child(false)
			step, err := s.b.selectIn(st.Rarg, second)
			if err != nil {
				return err
			}
			if len(step.outs) != len(c.cols) {
				return fail("42601", "each UNION query must have the same number of columns")
			}
			for i := range c.cols {
				if err := step.coerce(i, c.cols[i].OID); err != nil {
					return err
				}
			}
			c.query, c.step = first, step
			c.scope.escapes = true
			continue
		}
		c.scope = s.child(false)
		q, err := s.b.selectIn(st, c.scope)
		if err != nil {
			return err
		}
		q.settle()
		c.query = q
		if c.cols, err = rename(q.columns()); err != nil {
			return err
		}
		s.ctes[e.Ctename] = c
	}
	return nil
}

func mentions(st *pg.SelectStmt, name string) bool {
	found := false
	if st != nil {
		walk(st, func(v *pg.RangeVar, _ map[string]bool) { found = found || v.Schemaname == "" && v.Relname == name })
	}
	return found
}

// rows runs a WITH query in the env of the SELECT that has it.
func (c *cte) rows(e *env) ([]tuple, error) {
	if !c.recursive {
		return c.query.cached(e)
	}
	r := e.run
	seen := map[string]bool{}
	fresh := func(in []tuple) ([]tuple, error) {
		if c.all {
			return in, nil
		}
		var out []tuple
		for _, t := range in {
			k, err := r.rowKey(t)
			if err != nil {
				return nil, err
			}
			if !seen[k] {
				seen[k] = true
				out = append(out, t)
			}
		}
		return out, nil
	}
	work, err := c.query.run(e)
	if err != nil {
		return nil, err
	}
	if work, err = fresh(work); err != nil {
		return nil, err
	}
	if r.work == nil {
		r.work = map[*cte][]tuple{}
	}
	old, nested := r.work[c]
	defer func() {
		delete(r.work, c)
		if nested {
			r.work[c] = old
		}
	}()
	var all []tuple
	for len(work) > 0 {
		all = append(all, work...)
		if err := r.take(24 * len(work)); err != nil {
			return nil, err
		}
		if err := r.step(len(work)); err != nil {
			return nil, err
		}
		r.work[c] = work
		next, err := c.step.run(e)
		if err != nil {
			return nil, err
		}
		if work, err = fresh(next); err != nil {
			return nil, err
		}
	}
	return all, nil
}

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
		return nil, fail("42601", "each UNION query must have the same number of columns")
	}
	q := &query{names: left.names, scope: s, parts: []*query{left, right}}
	for i := range left.outs {
		t, err := s.b.common([]*expr{left.outs[i], right.outs[i]}, "UNION")
		if err != nil {
			return nil, err
		}
		q.outs = append(q.outs, &expr{typ: tUnknown, cols: left.outs[i].cols})
		if err := q.coerce(i, t); err != nil {
			return nil, err
		}
	}
	op, all := st.Op, st.All
	order, err := s.outputOrder(st.SortClause, q)
	if err != nil {
		return nil, err
	}
	limit, err := s.limit(st)
	if err != nil {
		return nil, err
	}
	q.exec = func(e *env) ([]tuple, error) {
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
		if rows, err = order(e, rows); err != nil {
			return nil, err
		}
		return limit(e, rows)
	}
	return q, nil
}

func setRows(r *run, a, b []tuple, op pg.SetOperation, all bool) ([]tuple, error) {
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
	keyed := r.rowKey
	if op != pg.SetOperation_SETOP_UNION {
		for _, t := range b {
			k, err := keyed(t)
			if err != nil {
				return nil, err
			}
			count[k]++
		}
	}
	var out []tuple
	done := map[string]bool{}
	for i, list := range [][]tuple{a, b} {
		if i == 1 && op != pg.SetOperation_SETOP_UNION {
			break
		}
		for _, t := range list {
			k, err := keyed(t)
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

// values binds VALUES.
func (s *scope) values(st *pg.SelectStmt) (*query, error) {
	q := &query{scope: s}
	for i, n := range st.ValuesLists {
		var list []*expr
		for _, item := range n.GetList().GetItems() {
			x, err := s.expr(item)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		if i > 0 && len(list) != len(q.lists[0]) {
			return nil, fail("42601", "VALUES lists must all be the same length")
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
		q.names = append(q.names, "column"+itoa(uint32(i+1)))
		q.outs = append(q.outs, &expr{typ: tUnknown, cols: col[0].cols})
		if err := q.coerce(i, t); err != nil {
			return nil, err
		}
	}
	order, err := s.outputOrder(st.SortClause, q)
	if err != nil {
		return nil, err
	}
	limit, err := s.limit(st)
	if err != nil {
		return nil, err
	}
	q.exec = func(e *env) ([]tuple, error) {
		var rows []tuple
		for _, l := range q.lists {
			t, err := evalAll(e, l)
			if err != nil {
				return nil, err
			}
			rows = append(rows, t)
		}
		rows, err := order(e, rows)
		if err != nil {
			return nil, err
		}
		return limit(e, rows)
	}
	return q, nil
}

func evalAll(e *env, xs []*expr) (tuple, error) {
	if err := e.run.take(24 + 16*len(xs)); err != nil {
		return nil, err
	}
	if err := e.run.step(len(xs)); err != nil {
		return nil, err
	}
	t := make(tuple, len(xs))
	for i, x := range xs {
		v, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		t[i] = v
	}
	return t, nil
}

// sortKey is how one key of ORDER BY orders.
type sortKey struct {
	desc, nullsFirst bool
}

func sortKeyOf(b *pg.SortBy) sortKey {
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

func (k sortKey) compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil || b == nil:
		if (a == nil) == k.nullsFirst {
			return -1
		}
		return 1
	}
	c := compare(a, b)
	if k.desc {
		c = -c
	}
	return c
}

func compareKeys(ks []sortKey, a, b tuple) int {
	for i, k := range ks {
		if c := k.compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// sortRows sorts rows by keys, stably.
func sortRows(r *run, rows, keys []tuple, ks []sortKey) ([]tuple, []tuple, error) {
	n := 1
	for i := 1; i < len(rows); i *= 2 {
		n++
	}
	total := 0
	for _, k := range keys {
		for _, v := range k {
			total += weight(v)
		}
	}
	if err := r.step(n * (len(rows) + total) / 4); err != nil {
		return nil, nil, err
	}
	index := make([]int, len(rows))
	for i := range index {
		index[i] = i
	}
	sort.SliceStable(index, func(i, j int) bool { return compareKeys(ks, keys[index[i]], keys[index[j]]) < 0 })
	out, outKeys := make([]tuple, len(rows)), make([]tuple, len(rows))
	for i, j := range index {
		out[i], outKeys[i] = rows[j], keys[j]
	}
	return out, outKeys, nil
}

// outputOrder is ORDER BY of what has only output columns.
func (s *scope) outputOrder(clause []*pg.Node, q *query) (func(*env, []tuple) ([]tuple, error), error) {
	var ks []sortKey
	var cols []int
	for _, n := range clause {
		b := n.GetSortBy()
		i, ok, err := s.outputColumn(b.GetNode(), q)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, hint(fail("0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause: only result column names can be used"), "put the UNION into a subquery")
		}
		ks, cols = append(ks, sortKeyOf(b)), append(cols, i)
	}
	return func(e *env, rows []tuple) ([]tuple, error) {
		if len(ks) == 0 {
			return rows, nil
		}
		keys := make([]tuple, len(rows))
		for i, t := range rows {
			keys[i] = make(tuple, len(cols))
			for j, c := range cols {
				keys[i][j] = t[c]
			}
		}
		if err := e.run.take(len(rows) * (24 + 16*len(cols))); err != nil {
			return nil, err
		}
		rows, _, err := sortRows(e.run, rows, keys, ks)
		return rows, err
	}, nil
}

// outputColumn finds an output column by its number or name.
func (s *scope) outputColumn(n *pg.Node, q *query) (int, bool, error) {
	if k := n.GetAConst(); k != nil && !k.Isnull {
		v, ok := k.Val.(*pg.A_Const_Ival)
		if !ok {
			return 0, false, nil
		}
		if i := int(v.Ival.GetIval()); i >= 1 && i <= len(q.names) {
			return i - 1, true, nil
		}
		return 0, false, at(fail("42P10", "position %d is not in select list", v.Ival.GetIval()), k.Location)
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
				return 0, false, at(fail("42702", "ORDER BY %q is ambiguous", clip(name)), ref.Location)
			}
			found = i
		}
	}
	return found, found >= 0, nil
}

func (s *scope) limit(st *pg.SelectStmt) (func(*env, []tuple) ([]tuple, error), error) {
	number := func(n *pg.Node, what string) (*expr, error) {
		if n == nil {
			return nil, nil
		}
		if k := n.GetAConst(); k != nil && k.Isnull {
			return nil, nil
		}
		c := s.child(true)
		x, err := c.expr(n)
		if err != nil {
			return nil, err
		}
		x, err = s.b.coerce(x, tInt8)
		if err != nil {
			return nil, fail("42804", "argument of %s must be type bigint", what)
		}
		return x, nil
	}
	offset, err := number(st.LimitOffset, "OFFSET")
	if err != nil {
		return nil, err
	}
	count, err := number(st.LimitCount, "LIMIT")
	if err != nil {
		return nil, err
	}
	if st.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		return nil, unsupported("WITH TIES")
	}
	return func(e *env, rows []tuple) ([]tuple, error) {
		inner := &env{run: e.run, outer: e}
		if offset != nil {
			v, err := offset.eval(inner)
			if err != nil {
				return nil, err
			}
			n, _ := v.(int64)
			if n < 0 {
				return nil, fail("2201X", "OFFSET must not be negative")
			}
			rows = rows[min(n, int64(len(rows))):]
		}
		if count != nil {
			v, err := count.eval(inner)
			if err != nil {
				return nil, err
			}
			if n, ok := v.(int64); ok {
				if n < 0 {
					return nil, fail("2201W", "LIMIT must not be negative")
				}
				rows = rows[:min(n, int64(len(rows)))]
			}
		}
		return rows, nil
	}, nil
}
