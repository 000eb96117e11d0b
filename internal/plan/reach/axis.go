package reach

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Interval is a part of an axis, with both of its ends: steps of a number, days, or microseconds.
type Interval struct{ Lo, Hi int64 }

// Empty reports whether there is nothing between the ends.
func (i Interval) Empty() bool { return i.Lo > i.Hi }

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

// Axis is a column that moves between two ends, and is not NULL.
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
	return expr.Compute(a.Meter, e, func(tree.Expr) tree.Value { return v })
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

// first returns the first place between two ends from which on something holds, or the place after
// the last where it never does.
func first(in Interval, holds func(int64) bool) int64 {
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

// whole is a number, a day or a moment as an integer.
func whole(v tree.Value) (*big.Int, bool) {
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

// compare orders two values of one kind, NULL last: where something is NULL that was not expected
// to be, a step ends.
func compare(l, r tree.Value) int {
	switch {
	case l == nil && r == nil:
		return 0
	case l == nil:
		return 1
	case r == nil:
		return -1
	}
	return expr.CompareValues(l, r)
}
