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

// conjunct is a condition and the relations that it needs.
type conjunct struct {
	x    *expr
	refs uint64
	eq   *equation
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

func (s *scope) rangeCTE(v *pg.RangeVar, c *cte, where *scope) (*node, error) {
	if c.cols == nil {
		return nil, at(fail("42P19", "recursive reference to query %q is not in its second part", clip(c.name)), v.Location)
	}
	n, err := s.relationNode(v.Alias, v.Relname, "", c.cols, nil, nil)
	if err != nil {
		return nil, at(err, v.Location)
	}
	depth := 0
	for f := s; f != where; f = f.outer {
		depth++
		if c.query == nil || c.scope.escapes {
			f.escapes = true // a working table changes, and so may what depends on more than its WITH
		}
	}
	n.tuples = func(e *env) ([]tuple, error) {
		if work, ok := e.run.work[c]; ok {
			return work, nil
		}
		return c.rows(e.up(depth))
	}
	return n, nil
}

func (s *scope) rangeSubselect(v *pg.RangeSubselect) (*node, error) {
	sel := v.Subquery.GetSelectStmt()
	if sel == nil {
		return nil, unsupported("this subquery")
	}
	saved := s.refs
	s.refs = 0
	q, err := s.b.selectIn(sel, s.child(!v.Lateral))
	deps := s.refs
	s.refs = saved
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

func (s *scope) rangeFunction(v *pg.RangeFunction) (*node, error) {
	if len(v.Functions) != 1 || len(v.Coldeflist) > 0 {
		return nil, unsupported("ROWS FROM, or a list of column definitions,")
	}
	items := v.Functions[0].GetList().GetItems()
	if len(items) == 0 {
		return nil, unsupported("this function in FROM")
	}
	saved := s.refs
	s.refs = 0
	call, name, err := s.setCall(items[0])
	deps := s.refs
	s.refs = saved
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

func (s *scope) join(j *pg.JoinExpr) (*node, error) {
	first := len(s.spaces)
	left, err := s.fromItem(j.Larg)
	if err != nil {
		return nil, err
	}
	right, err := s.fromItem(j.Rarg)
	if err != nil {
		return nil, err
	}
	n := &node{left: left, right: right, kind: j.Jointype, rtes: left.rtes | right.rtes}
	n.deps = (left.deps | right.deps) &^ n.rtes
	if right.deps&left.rtes != 0 && (j.Jointype == pg.JoinType_JOIN_RIGHT || j.Jointype == pg.JoinType_JOIN_FULL) {
		return nil, fail("42P10", "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT for a LATERAL reference")
	}
	var using []string
	for _, u := range j.UsingClause {
		using = append(using, u.GetString_().GetSval())
	}
	if j.IsNatural {
		for _, l := range left.stars {
			for _, r := range right.stars {
				if l.name == r.name {
					using = append(using, l.name)
					break
				}
			}
		}
	}
	merged := map[string]bool{}
	for _, name := range using {
		pick := func(fields []field) (*field, error) {
			var found *field
			for i := range fields {
				if fields[i].name == name {
					if found != nil {
						return nil, fail("42702", "common column name %q appears more than once in a table", clip(name))
					}
					found = &fields[i]
				}
			}
			if found == nil {
				return nil, fail("42703", "column %q specified in USING clause does not exist in both tables", clip(name))
			}
			return found, nil
		}
		l, err := pick(left.stars)
		if err != nil {
			return nil, err
		}
		r, err := pick(right.stars)
		if err != nil {
			return nil, err
		}
		saved := s.refs
		c, err := s.equal(l.expr, r.expr)
		s.refs = saved
		if err != nil {
			return nil, err
		}
		n.on = append(n.on, c)
		merged[name] = true
		one := *l
		switch j.Jointype {
		case pg.JoinType_JOIN_RIGHT:
			one = *r
		case pg.JoinType_JOIN_FULL:
			one.expr = func() *expr {
				a, b := l.expr(), r.expr()
				return &expr{typ: a.typ, eval: func(e *env) (any, error) {
					v, err := a.eval(e)
					if v != nil || err != nil {
						return v, err
					}
					return b.eval(e)
				}}
			}
		}
		n.stars = append(n.stars, one)
	}
	for _, f := range append(append([]field(nil), left.stars...), right.stars...) {
		if !merged[f.name] {
			n.stars = append(n.stars, f)
		}
	}
	if j.Quals != nil {
		// ON sees the two sides and what is around the SELECT.
		stars := s.stars
		s.stars = append(append([]field(nil), left.stars...), right.stars...)
		on, err := s.conjuncts(j.Quals, "JOIN conditions")
		s.stars = stars
		if err != nil {
			return nil, err
		}
		for _, c := range on {
			if c.refs&^n.rtes != 0 {
				return nil, fail("42P01", "invalid reference to FROM-clause entry in a JOIN condition")
			}
		}
		n.on = append(n.on, on...)
	}
	n.spaces = append(append([]*space(nil), left.spaces...), right.spaces...)
	if j.Alias != nil {
		sp := &space{alias: j.Alias.Aliasname, fields: append([]field(nil), n.stars...)}
		for i, c := range j.Alias.Colnames {
			if i < len(sp.fields) {
				sp.fields[i].name = c.GetString_().GetSval()
			}
		}
		n.stars = sp.fields
		n.spaces = []*space{sp}
		s.spaces = append(s.spaces[:first:first], sp)
	}
	return n, nil
}

// equal is l = r for USING.
func (s *scope) equal(l, r func() *expr) (*conjunct, error) {
	s.refs = 0
	a := l()
	lrefs := s.refs
	s.refs = 0
	b := r()
	rrefs := s.refs
	x, err := s.b.comparison("=", a, b)
	if err != nil {
		return nil, err
	}
	if x.eq != nil {
		x.eq.lrefs, x.eq.rrefs = lrefs, rrefs
	}
	return &conjunct{x: x, refs: lrefs | rrefs, eq: x.eq}, nil
}

// conjuncts splits a condition at its ANDs.
func (s *scope) conjuncts(n *pg.Node, where string) ([]*conjunct, error) {
	if b := n.GetBoolExpr(); b != nil && b.Boolop == pg.BoolExprType_AND_EXPR {
		var out []*conjunct
		for _, a := range b.Args {
			c, err := s.conjuncts(a, where)
			if err != nil {
				return nil, err
			}
			out = append(out, c...)
		}
		return out, nil
	}
	saved := s.refs
	s.refs = 0
	s.where = where
	x, err := s.expr(n)
	if err == nil {
		x, err = s.b.truth(x, where)
	}
	refs := s.refs
	s.refs = saved
	if err != nil {
		return nil, err
	}
	return []*conjunct{{x: x, refs: refs, eq: x.eq}}, nil
}
