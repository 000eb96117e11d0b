package interpret

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

type query struct {
	names []string
	outs  []*expr // the columns of a plain SELECT; of others they have a type alone
	exec  func(*env) ([]datum.Tuple, error)
	scope *scope
	// parts are the sides of a set operation or the rows of VALUES, whose columns get one type.
	parts []*query
	lists [][]*expr
}

// run runs a query inside another. Every SELECT has its own env.
func (q *query) run(outer *env) ([]datum.Tuple, error) {
	if err := outer.run.step(1); err != nil {
		return nil, err
	}
	if outer.run.depth++; outer.run.depth > 200 {
		return nil, Fail("54001", "subqueries are nested too deeply")
	}
	defer func() { outer.run.depth-- }()
	return q.exec(&env{run: outer.run, outer: outer})
}

// cached is run, once for all where the query depends on nothing outside of it.
func (q *query) cached(outer *env) ([]datum.Tuple, error) {
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
		outer.run.cache = map[*query][]datum.Tuple{}
	}
	outer.run.cache[q] = rows
	return rows, nil
}

func (q *query) columns() []datum.Column {
	out := make([]datum.Column, len(q.outs))
	for i, x := range q.outs {
		out[i] = datum.Column{Name: q.names[i], OID: x.typ}
	}
	return out
}

// fields are the columns of the columns that are records.
func (q *query) fields() map[int][]datum.Column {
	m := map[int][]datum.Column{}
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
			_ = q.coerce(i, oid.Text) // everything untyped is a text already
		}
	}
}

// coerce changes the type of a column that has none yet, or of one that a UNION needs wider.
func (q *query) coerce(i int, t uint32) error {
	if q.outs[i].typ == t {
		return nil
	}
	types := q.scope.binder.types
	for _, p := range q.parts {
		if err := p.coerce(i, t); err != nil {
			return err
		}
	}
	for _, l := range q.lists {
		x, err := types.coerce(l[i], t)
		if err != nil {
			return err
		}
		l[i] = x
	}
	if q.parts != nil || q.lists != nil {
		q.outs[i] = &expr{typ: t, cols: q.outs[i].cols}
		return nil
	}
	x, err := types.coerce(q.outs[i], t)
	if err != nil {
		return err
	}
	q.outs[i] = x
	return nil
}

// bindSelect binds a SELECT in a scope of its own.
func (b *binder) bindSelect(st *pg.SelectStmt, s *scope) (*query, error) {
	if b.queries++; b.queries > maxQueries {
		return nil, Fail("54000", "the query has more than %d SELECTs", maxQueries)
	}
	if st.IntoClause != nil {
		return nil, unsupported("SELECT INTO")
	}
	if len(st.LockingClause) > 0 {
		return nil, unsupported("FOR UPDATE")
	}
	sel := selectBinder{s, s.exprs()}
	if st.WithClause != nil {
		if err := sel.withClause(st.WithClause); err != nil {
			return nil, err
		}
	}
	switch {
	case st.Op != pg.SetOperation_SETOP_NONE:
		return sel.union(st)
	case len(st.ValuesLists) > 0:
		return sel.values(st)
	}
	return sel.plain(st)
}

type cte struct {
	name  string
	cols  []datum.Column
	query *query
	scope *scope
	// of a recursive one
	recursive bool
	all       bool
	step      *query
}

func (b selectBinder) withClause(w *pg.WithClause) error {
	b.scope.ctes = map[string]*cte{}
	for _, n := range w.Ctes {
		e := n.GetCommonTableExpr()
		st := e.GetCtequery().GetSelectStmt()
		if st == nil {
			return unsupported("WITH of anything but SELECT")
		}
		if b.scope.ctes[e.Ctename] != nil {
			return locate(Fail("42712", "WITH query name %q specified more than once", clip(e.Ctename)), e.Location)
		}
		c := &cte{name: e.Ctename, scope: b.scope.child(false)}
		first, second := st, (*pg.SelectStmt)(nil)
		if w.Recursive && isRecursive(st, e.Ctename) {
			first, second = st.Larg, st.Rarg
		}
		q, err := b.scope.binder.bindSelect(first, c.scope)
		if err != nil {
			return err
		}
		q.settle()
		if c.cols, err = rename("WITH query", e.Ctename, q.columns(), e.Aliascolnames); err != nil {
			return locate(err, e.Location)
		}
		b.scope.ctes[e.Ctename] = c
		if second != nil {
			c.recursive, c.all = true, st.All
			if c.step, err = b.recursiveStep(c, second); err != nil {
				return err
			}
			c.scope.escapes = true
		}
		c.query = q
	}
	return nil
}

// rename gives the first of some columns other names.
func rename(what, name string, cols []datum.Column, names []*pg.Node) ([]datum.Column, error) {
	if len(names) > len(cols) {
		return nil, Fail("42P10", "%s %q has %d columns available but %d columns specified", what, clip(name), len(cols), len(names))
	}
	cols = slices.Clone(cols)
	for i, n := range names {
		cols[i].Name = n.GetString_().GetSval()
	}
	return cols, nil
}

