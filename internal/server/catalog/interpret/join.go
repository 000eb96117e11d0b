package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// join binds a JOIN.
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
		return nil, Fail("42P10", "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT for a LATERAL reference")
	}
	using := nameOf(j.UsingClause)
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
			found, several := named(fields, name)
			switch {
			case several:
				return nil, Fail("42702", "common column name %q appears more than once in a table", clip(name))
			case found == nil:
				return nil, Fail("42703", "column %q specified in USING clause does not exist in both tables", clip(name))
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
		c, err := s.equal(l.expr, r.expr)
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
				return &expr{typ: a.typ, eval: func(e *env) (datum.Value, error) {
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
				return nil, Fail("42P01", "invalid reference to FROM-clause entry in a JOIN condition")
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
