package interpret

import (
	"cmp"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// node is a part of FROM: one relation, or a join of two parts.
type node struct {
	rtes uint64 // the relations in it
	deps uint64 // relations of the same FROM that must be known before, for LATERAL
	// a relation
	rte    int
	rel    Relation // where it is one that is stored
	tuples func(*env) ([]datum.Tuple, error)
	// a join
	left, right *node
	kind        pg.JoinType
	on          []*conjunct
	// what can be named, while FROM is read
	spaces []*space
	stars  []field
}

// fromBinder binds a FROM, whose names the scope has then.
type fromBinder struct {
	scope *scope
	exprs exprBinder
}

// fromClause reads a FROM. Several parts are a cross join of them.
func (b fromBinder) fromClause(list []*pg.Node) ([]*node, error) {
	var out []*node
	for _, n := range list {
		f, err := b.fromItem(n)
		if err != nil {
			return nil, err
		}
		b.scope.stars = append(b.scope.stars, f.stars...)
		out = append(out, f)
	}
	return out, nil
}

// fromItem reads a part of FROM. Its names can be seen by what follows.
func (b fromBinder) fromItem(n *pg.Node) (*node, error) {
	switch v := n.Node.(type) {
	case *pg.Node_RangeVar:
		return b.rangeVar(v.RangeVar)
	case *pg.Node_RangeSubselect:
		return b.rangeSubselect(v.RangeSubselect)
	case *pg.Node_RangeFunction:
		return b.rangeFunction(v.RangeFunction)
	case *pg.Node_JoinExpr:
		return b.join(v.JoinExpr)
	}
	return nil, unsupported("this kind of FROM")
}

// relationNode makes the node of one relation and shows its names.
func (b fromBinder) relationNode(alias *pg.Alias, name, schema string, cols []datum.Column, fields map[int][]datum.Column,
	h *Heading) (*node, error) {
	if alias != nil {
		name, schema = alias.Aliasname, ""
		var err error
		if cols, err = rename("table", name, cols, alias.Colnames); err != nil {
			return nil, err
		}
	}
	sp, err := b.scope.add(name, schema, cols, fields, h)
	if err != nil {
		return nil, err
	}
	b.scope.spaces = append(b.scope.spaces, sp)
	return &node{rtes: 1 << sp.rte, rte: sp.rte, spaces: []*space{sp}, stars: sp.fields}, nil
}

// rangeVar binds a relation, or a WITH query, by its name.
func (b fromBinder) rangeVar(v *pg.RangeVar) (*node, error) {
	if v.Schemaname == "" {
		if c, where := b.scope.findCTE(v.Relname); c != nil {
			return b.rangeCTE(v, c, where)
		}
	}
	if v.Catalogname != "" && v.Catalogname != b.scope.binder.run.db.Name() {
		return nil, locate(Fail("0A000", "cross-database references are not implemented: %s.%s.%s", clip(v.Catalogname),
			clip(v.Schemaname), clip(v.Relname)), v.Location)
	}
	rel := b.scope.binder.run.db.Relation(v.Schemaname, v.Relname)
	if rel == nil {
		name := v.Relname
		if v.Schemaname != "" {
			name = v.Schemaname + "." + name
		}
		return nil, locate(Fail("42P01", "relation %q does not exist", clip(name)), v.Location)
	}
	h := rel.Heading()
	n, err := b.relationNode(v.Alias, v.Relname, h.Schema, h.Columns, nil, &h)
	if err != nil {
		return nil, locate(err, v.Location)
	}
	if h.Readable {
		n.rel, n.tuples = rel, func(*env) ([]datum.Tuple, error) { return rel.Rows(), nil }
		return n, nil
	}
	n.tuples = func(*env) ([]datum.Tuple, error) {
		// Such a query is not for the catalogue; there are no rows here in any case.
		return nil, Fail("0A000", "tables of the policy cannot be joined to the catalogue")
	}
	return n, nil
}

func (b fromBinder) rangeSubselect(v *pg.RangeSubselect) (*node, error) {
	sel := v.Subquery.GetSelectStmt()
	if sel == nil {
		return nil, unsupported("this subquery")
	}
	var q *query
	var err error
	deps := b.scope.referred(func() { q, err = b.scope.binder.bindSelect(sel, b.scope.child(!v.Lateral)) })
	if err != nil {
		return nil, err
	}
	q.settle()
	n, err := b.relationNode(v.Alias, "", "", q.columns(), q.fields(), nil)
	if err != nil {
		return nil, err
	}
	n.deps = deps
	n.tuples = q.cached
	return n, nil
}

// rangeFunction binds functions in FROM. The rows of several stand side by side, with NULLs where
// one has fewer.
func (b fromBinder) rangeFunction(v *pg.RangeFunction) (*node, error) {
	if len(v.Coldeflist) > 0 {
		return nil, unsupported("a list of column definitions")
	}
	var calls []*tableFunction
	var cols []datum.Column
	var name string
	var err error
	deps := b.scope.referred(func() {
		for _, item := range functionsIn(v) {
			var call *tableFunction
			var own string
			if call, own, err = b.exprs.calls().fromCall(item); err != nil {
				return
			}
			if calls = append(calls, call); len(calls) == 1 {
				name = own
			}
			if call.cols == nil {
				cols = append(cols, datum.Column{Name: cmp.Or(call.column, own), OID: call.typ})
			}
			cols = append(cols, call.cols...)
		}
	})
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, unsupported("this function in FROM")
	}
	single := len(calls) == 1 && calls[0].cols == nil
	if single && v.Alias != nil && calls[0].column == "" { // a function of one value names its column by its alias
		cols[0].Name = v.Alias.Aliasname
	}
	if v.Ordinality {
		cols = append(append([]datum.Column(nil), cols...), datum.Column{Name: "ordinality", OID: oid.Int8})
	}
	n, err := b.relationNode(v.Alias, name, "", cols, nil, nil)
	if err != nil {
		return nil, err
	}
	if single {
		// The alias of such a relation is its value, and not a record.
		n.spaces[0].whole = nil
	}
	n.deps = deps
	n.tuples = func(e *env) ([]datum.Tuple, error) { return sideBySide(e, calls, v.Ordinality) }
	return n, nil
}

