package reach

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
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

// together is the slope of something that moves with two others, each in the same direction.
func together(l, r slope) (slope, bool) {
	out := slope{l.way, l.alive.both(r.alive), append(slices.Clone(l.resets), r.resets...)}
	if l.way == 0 {
		out.way = r.way
	}
	return out, l.way*r.way >= 0
}

func (s slope) turned() slope { return slope{-s.way, s.alive, s.resets} }

func (a *Axis) arith(e *tree.Arith) (slope, bool) {
	l, ok1 := a.slope(e.L)
	r, ok2 := a.slope(e.R)
	if !ok1 || !ok2 {
		return slope{}, false
	}
	switch e.Op {
	case tree.Add:
		return together(l, r)
	case tree.Sub:
		return together(l, r.turned())
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

// rising are functions that never fall with the argument of that number, whatever the others are,
// which are constants.
var rising = map[string]int{"floor": 0, "ceil": 0, "round": 0, "trunc": 0, "timestamp": 0, "date": 0, "date_trunc": 1}

func (a *Axis) call(e *tree.Call) (slope, bool) {
	if i, ok := rising[e.Fn]; ok {
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
			r = r.turned()
		}
		return together(l, r)
	case "add_interval": // a day that a month has not becomes its last, which the time of day can turn round
		if expr.IsNumber(e.Args[1], 0) {
			return a.slope(e.Args[0])
		}
	case "extract":
		return a.extract(e)
	case "greatest", "least":
		return a.extreme(e)
	}
	return slope{}, false
}

// resets are the fields of a time that rise until the next such unit begins.
var resets = map[string]string{"quarter": "year", "month": "year", "doy": "year", "day": "month", "isodow": "week", "hour": "day",
	"minute": "hour", "second": "minute"}

func (a *Axis) extract(e *tree.Call) (slope, bool) {
	s, ok := a.slope(e.Args[1])
	switch unit := resets[field(e)]; {
	case unit != "":
		of := &tree.Call{Fn: "date_trunc", Args: []tree.Expr{expr.NewText(unit), e.Args[1]}, Typ: e.Args[1].Type()}
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
		if out, ok = together(out, s); !ok {
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
		n, ok := whole(a.at(e.X, x))
		if !ok {
			return 0
		}
		return n.Cmp(end)
	}
	if s.way < 0 {
		s.alive.Lo = first(s.alive, func(x int64) bool { return compare(x, e.Typ.Hi) <= 0 })
		s.alive.Hi = first(s.alive, func(x int64) bool { return compare(x, e.Typ.Lo) < 0 }) - 1
		return s, true
	}
	s.alive.Lo = first(s.alive, func(x int64) bool { return compare(x, e.Typ.Lo) >= 0 })
	s.alive.Hi = first(s.alive, func(x int64) bool { return compare(x, e.Typ.Hi) > 0 }) - 1
	return s, true
}

// Ends returns the smallest and the largest value of an expression that moves in one direction.
func (a *Axis) Ends(e tree.Expr) (Interval, bool) {
	s, ok := a.slope(e)
	if !ok || s.alive.Empty() || len(s.resets) > 0 {
		return Interval{}, false
	}
	lo, ok1 := whole(a.at(e, s.alive.Lo))
	hi, ok2 := whole(a.at(e, s.alive.Hi))
	if s.way < 0 {
		lo, hi = hi, lo
	}
	if !ok1 || !ok2 || !lo.IsInt64() || !hi.IsInt64() {
		return Interval{}, false
	}
	return Interval{lo.Int64(), hi.Int64()}, true
}
