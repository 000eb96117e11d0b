package interpret

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// cte is a WITH query.
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

// withClause binds the queries of a WITH.
func (s *scope) withClause(w *pg.WithClause) error {
	s.ctes = map[string]*cte{}
	for _, n := range w.Ctes {
		e := n.GetCommonTableExpr()
		st := e.GetCtequery().GetSelectStmt()
		if st == nil {
			return unsupported("WITH of anything but SELECT")
		}
		if s.ctes[e.Ctename] != nil {
			return locate(Fail("42712", "WITH query name %q specified more than once", clip(e.Ctename)), e.Location)
		}
		c := &cte{name: e.Ctename, scope: s.child(false)}
		first, second := st, (*pg.SelectStmt)(nil)
		if w.Recursive && isRecursive(st, e.Ctename) {
			first, second = st.Larg, st.Rarg
		}
		q, err := s.b.selectIn(first, c.scope)
		if err != nil {
			return err
		}
		q.settle()
		if c.cols, err = rename("WITH query", e.Ctename, q.columns(), e.Aliascolnames); err != nil {
			return locate(err, e.Location)
		}
		s.ctes[e.Ctename] = c
		if second != nil {
			c.recursive, c.all = true, st.All
			if c.step, err = s.recursiveStep(c, second); err != nil {
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
func (s *scope) recursiveStep(c *cte, st *pg.SelectStmt) (*query, error) {
	step, err := s.b.selectIn(st, s.child(false))
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

// rangeCTE binds a WITH query in FROM.
func (s *scope) rangeCTE(v *pg.RangeVar, c *cte, where *scope) (*node, error) {
	if c.cols == nil {
		return nil, locate(Fail("42P19", "recursive reference to query %q is not in its second part", clip(c.name)), v.Location)
	}
	n, err := s.relationNode(v.Alias, v.Relname, "", c.cols, nil, nil)
	if err != nil {
		return nil, locate(err, v.Location)
	}
	depth := 0
	for f := s; f != where; f = f.outer {
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
