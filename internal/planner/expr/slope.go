package expr

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// slope is how an expression moves with the axis: it never falls (1), never rises (-1), or stays
// (0). It has a value on alive, and is NULL elsewhere.
//
// Where there are resets it is that only as long as each of them is the same: the minute of an hour
// rises until the next hour begins.
type slope struct {
	way    int
	alive  Interval
	resets []tree.Expr
}

// slope finds the slope of an expression that is known to have one.
func (a *Axis) slope(e tree.Expr) (slope, bool) {
	switch e := e.(type) {
	case *tree.Column:
		return slope{way: 1, alive: a.In}, e.Index == a.Index
	case *tree.Literal:
		return slope{alive: a.In}, !e.IsNullLiteral()
	case *tree.Rescale:
		return a.slope(e.X)
	case *tree.ToReal:
		return a.slope(e.X)
	case *tree.Arith:
		return a.arith(e)
	case *tree.Call:
		return a.call(e)
	case *tree.Within:
		return a.within(e)
	}
	return slope{}, false
}

// combineSlopes is the slope of something that moves with two others, each in the same direction.
func combineSlopes(l, r slope) (slope, bool) {
	out := slope{l.way, l.alive.both(r.alive), append(slices.Clone(l.resets), r.resets...)}
	if l.way == 0 {
		out.way = r.way
	}
	return out, l.way*r.way >= 0
}

func (s slope) reversed() slope { return slope{-s.way, s.alive, s.resets} }

func (a *Axis) arith(e *tree.Arith) (slope, bool) {
	l, ok1 := a.slope(e.L)
	r, ok2 := a.slope(e.R)
	if !ok1 || !ok2 {
		return slope{}, false
	}
	switch e.Op {
	case tree.Add:
		return combineSlopes(l, r)
	case tree.Sub:
		return combineSlopes(l, r.reversed())
	case tree.Mul:
		if l.way == 0 {
			return a.scaled(r, l, e.L)
		}
		return a.scaled(l, r, e.R)
	case tree.Quo, tree.Div:
		return a.scaled(l, r, e.R)
	case tree.Rem: // it rises with what is divided as long as the quotient is the same
		s, ok := a.scaled(l, r, e.R)
		s.way = l.way
		s.resets = append(slices.Clone(s.resets), &tree.Arith{Op: tree.Quo, L: e.L, R: e.R, Typ: e.Typ})
		return s, ok
	}
	return slope{}, false
}

// scaled is the slope of something that is multiplied with or divided by a constant that is not 0.
func (a *Axis) scaled(s, by slope, constant tree.Expr) (slope, bool) {
	if by.way != 0 || by.alive.Empty() || a.moves(constant) {
		return slope{}, false
	}
	sign := 0
	switch v := a.at(constant, a.In.Lo).(type) {
	case *big.Int:
		sign = v.Sign()
	case float64:
		sign = big.NewFloat(v).Sign()
	}
	s.way *= sign
	s.alive = s.alive.both(by.alive)
	return s, sign != 0
}

// risingFunctions are functions that never fall with the argument of that number, whatever the
// others are, which are constants.
var risingFunctions = map[string]int{"floor": 0, "ceil": 0, "round": 0, "trunc": 0, "timestamp": 0, "date": 0, "date_trunc": 1}

func (a *Axis) call(e *tree.Call) (slope, bool) {
	if i, ok := risingFunctions[e.Fn]; ok {
		return a.slope(e.Args[i])
	}
	switch e.Fn {
	case "add_days", "add_micros", "days_between":
		l, ok1 := a.slope(e.Args[0])
		r, ok2 := a.slope(e.Args[1])
		if !ok1 || !ok2 {
			return slope{}, false
		}
		if e.Fn == "days_between" {
			r = r.reversed()
		}
		return combineSlopes(l, r)
	case "add_interval": // a day that a month has not becomes its last, which the time of day can turn round
		if IsNumber(e.Args[1], 0) {
			return a.slope(e.Args[0])
		}
	case "extract":
		return a.extract(e)
	case "greatest", "least":
		return a.extreme(e)
	}
	return slope{}, false
}

// resetUnits are the fields of a time that rise until the next such unit begins.
var resetUnits = map[string]string{"quarter": "year", "month": "year", "doy": "year", "day": "month", "isodow": "week", "hour": "day",
	"minute": "hour", "second": "minute"}

