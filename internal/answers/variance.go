package answers

import (
	"math"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// spread is a variance or a standard deviation, and where the exact one is.
type spread struct {
	estimate float64
	around   span
}

// variance estimates a variance from a noisy count, sum and sum of squares.
func (r *row) variance(s tree.Stat) spread { return r.varianceWith(s, len(measuresOf(s))) }

// varianceWith computes a variance around public centers:
//
//	E (x - c)^2 - (E x - c)^2, times n/(n-1) for that of a sample.
//
// n is at least 2 there, because one value has no variance of a sample. Values lie between public
// bounds that are R apart, so a variance is at most R^2/4 (Popoviciu), and the estimate is clamped
// to that. The interval is made of those of the three noisy numbers by interval arithmetic; where
// the count may be less than 1 (or 2) nothing but the limits is known.
func (r *row) varianceWith(s tree.Stat, parts int) spread {
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
	out := spread{estimate, around}
	if s.Root {
		out = spread{math.Sqrt(estimate), span{math.Sqrt(math.Max(0, around.lo)), math.Sqrt(around.hi)}}
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