// functionsIn are the functions of an item of FROM: those of ROWS FROM, or one. unnest of several
// arrays is one for each.
func functionsIn(v *pg.RangeFunction) (out []*pg.Node) {
	for _, f := range v.Functions {
		items := f.GetList().GetItems()
		if len(items) == 0 {
			continue
		}
		call := items[0].GetFuncCall()
		names := nameParts(call.GetFuncname())
		if call == nil || len(call.Args) < 2 || names[len(names)-1] != "unnest" {
			out = append(out, items[0])
			continue
		}
		for _, arg := range call.Args {
			out = append(out, &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{Funcname: call.Funcname, Args: []*pg.Node{arg},
				Location: call.Location}}})
		}
	}
	return out
}

// sideBySide are the rows of functions, and the number of each row where it is asked for.
func sideBySide(e *env, calls []*tableFunction, numbered bool) ([]datum.Tuple, error) {
	var all [][]datum.Value
	most := 0
	for _, call := range calls {
		values, err := call.eval(e)
		if err != nil {
			return nil, err
		}
		all, most = append(all, values), max(most, len(values))
	}
	out := make([]datum.Tuple, 0, most)
	for i := range most {
		var t datum.Tuple
		for k, call := range calls {
			var x datum.Value
			if i < len(all[k]) {
				x = all[k][i]
			}
			switch {
			case call.cols == nil:
				t = append(t, x)
			case x == nil:
				t = append(t, make(datum.Tuple, len(call.cols))...)
			default:
				t = append(t, x.(*datum.Record).Values...)
			}
		}
		if numbered {
			t = append(t, datum.Int(i+1))
		}
		if err := e.run.take(24 + 16*len(t)); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, e.run.step(len(out) * len(calls))
}

func (b fromBinder) join(j *pg.JoinExpr) (*node, error) {
	switch {
	case j.Jointype == pg.JoinType_JOIN_FULL:
		return nil, unsupported("FULL JOIN")
	case j.IsNatural:
		return nil, unsupported("NATURAL JOIN")
	case j.Alias != nil:
		return nil, unsupported("a name for a JOIN")
	}
	left, err := b.fromItem(j.Larg)
	if err != nil {
		return nil, err
	}
	// What is LATERAL on the right sees the left, as it sees what stands before it in FROM.
	before := b.scope.stars
	b.scope.stars = append(before[:len(before):len(before)], left.stars...)
	right, err := b.fromItem(j.Rarg)
	b.scope.stars = before
	if err != nil {
		return nil, err
	}
	if right.deps&left.rtes != 0 && j.Jointype == pg.JoinType_JOIN_RIGHT {
		return nil, Fail("42P10",
			"invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT for a LATERAL reference")
	}
	n := &node{left: left, right: right, kind: j.Jointype, rtes: left.rtes | right.rtes}
	n.deps = (left.deps | right.deps) &^ n.rtes
	n.spaces = append(append([]*space(nil), left.spaces...), right.spaces...)
	both := append(append([]field(nil), left.stars...), right.stars...)
	using := nameParts(j.UsingClause)
	for _, name := range using {
		if err := b.usingColumn(n, name); err != nil {
			return nil, err
		}
	}
	for _, f := range both {
		if !slices.Contains(using, f.name) {
			n.stars = append(n.stars, f)
		}
	}
	if j.Quals != nil {
		// ON sees the two sides and what is around the SELECT.
		stars := b.scope.stars
		b.scope.stars = both
		n.on, err = b.exprs.conjuncts(j.Quals, "JOIN conditions")
		b.scope.stars = stars
		if err != nil {
			return nil, err
		}
		for _, c := range n.on {
			if c.refs&^n.rtes != 0 {
				return nil, Fail("42P01", "invalid reference to FROM-clause entry in a JOIN condition")
			}
		}
	}
	return n, nil
}

// usingColumn joins the two sides on a column that both have, which is one column of the JOIN.
func (b fromBinder) usingColumn(n *node, name string) error {
	pick := func(fields []field) (*field, error) {
		found, several := named(fields, name)
		switch {
		case several:
			return nil, Fail("42702", "common column name %q appears more than once in a table", clip(name))
		case found == nil:
			return nil, Fail("42703", "column %q specified in USING clause does not exist in both tables", clip(name))
		}
		return found, nil
	}
	l, err := pick(n.left.stars)
	if err != nil {
		return err
	}
	r, err := pick(n.right.stars)
	if err != nil {
		return err
	}
	c, err := b.equal(l.expr, r.expr)
	if err != nil {
		return err
	}
	n.on = append(n.on, c)
	if n.kind == pg.JoinType_JOIN_RIGHT {
		l = r
	}
	n.stars = append(n.stars, *l)
	return nil
}

// equal is l = r for USING.
func (b fromBinder) equal(l, r func() *expr) (*conjunct, error) {
	var left, right *expr
	lrefs := b.scope.referred(func() { left = l() })
	rrefs := b.scope.referred(func() { right = r() })
	x, err := b.exprs.operators.comparison("=", left, right)
	if err != nil {
		return nil, err
	}
	if x.eq != nil {
		x.eq.lrefs, x.eq.rrefs = lrefs, rrefs
	}
	return &conjunct{x: x, refs: lrefs | rrefs, eq: x.eq}, nil
}
