package planner

import (
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Some numbers are known before anybody looks at the data: how many rows meet a condition that none
// can meet, and the sum of zeros. They are exact and free, because nothing is read for them. What
// the owner has declared counts here as everywhere: a column that is not nullable is never NULL. If
// that is not so, the number is wrong, and it still tells nothing about anybody.

// isNever reports whether a condition is true in no row, by its text and the policy alone.
func (c calculator) isNever(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Literal:
		return e.Bool == nil || !*e.Bool
	case *tree.IsNull:
		return !expr.Nullable(e.X)
	case *tree.Compare:
		return isOutside(e)
	case *tree.Exists:
		return c.hasNone(e.From) || e.On != nil && c.isNever(e.On)
	case *tree.Logic:
		never := 0
		for _, a := range e.Args {
			if c.isNever(a) {
				never++
			}
		}
		if e.Op == tree.Or {
			return never == len(e.Args)
		}
		return never > 0 || c.contradicts(e.Args)
	}
	return false
}

// isOutside reports whether a comparison is never true: with NULL, or with a time beyond the bounds
// of a column, to which values are clamped. That of a number is decided where it is made normal.
func isOutside(c *tree.Compare) bool {
	l, ok := c.R.(*tree.Literal)
	if !ok {
		return false
	}
	if l.IsNullLiteral() {
		return c.Op == tree.NotDistinct && !expr.Nullable(c.L) || c.Op != tree.NotDistinct && c.Op != tree.Distinct
	}
	t := c.L.Type()
	if t.Kind != tree.Date && t.Kind != tree.Timestamp || l.Typ.Kind != t.Kind || !t.Declared || t.Lo == nil || t.Hi == nil {
		return false
	}
	at := expr.Steps(l)
	below, above := at.Cmp(t.Lo), at.Cmp(t.Hi) // where the constant stands
	switch c.Op {
	case tree.Eq:
		return below < 0 || above > 0
	case tree.Lt:
		return below <= 0
	case tree.Le:
		return below < 0
	case tree.Gt:
		return above >= 0
	case tree.Ge:
		return above > 0
	}
	return false
}

// contradicts reports whether conditions about one expression exclude each other: it would have to
// be above one constant and not above another, or equal to two.
func (c calculator) contradicts(all []tree.Expr) bool {
	type ends struct {
		low, high           *tree.Literal
		aboveLow, belowHigh bool // and not equal to it
	}
	about := map[string]*ends{}
	for _, e := range all {
		x, ok := e.(*tree.Compare)
		if !ok {
			continue
		}
		l, ok := x.R.(*tree.Literal)
		if !ok || l.IsNullLiteral() || x.L.Type().Kind == tree.Real || l.Typ.Kind != x.L.Type().Kind {
			continue
		}
		name := c.spell(x.L)
		if about[name] == nil {
			about[name] = &ends{}
		}
		in := about[name]
		after := func(a, b *tree.Literal) int { return expr.CompareValues(a.Value(), b.Value()) }
		if x.Op == tree.Eq || x.Op == tree.Gt || x.Op == tree.Ge {
			if in.low == nil || after(l, in.low) > 0 {
				in.low, in.aboveLow = l, false
			}
			in.aboveLow = in.aboveLow || x.Op == tree.Gt && after(l, in.low) == 0
		}
		if x.Op == tree.Eq || x.Op == tree.Lt || x.Op == tree.Le {
			if in.high == nil || after(l, in.high) < 0 {
				in.high, in.belowHigh = l, false
			}
			in.belowHigh = in.belowHigh || x.Op == tree.Lt && after(l, in.high) == 0
		}
		if in.low != nil && in.high != nil {
			if n := after(in.low, in.high); n > 0 || n == 0 && (in.aboveLow || in.belowHigh) {
				return true
			}
		}
	}
	return false
}

// hasNone reports whether a relation has no rows, because a condition in it is never true.
func (c calculator) hasNone(r tree.Relation) bool {
	switch r := r.(type) {
	case *tree.Select:
		return r.Where != nil && c.isNever(r.Where) || c.hasNone(r.From)
	case *tree.Persons:
		return r.Where != nil && c.isNever(r.Where) || c.hasNone(r.From)
	case *tree.Window:
		return r.Where != nil && c.isNever(r.Where) || c.hasNone(r.From)
	case *tree.Join:
		if r.Full { // rows of either side are there
			return c.hasNone(r.L) && c.hasNone(r.R)
		}
		return c.hasNone(r.L) || !r.Left && (c.hasNone(r.R) || r.On != nil && c.isNever(r.On))
	case *tree.Union:
		for _, p := range r.Parts {
			if !c.hasNone(p) {
				return false
			}
		}
		return true
	case *tree.Cut:
		return c.hasNone(r.From)
	}
	return false
}

// showsNone reports whether questions have no groups whatever the data is: which there are is found
// in rows, and there are none.
func (c calculator) showsNone(plans []*tree.Plan) bool {
	for _, p := range plans {
		q := &p.Query
		if len(q.PrivateKeys()) == 0 || !c.hasNone(q.From) && (q.Where == nil || !c.isNever(q.Where)) {
			return false
		}
	}
	return true
}
