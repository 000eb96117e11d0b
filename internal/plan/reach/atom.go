package reach

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// atom is a part of an expression that is the same as long as a staircase is.
type atom struct {
	alive  Interval               // where it is not NULL
	at     func(int64) tree.Value // the staircase
	resets []*atom                // each step of these is a staircase of its own
	// start and end are the step that was looked for last, and lengths those of steps before:
	// hours are all alike, and months are of four kinds.
	start, end int64
	lengths    []int64
}

// atoms returns parts of an expression such that it is the same as long as all of them are.
func (a *Axis) atoms(e tree.Expr) []*atom {
	if !a.moves(e) {
		return nil
	}
	if x := a.atom(e); x != nil {
		return []*atom{x}
	}
	var out []*atom
	for _, p := range tree.Parts(e) {
		out = append(out, a.atoms(p)...)
	}
	return out
}

// atom returns the staircase of an expression, or nil.
func (a *Axis) atom(e tree.Expr) *atom {
	of, step := a.stairs(e)
	s, ok := a.slope(of)
	if !ok {
		return nil
	}
	out := &atom{alive: s.alive, at: func(x int64) tree.Value { return step(a.at(of, x)) }, start: a.In.Lo, end: a.In.Lo - 1}
	for _, r := range s.resets {
		each := a.atom(r)
		if each == nil {
			return nil
		}
		out.resets = append(out.resets, each)
	}
	return out
}

// stairs returns what an expression is computed from, and a staircase of that, such that the
// expression is the same where the staircase is.
func (a *Axis) stairs(e tree.Expr) (of tree.Expr, step func(tree.Value) tree.Value) {
	switch e := e.(type) {
	case *tree.Call:
		if unit := granule[field0(e)]; e.Fn == "extract" && unit != "" {
			return e.Args[1], func(v tree.Value) tree.Value { return expr.Trunc(unit, v) }
		}
	case *tree.Compare:
		if l, ok := e.R.(*tree.Literal); ok && !l.IsNullLiteral() {
			end := l.Value()
			return e.L, func(v tree.Value) tree.Value { return big.NewInt(int64(compare(v, end))) }
		}
	case *tree.In:
		return e.X, func(v tree.Value) tree.Value {
			n := 0
			a.Meter.Work(len(e.List), meter.Computed)
			for _, l := range e.List {
				n += compare(v, l.Value()) + 1
			}
			return big.NewInt(int64(n))
		}
	case *tree.IsNull:
		return e.X, func(tree.Value) tree.Value { return true }
	}
	return e, func(v tree.Value) tree.Value { return v }
}

func field0(e *tree.Call) string {
	if len(e.Args) == 0 {
		return ""
	}
	return field(e)
}

// granule is the part of time in which a field is the same that rises in no other.
var granule = map[string]string{"week": "week", "dow": "day"}

// until returns how far the atom is the same from a place on, as far as the axis goes.
func (t *atom) until(x int64, axis Interval) int64 {
	switch {
	case t.start <= x && x <= t.end:
	case x < t.alive.Lo:
		t.start, t.end = x, min(t.alive.Lo-1, axis.Hi)
	case x > t.alive.Hi:
		t.start, t.end = x, axis.Hi
	default:
		top := t.alive.Hi
		for _, r := range t.resets {
			top = min(top, r.until(x, axis))
		}
		t.start, t.end = x, t.step(x, top)
	}
	return t.end
}

// step finds the end of a step, at most up to a place to which it is a staircase.
func (t *atom) step(x, top int64) int64 {
	v := t.at(x)
	same := func(y int64) bool { return compare(t.at(y), v) == 0 }
	for i := len(t.lengths) - 1; i >= 0; i-- {
		if y := x + t.lengths[i] - 1; y <= top && same(y) && (y == top || !same(y+1)) {
			return y
		}
	}
	reach := int64(1)
	for x+reach <= top && same(x+reach) {
		reach *= 2
	}
	in := Interval{x + reach/2, min(x+reach, top+1) - 1}
	end := first(in, func(y int64) bool { return !same(y) }) - 1
	if t.lengths = append(t.lengths, end-x+1); len(t.lengths) > kinds {
		t.lengths = t.lengths[1:]
	}
	return end
}

// kinds is how many lengths of steps are remembered.
const kinds = 4

// Points returns places on the axis such that an expression has no other values, whatever its other
// columns are, than it has there. There are none where there would be too many.
func (a *Axis) Points(e tree.Expr, most int) (out []int64, ok bool) {
	all := a.atoms(e)
	for x := a.In.Lo; x <= a.In.Hi; {
		if out = append(out, x); len(out) > most {
			return nil, false
		}
		a.Meter.Work(1+len(all), meter.Computed)
		a.Meter.Build(meter.Integer)
		end := a.In.Hi
		for _, t := range all {
			end = min(end, t.until(x, a.In))
		}
		x = end + 1
	}
	return out, true
}
