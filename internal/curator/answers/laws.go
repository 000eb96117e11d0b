package answers

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// laws are those that were computed, of all answers: questions that come again, and the groups of
// one answer, have the same. Each takes about 5 KiB.
var laws = lru.New[mech.RatioLaw, *mech.RatioNoise](2048)

// withoutBar is for estimates, which do not depend on how wide their bars are.
var withoutBar = mech.NewRatioNoiseWithin(0, 0)

// computeLaws computes the laws of averages before there are rows, as many as one answer may have:
// see [pricing.MostLaws]. Averages by themselves come first, because their bars are what was asked
// for with dp.error; then the ones that columns are made of, in the order of the text. Which have
// one so depends on no value and not on which rows are shown.
func computeLaws(ctx context.Context, parts []*finisher) error {
	admitted := pricing.Laws{}
	for _, alone := range []bool{true, false} {
		for _, f := range parts {
			for _, b := range f.averages() {
				if (b.parts == 1) != alone {
					continue
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				f.computeLaw(b, admitted)
			}
		}
	}
	return nil
}

// averageBar is an average as one of so many parts of what has an error bar.
type averageBar struct {
	stat  tree.Stat
	parts int
}

// averages are all those of which a row has an error bar, or an end of an interval.
func (f *finisher) averages() []averageBar {
	var out []averageBar
	add := func(stat, parts int) {
		if s := f.plan.Stats[stat]; s.Kind == tree.AverageStat {
			out = append(out, averageBar{s, parts})
		}
	}
	ends := func(e tree.Expr) {
		tree.Walk(e, func(x tree.Expr) {
			if r, ok := x.(*tree.Released); ok && r.Part != tree.PartValue {
				add(r.Stat, 1)
			}
		})
	}
	for i, b := range f.bars() {
		ends(f.plan.Columns[i].Expr)
		if b.unknown {
			continue
		}
		tree.Walk(b.expr, func(x tree.Expr) {
			if r, ok := x.(*tree.Released); ok {
				add(r.Stat, len(b.parts))
			}
		})
	}
	if f.plan.Having != nil {
		ends(f.plan.Having)
	}
	for _, o := range f.plan.Order {
		ends(o.By)
	}
	return out
}

// computeLaw computes the law of an average where it may have one. Groups that were summed from
// several cells of another answer have none, whatever is computed for the others.
func (f *finisher) computeLaw(a averageBar, admitted pricing.Laws) {
	if f.released.Halves != nil || a.stat.People != nil || f.buy.Query.Choice != nil {
		return
	}
	key := ratio{a.stat.Measure, a.stat.Count, a.parts}
	if f.ratios[key] != nil {
		return
	}
	if f.released.Derived != 0 && !slices.Contains(f.released.Cells, 1) {
		return
	}
	x, y := f.noiseOfOne(a.stat.Measure), f.noiseOfOne(a.stat.Count)
	t := f.plan.Query.Measures[a.stat.Measure].Arg.Type()
	most := max(math.Abs(float(t.Lo)), math.Abs(float(t.Hi)))
	if a.stat.Twin {
		most = 1 // see mech.RatioNoise.Part
	}
	law := mech.NewRatioLaw(f.beta/float64(a.parts), x, y, most)
	if !admitted.Admit(law) {
		return
	}
	known, ok := laws.Get(law)
	if !ok {
		known = law.Noise()
		laws.Put(law, known, 1)
	}
	if f.ratios == nil {
		f.ratios = map[ratio]*mech.RatioNoise{}
	}
	f.ratios[key] = known
}

// ratio is the noise of an average that is one of so many parts.
func (r *row) ratio(s tree.Stat, parts int) *mech.RatioNoise {
	f := r.f
	if halves := f.released.Halves; halves != nil { // which hold all at once, however many parts there are
		within := int64(0)
		if s.People == nil {
			within = halves[s.Count][r.group]
		}
		return mech.NewRatioNoiseWithin(halves[s.Measure][r.group], within)
	}
	if s.People != nil {
		return mech.NewRatioNoiseWithin(f.halfWidth(s.Measure, parts, r.group), 0)
	}
	if known := f.ratios[ratio{s.Measure, s.Count, parts}]; known != nil && f.noise(s.Measure, r.group).Count <= 1 {
		return known
	}
	return mech.NewRatioNoiseWithin(f.halfWidth(s.Measure, 2*parts, r.group), f.halfWidth(s.Count, 2*parts, r.group))
}
