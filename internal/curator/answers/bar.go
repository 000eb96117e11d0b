package answers

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// bar makes the error bars of one column.
//
// A count or a sum by itself has the half width of its noise: exact, and the same in every row.
// An average by itself has the interval of its quotient ([mech.RatioNoise]), as sure as is said.
//
// Anything else that is computed from noisy numbers gets interval arithmetic: let a column be made
// of n different parts, which are averages and other noisy numbers. Each of them is within its
// interval at beta/n but with probability beta/n, so all are but with probability beta (Bonferroni;
// nothing is said about how they depend on each other), and then the exact value is in the interval
// that the operations make of theirs. That is at least as sure as is said, and wider than need be.
type bar struct {
	f       *finisher
	expr    tree.Expr
	noisy   bool
	alone   bool   // a count or a sum, and nothing else
	parts   []part // the different ones that it is made of
	unknown bool   // some of it has no interval
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
		for _, p := range partsOf(s) {
			if !slices.Contains(b.parts, p) {
				b.parts = append(b.parts, p)
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

// part is a noisy number, or the average that it is made into with a count.
type part struct {
	measure int
	average bool
	count   int // of an average
}

// partsOf are what a stat is made of, each with an interval of its own.
func partsOf(s tree.Stat) []part {
	switch s.Kind {
	case tree.MeasureStat:
		return []part{{measure: s.Measure}}
	case tree.AverageStat:
		return []part{{s.Measure, true, s.Count}}
	case tree.VarianceStat:
		out := []part{{measure: s.Measure}, {measure: s.Square}}
		if s.People == nil {
			out = append(out, part{measure: s.Count})
		}
		return out
	}
	return nil
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
		half := r.average(a, len(b.parts)).half
		return &half
	}
	around, ok := r.interval(b.expr, len(b.parts))
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
		around := r.average(s, parts).around
		return outwards(around.lo, around.hi)
	case tree.VarianceStat:
		v := r.varianceWith(s, parts)
		return v.around, true
	}
	return span{}, false
}

// span is an interval of real numbers. Every operation rounds outwards, so a span holds what it is
// said to hold.
type span struct{ lo, hi float64 }

func point(x float64) span { return span{x, x} }

func outwards(lo, hi float64) (span, bool) {
	s := span{math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(1))}
	return s, !math.IsNaN(lo) && !math.IsNaN(hi) && !math.IsInf(s.lo, 0) && !math.IsInf(s.hi, 0)
}

func (s span) plus(t span) (span, bool)  { return outwards(s.lo+t.lo, s.hi+t.hi) }
func (s span) minus(t span) (span, bool) { return outwards(s.lo-t.hi, s.hi-t.lo) }

func (s span) times(t span) (span, bool) {
	a, b, c, d := s.lo*t.lo, s.lo*t.hi, s.hi*t.lo, s.hi*t.hi
	return outwards(min(a, b, c, d), max(a, b, c, d))
}

// divide divides. A divisor that may be zero leaves nothing known.
func (s span) divide(t span) (span, bool) {
	if t.lo <= 0 && t.hi >= 0 {
		return span{}, false
	}
	a, b, c, d := s.lo/t.lo, s.lo/t.hi, s.hi/t.lo, s.hi/t.hi
	return outwards(min(a, b, c, d), max(a, b, c, d))
}

// truncated is what whole numbers of the span become when their digits after the point are cut.
func (s span) truncated() span { return span{math.Trunc(s.lo), math.Trunc(s.hi)} }

// rounded is what numbers of the span become when they are rounded to so many digits.
func (s span) rounded(fn string, digits int) (span, bool) {
	lo, hi, ok := Round(fn, digits, s.lo, s.hi)
	return span{lo, hi}, ok
}

// Round returns between which numbers those between two others are, once one of the functions that
// round was called with them. Rounding never changes their order.
func Round(fn string, digits int, least, most float64) (lo, hi float64, ok bool) {
	f := map[string]func(float64) float64{"round": math.Round, "trunc": math.Trunc, "floor": math.Floor, "ceil": math.Ceil}[fn]
	scale := math.Pow10(digits)
	// One step further out first, so that a product just beside a half falls on the safe side.
	lo, hi = math.Nextafter(least*scale, math.Inf(-1)), math.Nextafter(most*scale, math.Inf(1))
	s, ok := outwards(f(lo)/scale, f(hi)/scale)
	return s.lo, s.hi, ok
}

