package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
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

// fromClause reads a FROM. Several parts are a cross join of them.
func (s *scope) fromClause(list []*pg.Node) ([]*node, error) {
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
func (s *scope) relationNode(alias *pg.Alias, name, schema string, cols []datum.Column, fields map[int][]datum.Column, h *Heading) (*node,
	error) {
	if alias != nil {
		name, schema = alias.Aliasname, ""
		var err error
		if cols, err = rename("table", name, cols, alias.Colnames); err != nil {
			return nil, err
		}
	}
	sp, err := s.add(name, schema, cols, fields, h)
	if err != nil {
		return nil, err
	}
	s.spaces = append(s.spaces, sp)
	return &node{rtes: 1 << sp.rte, rte: sp.rte, spaces: []*space{sp}, stars: sp.fields}, nil
}

// rangeVar binds a relation, or a WITH query, by its name.
func (s *scope) rangeVar(v *pg.RangeVar) (*node, error) {
	if v.Schemaname == "" {
		if c, where := s.findCTE(v.Relname); c != nil {
			return s.rangeCTE(v, c, where)
		}
	}
	if v.Catalogname != "" && v.Catalogname != s.b.r.db.Name() {
		return nil, locate(Fail("0A000", "cross-database references are not implemented: %s.%s.%s", clip(v.Catalogname),
			clip(v.Schemaname), clip(v.Relname)), v.Location)
	}
	rel := s.b.r.db.Relation(v.Schemaname, v.Relname)
	if rel == nil {
		name := v.Relname
		if v.Schemaname != "" {
			name = v.Schemaname + "." + name
		}
		return nil, locate(Fail("42P01", "relation %q does not exist", clip(name)), v.Location)
	}
	h := rel.Heading()
	n, err := s.relationNode(v.Alias, v.Relname, h.Schema, h.Columns, nil, &h)
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
	var call *source
	var name string
	var err error
	deps := s.referred(func() { call, name, err = s.fromCall(items[0]) })
	if err != nil {
		return nil, err
	}
	cols := call.cols
	if call.cols == nil {
		// A function of one value names its column by its alias.
		cols = []datum.Column{{Name: name, OID: call.typ}}
		if v.Alias != nil {
			cols[0].Name = v.Alias.Aliasname
		}
	}
	if v.Ordinality {
		cols = append(append([]datum.Column(nil), cols...), datum.Column{Name: "ordinality", OID: oid.Int8})
	}
	n, err := s.relationNode(v.Alias, name, "", cols, nil, nil)
	if err != nil {
		return nil, err
	}
	if call.cols == nil {
		// The alias of such a relation is its value, and not a record.
		n.spaces[0].whole = nil
	}
	n.deps = deps
	n.tuples = func(e *env) ([]datum.Tuple, error) {
		vals, err := call.eval(e)
		if err != nil {
			return nil, err
		}
		out := make([]datum.Tuple, 0, len(vals))
		for i, x := range vals {
			var t datum.Tuple
			switch {
			case call.cols == nil:
				t = append(t, x)
			case x == nil:
				t = make(datum.Tuple, len(call.cols))
			default:
				t = append(t, x.(*datum.Record).Values...)
			}
			if v.Ordinality {
				t = append(t, datum.Int(i+1))
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
