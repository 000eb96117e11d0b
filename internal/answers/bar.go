package answers

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// bar makes the error bars of one column.
//
// A count or a sum by itself has the half width of its noise: exact, and the same in every row.
// Anything else that is computed from noisy numbers gets interval arithmetic: let a column be made
// of n different noisy numbers. Each of them is within its half width at beta/n but with
// probability beta/n, so all are but with probability beta (Bonferroni; nothing is said about how
// they depend on each other), and then the exact value is in the interval that the operations make
// of theirs. That is at least as sure as is said, and wider than need be.
type bar struct {
	f        *finisher
	expr     tree.Expr
	noisy    bool
	alone    bool  // a count or a sum, and nothing else
	measures []int // the different noisy numbers
	unknown  bool  // some of it has no interval
}

// bars are those of the columns, made once.
func (f *finisher) bars() []bar {
	if f.known == nil {
		for _, o := range f.plan.Columns {
			f.known = append(f.known, f.bar(o.Expr))
		}
	}
	return f.known
}

func (f *finisher) bar(e tree.Expr) bar {
	b := bar{f: f, expr: e}
	tree.Walk(e, func(x tree.Expr) {
		r, ok := x.(*tree.Released)
		if !ok {
			return
		}
		s := f.plan.Stats[r.Stat]
		if s.Kind.Exact() {
			return
		}
		b.noisy = true
		b.unknown = b.unknown || r.Part != tree.PartValue || s.Kind == tree.QuantileStat
		for _, m := range measuresOf(s) {
			if !slices.Contains(b.measures, m) {
				b.measures = append(b.measures, m)
			}
		}
	})
	if r, ok := uncast(e).(*tree.Released); ok {
		b.alone = f.plan.Stats[r.Stat].Kind == tree.MeasureStat && r.Part == tree.PartValue
	}
	return b
}

// uncast is an expression without the cast of an exact number to a floating-point one, which has
// the same value.
func uncast(e tree.Expr) tree.Expr {
	if r, ok := e.(*tree.ToReal); ok {
		return r.X
	}
	return e
}

// measuresOf are the noisy numbers that a stat is made of.
func measuresOf(s tree.Stat) []int {
	var out []int
	switch s.Kind {
	case tree.MeasureStat:
		return []int{s.Measure}
	case tree.AverageStat:
		out = []int{s.Measure}
	case tree.VarianceStat:
		out = []int{s.Measure, s.Square}
	default:
		return nil
	}
	if s.People == nil {
		out = append(out, s.Count)
	}
	return out
}

// halfWidth is the error bar of a value, or nil where there is none.
func (b bar) halfWidth(r *row, v tree.Value) *float64 {
	switch {
	case !b.noisy || b.unknown:
		return nil
	case b.alone:
		s := r.f.plan.Stats[uncast(b.expr).(*tree.Released).Stat]
		half := pricing.Scaled(big.NewInt(r.f.halfWidth(s.Measure, 1, r.group)), r.f.plan.Query.Measures[s.Measure].Step())
		return &half
	}
	x, ok := number(v, b.expr.Type())
	if !ok {
		return nil
	}
	if a, isAverage := b.average(); isAverage {
		_, half := r.average(a, len(b.measures))
		return &half
	}
	around, ok := r.interval(b.expr, len(b.measures))
	if !ok {
		return nil
	}
	half := around.reach(x)
	if math.IsInf(half, 0) {
		return nil
	}
	return &half
}

// average is the stat of a column that is an average and nothing else.
func (b bar) average() (tree.Stat, bool) {
	r, ok := b.expr.(*tree.Released)
	if !ok || b.f.plan.Stats[r.Stat].Kind != tree.AverageStat {
		return tree.Stat{}, false
	}
	return b.f.plan.Stats[r.Stat], true
}

// number is a value as a real number, in units of the answer.
func number(v tree.Value, t tree.Type) (float64, bool) {
	switch v := v.(type) {
	case *big.Int:
		if t.Step == nil {
			return 0, false
		}
		return pricing.Scaled(v, t.Step), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

// interval computes where the exact value of an expression is, from noisy numbers that are each one
// of so many parts. What it has no rule for has no interval.
func (r *row) interval(e tree.Expr, parts int) (span, bool) {
	switch e := e.(type) {
	case *tree.Released:
		return r.span(e.Stat, parts)
	case *tree.Literal:
		x, ok := number(e.Value(), e.Type())
		if !ok {
			return span{}, false
		}
		return outwards(x, x)
	case *tree.Rescale:
		return r.interval(e.X, parts)
	case *tree.ToReal:
		return r.interval(e.X, parts)
	case *tree.Within:
		s, ok := r.interval(e.X, parts)
		return s, ok && s.isInside(e.Type())
	case *tree.Call:
		if e.Fn == "greatest" || e.Fn == "least" {
			return r.extreme(e, parts)
		}
		digits, ok := rounding(e)
		if !ok {
			return span{}, false
		}
		s, ok := r.interval(e.Args[0], parts)
		if !ok {
			return span{}, false
		}
		return s.rounded(e.Fn, digits)
	case *tree.Arith:
		a, ok1 := r.interval(e.L, parts)
		b, ok2 := r.interval(e.R, parts)
		if !ok1 || !ok2 {
			return span{}, false
		}
		switch e.Op {
		case tree.Add:
			return a.plus(b)
		case tree.Sub:
			return a.minus(b)
		case tree.Mul:
			return a.times(b)
		case tree.Div:
			return a.divide(b)
		case tree.Quo:
			q, ok := a.divide(b)
			return q.truncated(), ok
		}
	}
	return span{}, false
}

// extreme is where the greatest or the least of several values is: both ends are those of the ends.
func (r *row) extreme(e *tree.Call, parts int) (span, bool) {
	var out span
	for i, x := range e.Args {
		s, ok := r.interval(x, parts)
		switch {
		case !ok:
			return span{}, false
		case i == 0:
			out = s
		case e.Fn == "greatest":
			out = span{max(out.lo, s.lo), max(out.hi, s.hi)}
		default:
			out = span{min(out.lo, s.lo), min(out.hi, s.hi)}
		}
	}
	return out, true
}

// rounding reports to how many digits a call rounds, where it does.
func rounding(e *tree.Call) (int, bool) {
	switch e.Fn {
	case "round", "trunc", "floor", "ceil":
		if l, ok := e.Args[1].(*tree.Literal); ok {
			if n, ok := l.Value().(*big.Int); ok {
				return int(n.Int64()), true
			}
		}
	}
	return 0, false
}

// span is where the exact value of a stat is.
func (r *row) span(stat, parts int) (span, bool) {
	s := r.f.plan.Stats[stat]
	switch s.Kind {
	case tree.KeyStat, tree.AbsentStat, tree.GroupingStat, tree.PeopleStat:
		x, ok := number(r.values[stat], s.Type())
		if !ok {
			return span{}, false
		}
		return outwards(x, x)
	case tree.MeasureStat:
		if r.f.buy.Query.Choice != nil {
			return span{}, false
		}
		n, step := r.noisy(s.Measure, parts), r.f.plan.Query.Measures[s.Measure].Step()
		value, half := big.NewInt(n.Value), big.NewInt(n.HalfWidth)
		return outwards(pricing.Scaled(new(big.Int).Sub(value, half), step), pricing.Scaled(new(big.Int).Add(value, half), step))
	case tree.AverageStat:
		mean, half := r.average(s, parts)
		return outwards(mean-half, mean+half)
	case tree.VarianceStat:
		v := r.varianceWith(s, parts)
		return v.around, true
	}
	return span{}, false
}
