package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// conjunct is a condition and the relations that it needs.
type conjunct struct {
	x    *expr
	refs uint64
	eq   *equation
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
	s.where = where
	var x *expr
	var err error
	refs := s.referred(func() { x, err = s.expr(n) })
	if err == nil {
		x, err = s.b.truth(x, where)
	}
	if err != nil {
		return nil, err
	}
	return []*conjunct{{x: x, refs: refs, eq: x.eq}}, nil
}

// holds reports whether all conditions are true for the row of e.
func holds(e *env, cs []*conjunct) (bool, error) {
	for _, c := range cs {
		if err := e.run.step(1); err != nil {
			return false, err
		}
		v, err := c.x.eval(e)
		if err != nil {
			return false, err
		}
		if v != datum.True {
			return false, nil
		}
	}
	return true, nil
}

// split returns the conditions that need only these relations, and the others.
func split(cs []*conjunct, rtes uint64) (inside, rest []*conjunct) {
	for _, c := range cs {
		// A condition that needs none is for the place it was written at.
		if c.refs != 0 && c.refs&^rtes == 0 {
			inside = append(inside, c)
		} else {
			rest = append(rest, c)
		}
	}
	return inside, rest
}

// linked reports whether a condition says that something in p equals something known.
func linked(p *node, have uint64, cs []*conjunct) bool {
	for _, c := range cs {
		if q := c.eq; q != nil && c.refs&p.rtes != 0 && c.refs&^(p.rtes|have) == 0 &&
			(q.lrefs&^p.rtes == 0 && q.rrefs&p.rtes == 0 || q.rrefs&^p.rtes == 0 && q.lrefs&p.rtes == 0) {
			return true
		}
	}
	return false
}

// filtered reports whether a condition is about p alone and says that something equals something.
func filtered(p *node, cs []*conjunct) bool {
	for _, c := range cs {
		if c.eq != nil && c.refs != 0 && c.refs&^p.rtes == 0 {
			return true
		}
	}
	return false
}

// column returns the side of column = other that is a plain column of a relation, where the other
// side needs nothing of it.
func (c *conjunct) column(rte int) (col, other *expr) {
	q := c.eq
	switch {
	case q == nil:
	case q.l.scope != nil && q.l.rte == rte && q.lrefs == 1<<rte && q.rrefs&(1<<rte) == 0:
		return q.l, q.r
	case q.r.scope != nil && q.r.rte == rte && q.rrefs == 1<<rte && q.lrefs&(1<<rte) == 0:
		return q.r, q.l
	}
	return nil, nil
}
