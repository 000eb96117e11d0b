package reach

import "github.com/discreet-dp/discreet/internal/plan/tree"

// Narrow returns the part of the axis outside of which a condition is not true, and whether it is
// not true either where the column is NULL. The condition is normal, so that NOT stands before
// nothing that could be turned round. What is not understood narrows nothing: it may be true
// anywhere. False and NULL are both not true, so a part that is NULL is left out, and that is all
// that is used of it.
func (a *Axis) Narrow(condition tree.Expr) (in Interval, present bool) {
	switch c := condition.(type) {
	case *tree.Logic:
		in = a.In
		for i, part := range c.Args {
			one, there := a.Narrow(part)
			switch {
			case c.Op == tree.And:
				in, present = in.both(one), present || there
			case i == 0:
				in, present = one, there
			default:
				in, present = in.hull(one), present && there
			}
		}
		return in, present
	case *tree.Compare:
		if !a.moves(c.R) && constant(c.R) {
			return a.compared(c.L, c.Op, a.at(c.R, a.In.Lo))
		}
	case *tree.In:
		return a.listed(c)
	case *tree.Not:
		switch x := c.X.(type) {
		case *tree.In: // not true of a NULL either
			_, ok := a.slope(x.X)
			return a.In, ok && a.moves(x.X) && strict(x.X)
		case *tree.IsNull:
			s, ok := a.slope(x.X)
			if !ok || !a.moves(x.X) || !strict(x.X) {
				return a.In, false
			}
			return s.alive, true
		}
	}
	return a.In, false
}

// constant reports whether an expression has no columns and no subqueries.
func constant(e tree.Expr) bool {
	ok := true
	tree.Walk(e, func(x tree.Expr) {
		switch x.(type) {
		case *tree.Column, *tree.Released, *tree.Exists:
			ok = false
		}
	})
	return ok
}

// listed is where something can be one of a list.
func (a *Axis) listed(in *tree.In) (Interval, bool) {
	out := Interval{1, 0}
	present := len(in.List) > 0
	for _, l := range in.List {
		one, there := a.compared(in.X, tree.Eq, l.Value())
		out, present = out.hull(one), present && there
	}
	if !present {
		return a.In, false
	}
	return out, true
}

// compared is where a comparison with a constant can be true.
func (a *Axis) compared(e tree.Expr, op tree.CompareOp, v tree.Value) (Interval, bool) {
	s, ok := a.slope(e)
	if !ok || s.way == 0 || v == nil || op == tree.Distinct || !strict(e) { // which are true of NULL
		return a.In, false
	}
	in := s.alive
	if in.Empty() || len(s.resets) > 0 {
		return in, true
	}
	if s.way < 0 {
		op = flipped[op]
	}
	sign := func(x int64) int { return s.way * compare(a.at(e, x), v) }
	switch op {
	case tree.Ge, tree.Gt, tree.Eq, tree.NotDistinct:
		least := 0
		if op == tree.Gt {
			least = 1
		}
		in.Lo = first(in, func(x int64) bool { return sign(x) >= least })
	}
	switch op {
	case tree.Le, tree.Lt, tree.Eq, tree.NotDistinct:
		most := 0
		if op == tree.Lt {
			most = -1
		}
		in.Hi = first(s.alive, func(x int64) bool { return sign(x) > most }) - 1
	}
	return in, true
}

// strict reports whether an expression that has a slope is NULL where the column is.
func strict(e tree.Expr) bool {
	ok := true
	tree.Walk(e, func(x tree.Expr) {
		c, call := x.(*tree.Call)
		ok = ok && !(call && (c.Fn == "greatest" || c.Fn == "least"))
	})
	return ok
}

// flipped is the comparison of what falls, turned round so that it rises.
var flipped = map[tree.CompareOp]tree.CompareOp{tree.Lt: tree.Gt, tree.Gt: tree.Lt, tree.Le: tree.Ge, tree.Ge: tree.Le, tree.Eq: tree.Eq,
	tree.Ne: tree.Ne, tree.Distinct: tree.Distinct, tree.NotDistinct: tree.NotDistinct}
