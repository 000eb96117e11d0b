package memory

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/plan/cells"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/mech"
)

// derivation is how the answer of a purchase is made of an earlier one: each group is the sum of
// some of the source's.
type derivation struct {
	source *source
	of     [][]int // for each group, the groups of the source; nil where they are the same
	at     []int   // for each measure, which of the source's it is
	most   int     // groups of the source in one group
	ratio  float64 // the largest variance, as a share of what the price would have bought
}

// lookPart is which part of what planning may take is for finding out of which earlier answers the
// purchases of a question can be made.
const lookPart = 4

// derive answers a purchase from an earlier one, where that is at least as exact as what the price
// would buy, and returns nil where there is none.
//
// What was released is public. Every function of it that looks at nothing else is free:
// differential privacy is closed under post-processing (Dwork, Roth 2014, Proposition 2.1; Bun,
// Steinke 2016, Lemma 2.2 for zCDP). Which values are summed follows from the two questions
// (tree.Query.Union), so the sum is such a function. Whoever has the derived value and the source
// has no more than the source, and to average the two gains nothing.
//
// The exact value of a group is the sum of the source's exact values, so the error is the sum of
// their noises. These are independent (package mech, 2), so their variances add up, and
// mech.HalfWidthOfSum has the quantiles of the sum. An answer is given only where for every measure
// and group neither the variance nor the half width exceeds those that were asked for.
//
// Where there is none it returns the places of the next sources.
func (m *Memory) derive(
	ctx context.Context, work *meter.Meter, b *pricing.Purchase, version string, beta float64, see Horizon,
) (r *answers.Released, missed []string, err error) {
	if !b.Reusable() || slices.ContainsFunc(b.Noise, func(n pricing.Noise) bool { return n.Running != nil }) {
		return nil, nil, nil // numbers that are as exact one by one make running totals that are not
	}
	names, wanted := b.Names(), make([]float64, len(b.Noise))
	for i, n := range b.Noise {
		wanted[i] = variance(n)
	}
	var all []derivation
	look := func(family string, most int, union func(*source) ([][]int, bool)) error {
		for n := range most {
			s, err := m.find(ctx, slot(family, n))
			if err != nil {
				return err
			}
			if s == nil {
				missed = append(missed, slot(family, n))
				return nil
			}
			if s.noisier(names, wanted) || m.arrivals.hides(s.sequence, see) {
				continue
			}
			if d, ok := derivable(b, s, names, union); ok {
				all = append(all, d)
			}
		}
		return nil
	}
	if err := look(sameFamily(b, version), sameSlots, nil); err != nil {
		return nil, nil, err
	}
	for _, from := range cells.Sources(work, b.Query) {
		err := look(placed(version, "cells", from.Family), cellSlots, func(s *source) ([][]int, bool) {
			if s.cells == nil {
				return nil, false
			}
			return cells.Unions(work, b.Query, from, s.cells)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	// The best one; of equals the one that was paid for first.
	slices.SortStableFunc(all, func(x, y derivation) int {
		return cmp.Or(cmp.Compare(x.ratio, y.ratio), cmp.Compare(x.source.sequence, y.source.sequence))
	})
	for _, d := range all {
		if r, ok := d.sum(b, beta); ok {
			r.Sequence = d.source.sequence
			return r, nil, nil
		}
	}
	return nil, missed, nil
}

// variance is that of a noise, or infinite where it is none that is added.
func variance(n pricing.Noise) float64 {
	if n.Mechanism == nil {
		return math.Inf(1)
	}
	return mech.Variance(n.Mechanism)
}

// noisier reports that a source is of no use, because it has more noise than is wanted. It is what
// most sources of a question that was asked at many prices are, and it is quick. Equal noise, to
// within rounding, is left to be compared exactly.
func (s *source) noisier(names []string, wanted []float64) bool {
	for i, name := range names {
		if at := slices.Index(s.measures, name); at >= 0 && at < len(s.variances) && s.variances[at] > wanted[i]*(1+1e-9) {
			return true
		}
	}
	return false
}

// derivable reports how a purchase, whose measures have these names, can be made of a source; union
// says of which groups, and is nil for the same question.
func derivable(b *pricing.Purchase, s *source, names []string, union func(*source) ([][]int, bool)) (derivation, bool) {
	d := derivation{source: s, most: 1}
	for i, name := range names {
		at := slices.Index(s.measures, name)
		if at < 0 || s.noise[at].Mechanism == nil {
			return d, false
		}
		d.at = append(d.at, at)
		d.ratio = max(d.ratio, share(s.noise[at], b.Noise[i]))
	}
	if d.ratio > 1 { // more groups would make it worse
		return d, false
	}
	if union == nil {
		return d, len(s.values) > 0
	}
	var ok bool
	if d.of, ok = union(s); !ok {
		return d, false
	}
	for _, of := range d.of {
		d.most = max(d.most, len(of))
	}
	if d.most > 1 && slices.ContainsFunc(b.Query.Measures, func(m tree.Measure) bool { return !m.Adds() }) {
		return d, false
	}
	d.ratio *= float64(d.most)
	return d, d.ratio <= 1
}

// share is the variance of one noise over that of another. Where both are of one kind it is exact
// enough to know equal ones.
func share(a, b pricing.Noise) float64 {
	if a.Name() == b.Name() && a.Parameter().Cmp(b.Parameter()) == 0 {
		return 1
	}
	return mech.Variance(a.Mechanism) / mech.Variance(b.Mechanism)
}

// sum adds up the source's values, where the error bars are no wider than those that were asked
// for.
func (d derivation) sum(b *pricing.Purchase, beta float64) (*answers.Released, bool) {
	out := &answers.Released{Quantiles: make([][][]int64, len(d.at)), Derived: d.source.sequence}
	groups := b.Query.Groups()
	for i, at := range d.at {
		if answers.HalfWidthOfSum(d.source.noise[at].Mechanism, d.most, beta) > b.Noise[i].HalfWidth(beta) {
			return nil, false
		}
		out.Noise = append(out.Noise, d.source.noise[at])
		values := d.source.values[at]
		sums := make([]int64, groups)
		for g := range sums {
			of := []int{g}
			if d.of != nil {
				of = d.of[g]
			}
			for _, cell := range of {
				if cell >= len(values) {
					return nil, false // not of the shape that its keys say
				}
				v := values[cell]
				if v > 0 && sums[g] > math.MaxInt64-v || v < 0 && sums[g] < math.MinInt64-v {
					return nil, false // no integer holds it
				}
				sums[g] += v
			}
		}
		out.Measures = append(out.Measures, sums)
	}
	for g := range groups {
		n := 1
		if d.of != nil {
			n = len(d.of[g])
		}
		out.Cells = append(out.Cells, n)
	}
	return out, true
}