// recursiveStep binds the second part of a recursive query, which sees its own rows of one step
// before.
func (b selectBinder) recursiveStep(c *cte, st *pg.SelectStmt) (*query, error) {
	step, err := b.scope.binder.bindSelect(st, b.scope.child(false))
	if err != nil {
		return nil, err
	}
	if len(step.outs) != len(c.cols) {
		return nil, Fail("42601", "each UNION query must have the same number of columns")
	}
	for i := range c.cols {
		if err := step.coerce(i, c.cols[i].OID); err != nil {
			return nil, err
		}
	}
	return step, nil
}

// isRecursive reports whether a query is a UNION whose second part names it.
func isRecursive(st *pg.SelectStmt, name string) bool {
	return st.Op == pg.SetOperation_SETOP_UNION && st.WithClause == nil && len(st.SortClause) == 0 && st.LimitCount == nil &&
		mentions(st.Rarg, name)
}

// mentions reports whether a SELECT names a relation without a schema.
func mentions(st *pg.SelectStmt, name string) bool {
	found := false
	if st != nil {
		VisitRelations(st, func(v *pg.RangeVar, _ map[string]bool) { found = found || v.Schemaname == "" && v.Relname == name })
	}
	return found
}

// findCTE finds a WITH query, and the scope that has it.
func (s *scope) findCTE(name string) (*cte, *scope) {
	for f := s; f != nil; f = f.outer {
		if c := f.ctes[name]; c != nil {
			return c, f
		}
	}
	return nil, nil
}

func (b fromBinder) rangeCTE(v *pg.RangeVar, c *cte, where *scope) (*node, error) {
	if c.cols == nil {
		return nil, locate(Fail("42P19", "recursive reference to query %q is not in its second part", clip(c.name)), v.Location)
	}
	n, err := b.relationNode(v.Alias, v.Relname, "", c.cols, nil, nil)
	if err != nil {
		return nil, locate(err, v.Location)
	}
	depth := 0
	for f := b.scope; f != where; f = f.outer {
		depth++
		if c.query == nil || c.scope.escapes {
			f.escapes = true // a working table changes, and so may what depends on more than its WITH
		}
	}
	n.tuples = func(e *env) ([]datum.Tuple, error) {
		if work, ok := e.run.work[c]; ok {
			return work, nil
		}
		return c.rows(e.enclosing(depth))
	}
	return n, nil
}

// rows runs a WITH query in the env of the SELECT that has it.
func (c *cte) rows(e *env) ([]datum.Tuple, error) {
	if !c.recursive {
		return c.query.cached(e)
	}
	r := e.run
	seen := map[string]bool{}
	fresh := func(in []datum.Tuple) ([]datum.Tuple, error) {
		if c.all {
			return in, nil
		}
		var out []datum.Tuple
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
		r.work = map[*cte][]datum.Tuple{}
	}
	old, nested := r.work[c]
	defer func() {
		delete(r.work, c)
		if nested {
			r.work[c] = old
		}
	}()
	var all []datum.Tuple
	for len(work) > 0 {
		all = append(all, work...)
		if err := r.spend(len(work), 24*len(work)); err != nil {
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

func (b selectBinder) union(st *pg.SelectStmt) (*query, error) {
	except := st.Op == pg.SetOperation_SETOP_EXCEPT
	if st.Op == pg.SetOperation_SETOP_INTERSECT || except && st.All {
		return nil, unsupported("INTERSECT or EXCEPT ALL")
	}
	left, err := b.scope.binder.bindSelect(st.Larg, b.scope.child(false))
	if err != nil {
		return nil, err
	}
	right, err := b.scope.binder.bindSelect(st.Rarg, b.scope.child(false))
	if err != nil {
		return nil, err
	}
	if len(left.outs) != len(right.outs) {
		return nil, Fail("42601", "each UNION query must have the same number of columns")
	}
	q := &query{names: left.names, scope: b.scope, parts: []*query{left, right}}
	for i := range left.outs {
		t, err := b.exprs.types.common([]*expr{left.outs[i], right.outs[i]}, "UNION")
		if err != nil {
			return nil, err
		}
		q.outs = append(q.outs, &expr{typ: oid.Unknown, cols: left.outs[i].cols})
		if err := q.coerce(i, t); err != nil {
			return nil, err
		}
	}
	finish, err := b.finish(st, q)
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

func (b selectBinder) values(st *pg.SelectStmt) (*query, error) {
	q := &query{scope: b.scope}
	for i, n := range st.ValuesLists {
		list, err := b.exprs.exprs(n.GetList().GetItems())
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
		t, err := b.exprs.types.common(col, "VALUES")
		if err != nil {
			return nil, err
		}
		q.names = append(q.names, "column"+oid.Format(uint32(i+1)))
		q.outs = append(q.outs, &expr{typ: oid.Unknown, cols: col[0].cols})
		if err := q.coerce(i, t); err != nil {
			return nil, err
		}
	}
	finish, err := b.finish(st, q)
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
