package catalog

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// node is a part of FROM: one relation, or a join of two parts.
type node struct {
	rtes uint64 // the relations in it
	deps uint64 // relations of the same FROM that must be known before, for LATERAL
	// a relation
	rte    int
	rel    *relation
	tuples func(*env) ([]tuple, error)
	// a join
	left, right *node
	kind        pg.JoinType
	on          []*conjunct
	// what can be named, while FROM is read
	spaces []*space
	stars  []field
}

// from reads a FROM. Several parts are a cross join of them.
func (s *scope) from(list []*pg.Node) ([]*node, error) {
	var out []*node
	for _, n := range list {
		f, err := s.fromItem(n)
		if err != nil {
			return nil, err
		}
		s.stars = append(s.stars, f.stars...)
		out = append(out, f)
	}
	return out, nil
}

// fromItem reads a part of FROM. Its names can be seen by what follows.
func (s *scope) fromItem(n *pg.Node) (*node, error) {
	switch v := n.Node.(type) {
	case *pg.Node_RangeVar:
		return s.rangeVar(v.RangeVar)
	case *pg.Node_RangeSubselect:
		return s.rangeSubselect(v.RangeSubselect)
	case *pg.Node_RangeFunction:
		return s.rangeFunction(v.RangeFunction)
	case *pg.Node_JoinExpr:
		return s.join(v.JoinExpr)
	}
	return nil, unsupported("this kind of FROM")
}

// relationNode makes the node of one relation and shows its names.
func (s *scope) relationNode(alias *pg.Alias, name, schema string, cols []Column, fields map[int][]Column, rel *relation) (*node, error) {
	if alias != nil {
		name, schema = alias.Aliasname, ""
		names := alias.Colnames
		if len(names) > len(cols) {
			return nil, fail("42P10", "table %q has %d columns available but %d columns specified", clip(name), len(cols), len(names))
		}
		cols = append([]Column(nil), cols...)
		for i, c := range names {
			cols[i].Name = c.GetString_().GetSval()
		}
	}
	sp, err := s.add(name, schema, cols, fields, rel)
	if err != nil {
		return nil, err
	}
	s.spaces = append(s.spaces, sp)
	return &node{rtes: 1 << sp.rte, rte: sp.rte, rel: rel, spaces: []*space{sp}, stars: sp.fields}, nil
}

// rangeVar binds a relation, or a WITH query, by its name.
func (s *scope) rangeVar(v *pg.RangeVar) (*node, error) {
	if v.Schemaname == "" {
		if c, where := s.findCTE(v.Relname); c != nil {
			return s.rangeCTE(v, c, where)
		}
	}
	if v.Catalogname != "" && v.Catalogname != s.b.c.session.Database {
		return nil, at(fail("0A000", "cross-database references are not implemented: %s.%s.%s", clip(v.Catalogname), clip(v.Schemaname), clip(v.Relname)), v.Location)
	}
	rel := s.b.c.find(v.Schemaname, v.Relname)
	if rel == nil {
		name := v.Relname
		if v.Schemaname != "" {
			name = v.Schemaname + "." + name
		}
		return nil, at(fail("42P01", "relation %q does not exist", clip(name)), v.Location)
	}
	cols := make([]Column, len(rel.cols))
	for i, a := range rel.cols {
		cols[i] = Column{a.name, base(a.typ)}
	}
	n, err := s.relationNode(v.Alias, v.Relname, rel.schema, cols, nil, rel)
	if err != nil {
		return nil, at(err, v.Location)
	}
	n.tuples = func(e *env) ([]tuple, error) {
		if rel.policy {
			// About says that such a query is not for us; there are no rows here in any case.
			return nil, fail("0A000", "tables of the policy cannot be joined to the catalogue")
		}
		return e.run.c.data(rel), nil
	}
	return n, nil
}

// rangeSubselect binds a subquery in FROM.
func (s *scope) rangeSubselect(v *pg.RangeSubselect) (*node, error) {
	sel := v.Subquery.GetSelectStmt()
	if sel == nil {
		return nil, unsupported("this subquery")
	}
	var q *query
	var err error
	deps := s.referred(func() { q, err = s.b.selectIn(sel, s.child(!v.Lateral)) })
	if err != nil {
		return nil, err
	}
	q.settle()
	n, err := s.relationNode(v.Alias, "", "", q.columns(), q.fields(), nil)
	if err != nil {
		return nil, err
	}
	n.deps = deps
	n.tuples = q.cached
	return n, nil
}

// rangeFunction binds a function in FROM.
func (s *scope) rangeFunction(v *pg.RangeFunction) (*node, error) {
	if len(v.Functions) != 1 || len(v.Coldeflist) > 0 {
		return nil, unsupported("ROWS FROM, or a list of column definitions,")
	}
	items := v.Functions[0].GetList().GetItems()
	if len(items) == 0 {
		return nil, unsupported("this function in FROM")
	}
	var call *setCall
	var name string
	var err error
	deps := s.referred(func() { call, name, err = s.setCall(items[0]) })
	if err != nil {
		return nil, err
	}
	cols := call.cols
	if !call.record {
		// A function of one value names its column by its alias.
		cols = []Column{{name, call.typ}}
		if v.Alias != nil {
			cols[0].Name = v.Alias.Aliasname
		}
	}
	if v.Ordinality {
		cols = append(append([]Column(nil), cols...), Column{"ordinality", tInt8})
	}
	n, err := s.relationNode(v.Alias, name, "", cols, nil, nil)
	if err != nil {
		return nil, err
	}
	if !call.record {
		// The alias of such a relation is its value, and not a record.
		n.spaces[0].whole = nil
	}
	n.deps = deps
	n.tuples = func(e *env) ([]tuple, error) {
		vals, err := call.eval(e)
		if err != nil {
			return nil, err
		}
		out := make([]tuple, 0, len(vals))
		for i, x := range vals {
			var t tuple
			switch {
			case !call.record:
				t = append(t, x)
			case x == nil:
				t = make(tuple, len(call.cols))
			default:
				t = append(t, x.(*record).vals...)
			}
			if v.Ordinality {
				t = append(t, int64(i+1))
			}
			if err := e.run.take(24 + 16*len(t)); err != nil {
				return nil, err
			}
			out = append(out, t)
		}
		return out, e.run.step(len(out))
	}
	return n, nil
}