func (a *Axis) extract(e *tree.Call) (slope, bool) {
	s, ok := a.slope(e.Args[1])
	switch unit := resetUnits[field(e)]; {
	case unit != "":
		of := &tree.Call{Fn: "date_trunc", Args: []tree.Expr{NewText(unit), e.Args[1]}, Typ: e.Args[1].Type()}
		s.resets = append(slices.Clone(s.resets), of)
	case field(e) != "year" && field(e) != "isoyear" && field(e) != "epoch":
		return slope{}, false
	}
	return s, ok
}

// extreme is the slope of greatest and least, which pass over NULLs: only where there are none.
func (a *Axis) extreme(e *tree.Call) (slope, bool) {
	out := slope{alive: a.In}
	for _, x := range e.Args {
		s, ok := a.slope(x)
		if !ok || s.alive != a.In {
			return slope{}, false
		}
		if out, ok = combineSlopes(out, s); !ok {
			return slope{}, false
		}
	}
	return out, true
}

func field(e *tree.Call) string {
	l, ok := e.Args[0].(*tree.Literal)
	if !ok || l.Text == nil {
		return ""
	}
	return *l.Text
}

// within is the slope of what is NULL outside of an interval.
func (a *Axis) within(e *tree.Within) (slope, bool) {
	s, ok := a.slope(e.X)
	if !ok || e.Typ.Kind == tree.Real || len(s.resets) > 0 {
		return slope{}, false
	}
	compare := func(x int64, end *big.Int) int {
		n, ok := integerValue(a.at(e.X, x))
		if !ok {
			return 0
		}
		return n.Cmp(end)
	}
	if s.way < 0 {
		s.alive.Lo = firstWhere(s.alive, func(x int64) bool { return compare(x, e.Typ.Hi) <= 0 })
		s.alive.Hi = firstWhere(s.alive, func(x int64) bool { return compare(x, e.Typ.Lo) < 0 }) - 1
		return s, true
	}
	s.alive.Lo = firstWhere(s.alive, func(x int64) bool { return compare(x, e.Typ.Lo) >= 0 })
	s.alive.Hi = firstWhere(s.alive, func(x int64) bool { return compare(x, e.Typ.Hi) > 0 }) - 1
	return s, true
}

// Ends returns the smallest and the largest value of an expression that moves in one direction.
func (a *Axis) Ends(e tree.Expr) (Interval, bool) {
	s, ok := a.slope(e)
	if !ok || s.alive.Empty() || len(s.resets) > 0 {
		return Interval{}, false
	}
	lo, ok1 := integerValue(a.at(e, s.alive.Lo))
	hi, ok2 := integerValue(a.at(e, s.alive.Hi))
	if s.way < 0 {
		lo, hi = hi, lo
	}
	if !ok1 || !ok2 || !lo.IsInt64() || !hi.IsInt64() {
		return Interval{}, false
	}
	return Interval{lo.Int64(), hi.Int64()}, true
}

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
		if unit := granules[fieldName(e)]; e.Fn == "extract" && unit != "" {
			return e.Args[1], func(v tree.Value) tree.Value { return Trunc(unit, v) }
		}
	case *tree.Compare:
		if l, ok := e.R.(*tree.Literal); ok && !l.IsNullLiteral() {
			end := l.Value()
			return e.L, func(v tree.Value) tree.Value { return big.NewInt(int64(compareValues(v, end))) }
		}
	case *tree.In:
		return e.X, func(v tree.Value) tree.Value {
			n := 0
			a.Meter.Work(len(e.List), meter.Computed)
			for _, l := range e.List {
				n += compareValues(v, l.Value()) + 1
			}
			return big.NewInt(int64(n))
		}
	case *tree.IsNull:
		return e.X, func(tree.Value) tree.Value { return true }
	}
	return e, func(v tree.Value) tree.Value { return v }
}

func fieldName(e *tree.Call) string {
	if len(e.Args) == 0 {
		return ""
	}
	return field(e)
}

// granules is the part of time in which a field is the same that rises in no other.
var granules = map[string]string{"week": "week", "dow": "day"}

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
	same := func(y int64) bool { return compareValues(t.at(y), v) == 0 }
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
	end := firstWhere(in, func(y int64) bool { return !same(y) }) - 1
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