// isInside reports whether all of the span is among the values of a type with bounds.
func (s span) isInside(t tree.Type) bool {
	switch t.Kind {
	case tree.Number:
		return pricing.Scaled(t.Lo, t.Step) <= s.lo && s.hi <= pricing.Scaled(t.Hi, t.Step)
	case tree.Real:
		return t.Range != nil && t.Range.Low <= s.lo && s.hi <= t.Range.High
	}
	return false
}

func (s span) square() (span, bool) {
	out, ok := s.times(s)
	if s.lo <= 0 && s.hi >= 0 {
		out.lo = 0
	}
	out.lo = max(out.lo, 0)
	return out, ok
}

// cutTo cuts to another span. Where the two do not meet, something with probability beta has
// happened, and the other one is all that is known.
func (s span) cutTo(t span) span {
	if s.hi < t.lo || s.lo > t.hi {
		return t
	}
	return span{max(s.lo, t.lo), min(s.hi, t.hi)}
}

// reach is the half width of an interval around x that holds the span, rounded up.
func (s span) reach(x float64) float64 {
	return math.Nextafter(max(s.hi-x, x-s.lo, 0), math.Inf(1))
}

// deviation is a variance or a standard deviation, and where the exact one is.
type deviation struct {
	estimate float64
	around   span
}

// variance estimates a variance from a noisy count, sum and sum of squares.
func (r *row) variance(s tree.Stat) deviation { return r.varianceWith(s, len(partsOf(s))) }

// varianceWith computes a variance around public centers:
//
//	E (x - c)^2 - (E x - c)^2, times n/(n-1) for that of a sample.
//
// n is at least 2 there, because one value has no variance of a sample. Values lie between public
// bounds that are R apart, so a variance is at most R^2/4 (Popoviciu), and the estimate is clamped
// to that. The interval is made of those of the three noisy numbers by interval arithmetic; where
// the count may be less than 1 (or 2) nothing but the limits is known.
func (r *row) varianceWith(s tree.Stat, parts int) deviation {
	measures := r.f.plan.Query.Measures
	t := s.Of.Type()
	step, _ := t.Step.Float64()
	width := (float(t.Hi) - float(t.Lo)) * step
	count, sum, squares := r.divisor(s, parts), r.noisy(s.Measure, parts), r.noisy(s.Square, parts)
	sumStep, _ := measures[s.Measure].Step().Float64()
	squareStep, _ := measures[s.Square].Step().Float64()
	// How far the center of the sum is from that of the squares.
	shift := (float(s.Center) - float(s.SquareCenter)) * step

	least := 1.0
	if s.Sample {
		least = 2
	}
	n := math.Max(float64(count.Value), least)
	factor := 1.0
	if s.Sample {
		factor = n / (n - 1)
	}
	mean := float64(sum.Value)*sumStep/n + shift
	limit := width * width / 4
	estimate := clampTo((float64(squares.Value)*squareStep/n-mean*mean), limit) * factor

	most := limit
	if s.Sample {
		most *= 2 // n/(n-1) is largest for two values
	}
	around := span{0, most}
	if low := float64(count.Value) - float64(count.HalfWidth); low >= least {
		ns := span{low, float64(count.Value) + float64(count.HalfWidth)}
		if exact, ok := varianceSpan(ns, interval(sum.Value, sum.HalfWidth, sumStep),
			interval(squares.Value, squares.HalfWidth, squareStep), shift); ok {
			exact = exact.cutTo(span{0, limit})
			if s.Sample {
				exact, _ = exact.times(span{ns.hi / (ns.hi - 1), ns.lo / (ns.lo - 1)})
			}
			around = exact.cutTo(span{0, most})
		}
	}
	out := deviation{estimate, around}
	if s.Root {
		out = deviation{math.Sqrt(estimate), span{math.Sqrt(math.Max(0, around.lo)), math.Sqrt(around.hi)}}
	}
	out.around.lo = max(0, out.around.lo)
	return out
}

func varianceSpan(n, sum, squares span, shift float64) (span, bool) {
	mean, ok1 := sum.divide(n)
	mean, ok2 := mean.plus(point(shift))
	distance, ok3 := mean.square()
	second, ok4 := squares.divide(n)
	out, ok5 := second.minus(distance)
	return out, ok1 && ok2 && ok3 && ok4 && ok5
}

// interval is the interval of a noisy integer, in units of the answer.
func interval(value, half int64, step float64) span {
	return span{(float64(value) - float64(half)) * step, (float64(value) + float64(half)) * step}
}

func clampTo(x, limit float64) float64 { return math.Min(math.Max(x, 0), limit) }
