package answercache

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
)

// derivation is how the answer of a purchase is made of an earlier one: each group is the sum of
// some of the source's.
type derivation struct {
	source *keptSource
	of     [][]int // for each group, the groups of the source; nil where they are the same
	at     []int   // for each measure, which of the source's it is
	most   int     // groups of the source in one group
	ratio  float64 // the largest variance, as a share of what the price would have bought
}

// recallWorkPart is which part of what planning may take is for finding out of which earlier
// answers the purchases of a question can be made.
const recallWorkPart = 4

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
func (m *Cache) derive(
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
	look := func(family string, most int, union func(*keptSource) ([][]int, bool)) error {
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
	for _, from := range cells.EarlierAnswers(work, b.Query) {
		err := look(placed(version, "cells", from.Family), cellSlots, func(s *keptSource) ([][]int, bool) {
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
func (s *keptSource) noisier(names []string, wanted []float64) bool {
	for i, name := range names {
		if at := slices.Index(s.measures, name); at >= 0 && at < len(s.variances) && s.variances[at] > wanted[i]*(1+1e-9) {
			return true
		}
	}
	return false
}

// derivable reports how a purchase, whose measures have these names, can be made of a source; union
// says of which groups, and is nil for the same question.
func derivable(b *pricing.Purchase, s *keptSource, names []string, union func(*keptSource) ([][]int, bool)) (derivation, bool) {
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
		total := mech.NumberNoise{Mechanism: d.source.noise[at].Mechanism, Count: d.most}
		if total.HalfWidth(beta) > b.Noise[i].HalfWidth(beta) {
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

// Base is an answer to the same question with more noise, which a sharper one can be made of for
// the difference of the two prices (mech.Sharper).
type Base struct {
	Sequence uint64 // the charge that paid for it
	Values   [][]int64
	By       []mech.Sharper // for each measure; nil where its noise stays as it is

	session string
}

// Family names all purchases of one question, at whatever price: who buys one of them for the
// difference to another does it while nobody else buys any.
func Family(b *pricing.Purchase, version string) (string, bool) {
	return sameFamily(b, version), b.Reusable()
}

// Asker says who asks for a base, and about what.
type Asker struct {
	Dataset, Version string
	Window           uint64
	Request          string
	Program          string // what computes; see Keep
}

// FindBase returns the sharpest answer to the question of a purchase that it can be made of, or nil
// where there is none. Nobody else may be buying the same question meanwhile.
//
// What a sharpener of Laplace noise rests on is looked at here, and one of Gaussian noise rests on
// less: there it is that the numbers mean the same. The answer was released with this noise on the
// same data: it is in a slot of this question and version, and the data was of that version still
// when it had been computed. The exact numbers are the same: one program computes both, because
// another one may keep other rows of people who have too many. It is in the same sums: it was
// charged in the same window, and no recovery came since, which may have lost what was charged. And
// nothing else was made of it: whatever is, is noted before it is computed, and a base that has a
// note is none, but for the request that noted it and has no answer yet, which gets no other.
func (m *Cache) FindBase(ctx context.Context, b *pricing.Purchase, who Asker, see Horizon) (*Base, error) {
	if !b.Reusable() || len(b.Twins) > 0 { // twins are paid for together, and a difference is of one sum
		return nil, nil
	}
	family := sameFamily(b, who.Version)
	var best *Base
	for n := range sameSlots {
		s, err := m.find(ctx, slot(family, n))
		if err != nil {
			return nil, err
		}
		if s == nil {
			break
		}
		if n == 0 { // what is from before a recovery is no base, and mostly there is none at all
			if era, err := m.ledger.Era(ctx); err != nil || era != "" {
				return nil, err
			}
		}
		base := s.base(b)
		if base == nil || s.made == "" || s.made != who.Program || m.arrivals.hidesSame(s.sequence, see) {
			continue
		}
		base.session = "sharpened " + who.Dataset + " " + strconv.FormatUint(base.Sequence, 10) + " " + b.Query.Hash()
		ok, own, err := m.unused(ctx, base, who)
		if err != nil {
			return nil, err
		}
		if own {
			return base, nil
		}
		if ok && (best == nil || base.sharper(best)) {
			best = base
		}
	}
	return best, nil
}

// base is how a purchase is made of a source, or nil.
func (s *keptSource) base(b *pricing.Purchase) *Base {
	if len(s.values) != len(b.Noise) || !slices.Equal(s.measures, b.Names()) {
		return nil
	}
	out := &Base{Sequence: s.sequence, Values: s.values}
	less := false
	for i, n := range b.Noise {
		from, to := s.noise[i].Mechanism, n.Mechanism
		if from == nil || to == nil || len(s.values[i]) != b.Query.Groups() {
			return nil
		}
		if same(from, to) {
			out.By = append(out.By, nil)
			continue
		}
		by, err := mech.NewSharper(from, to)
		if err != nil || !by.CanSharpen(s.values[i]) {
			return nil
		}
		less = true
		out.By = append(out.By, by)
	}
	if !less {
		return nil
	}
	return out
}

// same reports whether two noises are one, which is drawn for each number by itself. What was kept
// does not say how far one number moves, which makes Laplace noise cheaper in rho and changes
// nothing else of it, so costs are not compared.
func same(a, b mech.Mechanism) bool {
	if _, joint := b.(*mech.MarginalNoise); joint {
		return false
	}
	return a.Name() == b.Name() && a.Parameter().Cmp(b.Parameter()) == 0
}

// sharper compares by what is still to be paid.
func (x *Base) sharper(y *Base) bool { return x.left() < y.left() }

func (x *Base) left() (sum float64) {
	for _, by := range x.By {
		if by == nil {
			continue
		}
		if c := by.Cost(); c.Epsilon != dp.Unbounded {
			sum += c.Epsilon.Float()
		} else {
			sum += c.Rho.Float()
		}
	}
	return sum
}

// use is the note of who makes something of a base.
type use struct {
	Charge  uint64 `json:"charge"`
	Request string `json:"request"`
}

// unused reports whether a base was charged in this window, and nothing was made of it yet; own,
// whether it is noted for this request.
func (m *Cache) unused(ctx context.Context, base *Base, who Asker) (ok, own bool, err error) {
	for r, err := range m.ledger.Records(ctx, base.Sequence) {
		if err != nil {
			return false, false, err
		}
		if r.Kind != ledger.KindCharge || r.Window != who.Window || r.Dataset != who.Dataset {
			return false, false, nil
		}
		break
	}
	notes, err := m.ledger.Notes(ctx, base.session)
	if err != nil || len(notes) == 0 {
		return err == nil, false, err
	}
	for _, text := range notes {
		var u use
		if json.Unmarshal(text, &u) != nil || u.Request != who.Request || who.Request == "" {
			return false, false, nil
		}
	}
	return true, true, nil
}

// First is the note that the charge for what is made of a base writes with itself: of two servers
// that both found it unused one is charged, and the other is not.
func (x *Base) First(request string) ledger.First {
	return ledger.First{Session: x.session, Entry: func(charge uint64) []byte { return (use{charge, request}).encode() }}
}

func (u use) encode() []byte {
	text, err := json.Marshal(u)
	if err != nil {
		return nil // a number and a text are always JSON
	}
	return text
}

// Use is for a charge that was made before: it has noted that it makes something of a base, or
// notes it now, and there is an error where something was made of it by another.
func (m *Cache) Use(ctx context.Context, base *Base, charge uint64, request string) error {
	err := m.ledger.NoteIf(ctx, base.session, use{charge, request}.encode(), ledger.After(0))
	if !errors.Is(err, ledger.ErrBehind) {
		return err
	}
	notes, err := m.ledger.Notes(ctx, base.session)
	if err != nil {
		return err
	}
	for _, text := range notes {
		var u use
		if json.Unmarshal(text, &u) != nil || u.Charge != charge {
			return ErrUsed
		}
	}
	return nil
}
