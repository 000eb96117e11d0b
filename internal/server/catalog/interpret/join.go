package interpret

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// join binds a JOIN.
func (s *scope) join(j *pg.JoinExpr) (*node, error) {
	switch {
	case j.Jointype == pg.JoinType_JOIN_FULL:
		return nil, unsupported("FULL JOIN")
	case j.IsNatural:
		return nil, unsupported("NATURAL JOIN")
	case j.Alias != nil:
		return nil, unsupported("a name for a JOIN")
	}
	left, err := s.fromItem(j.Larg)
	if err != nil {
		return nil, err
	}
	// What is LATERAL on the right sees the left, as it sees what stands before it in FROM.
	before := s.stars
	s.stars = append(before[:len(before):len(before)], left.stars...)
	right, err := s.fromItem(j.Rarg)
	s.stars = before
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
		if err := s.usingColumn(n, name); err != nil {
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
		stars := s.stars
		s.stars = both
		n.on, err = s.conjuncts(j.Quals, "JOIN conditions")
		s.stars = stars
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
func (s *scope) usingColumn(n *node, name string) error {
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
	c, err := s.equal(l.expr, r.expr)
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
func (s *scope) equal(l, r func() *expr) (*conjunct, error) {
	var a, b *expr
	lrefs := s.referred(func() { a = l() })
	rrefs := s.referred(func() { b = r() })
	x, err := s.b.comparison("=", a, b)
	if err != nil {
		return nil, err
	}
	if x.eq != nil {
		x.eq.lrefs, x.eq.rrefs = lrefs, rrefs
	}
	return &conjunct{x: x, refs: lrefs | rrefs, eq: x.eq}, nil
}
