package expr

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Interval is a part of an axis, with both of its ends: steps of a number, days, or microseconds.
type Interval struct{ Lo, Hi int64 }

// Empty reports whether there is nothing between the ends.
func (i Interval) Empty() bool              { return i.Lo > i.Hi }
func (i Interval) both(j Interval) Interval { return Interval{max(i.Lo, j.Lo), min(i.Hi, j.Hi)} }

func (i Interval) hull(j Interval) Interval {
	switch {
	case i.Empty():
		return j
	case j.Empty():
		return i
	}
	return Interval{min(i.Lo, j.Lo), max(i.Hi, j.Hi)}
}

// Farthest is further than any axis goes, so that neither sums nor differences of places overflow.
const Farthest = 1 << 61

// Axis is a column that moves between two ends, and is not NULL. It says which values an expression
// can have there: a month of each day between two days, a hundred of each cost up to the highest.
// It finds them without looking at every point between the ends, because most of what people group
// by is a staircase: an expression that never falls is the same from a point up to the next step,
// which is found by bisection.
//
// All of it is about the question and the policy. That a value is missing here is no leak: an
// engine leaves out rows whose key is not among those that are shown. It would be a group too few,
// so what is returned is never less than what can occur.
type Axis struct {
	Index int // of the column
	Kind  tree.Kind
	In    Interval
	Meter *meter.Meter
}

// Value is the place on the axis as a value of the column.
func (a *Axis) Value(x int64) tree.Value {
	switch a.Kind {
	case tree.Date:
		return tree.Day(x)
	case tree.Timestamp:
		return tree.Moment(x)
	}
	return big.NewInt(x)
}

// at is an expression at a place, which has no column but the axis.
func (a *Axis) at(e tree.Expr, x int64) tree.Value {
	if a.Kind == tree.Number {
		a.Meter.Build(meter.Integer)
	} else {
		a.Meter.Build(8)
	}
	v := a.Value(x)
	return Compute(a.Meter, e, func(tree.Expr) tree.Value { return v })
}

// moves reports whether an expression has the axis in it.
func (a *Axis) moves(e tree.Expr) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		a.Meter.Work(1, meter.Node)
		c, ok := x.(*tree.Column)
		found = found || ok && c.Index == a.Index
	})
	return found
}

// firstWhere returns the first place between two ends from which on something holds, or the place
// after the last where it never does.
func firstWhere(in Interval, holds func(int64) bool) int64 {
	lo, hi := in.Lo, in.Hi+1
	for lo < hi {
		middle := lo + (hi-lo)/2
		if holds(middle) {
			hi = middle
		} else {
			lo = middle + 1
		}
	}
	return lo
}

// integerValue is a number, a day or a moment as an integer.
func integerValue(v tree.Value) (*big.Int, bool) {
	switch v := v.(type) {
	case *big.Int:
		return v, true
	case tree.Day:
		return big.NewInt(int64(v)), true
	case tree.Moment:
		return big.NewInt(int64(v)), true
	}
	return nil, false
}

// compareValues orders two values of one kind, NULL last: where something is NULL that was not
// expected to be, a step ends.
func compareValues(l, r tree.Value) int {
	switch {
	case l == nil && r == nil:
		return 0
	case l == nil:
		return 1
	case r == nil:
		return -1
	}
	return CompareValues(l, r)
}

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
		if !a.moves(c.R) && isConstant(c.R) {
			return a.compared(c.L, c.Op, a.at(c.R, a.In.Lo))
		}
	case *tree.In:
		return a.listed(c)
	case *tree.Not:
		switch x := c.X.(type) {
		case *tree.In: // not true of a NULL either
			_, ok := a.slope(x.X)
			return a.In, ok && a.moves(x.X) && isStrict(x.X)
		case *tree.IsNull:
			s, ok := a.slope(x.X)
			if !ok || !a.moves(x.X) || !isStrict(x.X) {
				return a.In, false
			}
			return s.alive, true
		}
	}
	return a.In, false
}

// isConstant reports whether an expression has no columns and no subqueries.
func isConstant(e tree.Expr) bool {
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
	if !ok || s.way == 0 || v == nil || op == tree.Distinct || !isStrict(e) { // which are true of NULL
		return a.In, false
	}
	in := s.alive
	if in.Empty() || len(s.resets) > 0 {
		return in, true
	}
	if s.way < 0 {
		op = flipped[op]
	}
	sign := func(x int64) int { return s.way * compareValues(a.at(e, x), v) }
	switch op {
	case tree.Ge, tree.Gt, tree.Eq, tree.NotDistinct:
		least := 0
		if op == tree.Gt {
			least = 1
		}
		in.Lo = firstWhere(in, func(x int64) bool { return sign(x) >= least })
	}
	switch op {
	case tree.Le, tree.Lt, tree.Eq, tree.NotDistinct:
		most := 0
		if op == tree.Lt {
			most = -1
		}
		in.Hi = firstWhere(s.alive, func(x int64) bool { return sign(x) > most }) - 1
	}
	return in, true
}

// isStrict reports whether an expression that has a slope is NULL where the column is.
func isStrict(e tree.Expr) bool {
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
