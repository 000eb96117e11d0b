package planner

import (
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// placer decides by which measures averages and variances are released, once all that a question
// asks for is known.
type placer struct {
	in         *rowScope
	groups     *groups
	aggregates *aggregator
	out        *releases
	twins      bool   // averages are made of twins
	people     *int64 // how many there are, where that is public, and counts are that number
}

// place places all averages, variances and quantiles, and returns how many people there are where
// counts are that number.
func (pl *placer) place() (people *int64, err error) {
	if err := pl.countEverybody(); err != nil {
		return nil, err
	}
	pl.twins = pl.hasTwins()
	for i := range pl.out.stats {
		if d := &pl.out.stats[i]; d.Kind == tree.AverageStat || d.Kind == tree.VarianceStat {
			if err := pl.placeAverage(d); err != nil {
				return nil, err
			}
		}
	}
	for name, all := range pl.out.quantiles {
		spelled := pl.out.addMeasure(tree.Measure{Kind: tree.Quantile, Arg: all.arg, At: all.at})
		for i := range pl.out.stats {
			if d := &pl.out.stats[i]; d.Kind == tree.QuantileStat && d.measure == name {
				d.measure = spelled
				d.Quantile, _ = slices.BinarySearchFunc(all.at, d.at, (*big.Rat).Cmp)
			}
		}
	}
	return pl.people, nil
}

// placeAverage decides which sum an average or a variance is made of. Where the question has the
// plain sum anyway it is used, and nothing more is paid for. Otherwise values are summed around the
// middle of their bounds, which halves the noise. Where somebody may have more rows than count, a
// plain sum is clamped apart from the count, and is of no use.
func (pl *placer) placeAverage(d *statDraft) error {
	if count := pl.aggregates.countValues(d.Of); pl.people != nil && pl.countsEverybody(count) {
		d.People = pl.people
	} else if !pl.twins {
		d.count = pl.out.addMeasure(count)
	}
	plain, err := pl.aggregates.sum(d.Of, -1)
	if err != nil {
		return err
	}
	d.Center = new(big.Int)
	if pl.twins {
		return pl.placeTwins(d)
	}
	if _, ok := pl.out.measures[plain.Format()]; ok && !pl.aggregates.severalRows() {
		d.measure = plain.Format()
		return nil
	}
	centered, center, err := pl.aggregates.recenter(d.Of, -1)
	if err != nil {
		return err
	}
	m, err := pl.aggregates.sum(centered, -1)
	if err != nil {
		return err
	}
	d.measure, d.Center = pl.out.addMeasure(pl.aggregates.scaled(m)), center
	return nil
}

// countEverybody puts the number of people in the place of counts that are always that number, so
// that nothing is paid for them. Whether they are is a matter of right answers and not of privacy:
// the number is public whatever the question is.
func (pl *placer) countEverybody() error {
	if pl.in.env.options.People == nil || pl.groups.otherSets || pl.in.filter != nil || len(pl.groups.keys) > 0 ||
		!pl.hasEverybody(pl.in.rows.Relation) {
		return nil
	}
	needed := false
	for _, d := range pl.out.stats {
		needed = needed || d.Kind == tree.AverageStat || d.Kind == tree.VarianceStat
	}
	for _, m := range pl.out.measures {
		needed = needed || pl.countsEverybody(m)
	}
	if !needed {
		return nil
	}
	n, err := pl.in.env.options.People()
	if err != nil {
		return err
	}
	pl.people = &n
	for i := range pl.out.stats {
		d := &pl.out.stats[i]
		if d.Kind == tree.MeasureStat && pl.countsEverybody(pl.out.measures[d.measure]) {
			d.Kind, d.People, d.measure = tree.PeopleStat, pl.people, ""
		}
	}
	maps.DeleteFunc(pl.out.measures, func(_ string, m tree.Measure) bool { return pl.countsEverybody(m) })
	return nil
}

// countsEverybody reports whether a measure over rows in which everybody is counts everybody once.
func (pl *placer) countsEverybody(m tree.Measure) bool {
	return m.Kind == tree.CountRows && pl.in.rows.Single() || m.Kind == tree.CountPersons && m.Arg == nil
}

// hasEverybody reports whether everybody has a row in a relation: in the table that tells how many
// there are, or in what leaves a row of everybody who is in such a relation.
func (pl *placer) hasEverybody(r tree.Relation) bool {
	switch r := r.(type) {
	case *tree.Scan:
		return r.Table == pl.in.env.dataset.CountsEverybody()
	case *tree.Cut:
		return pl.hasEverybody(r.From)
	case *tree.Select:
		return r.Where == nil && pl.hasEverybody(r.From)
	case *tree.Persons:
		return r.Where == nil && pl.hasEverybody(r.From)
	case *tree.Window:
		return r.Where == nil && pl.hasEverybody(r.From)
	}
	return false
}

// hasTwins reports whether averages are made of twins: the sums of x - l and u - x, which one
// person moves by u - l together. With Laplace noise k averages of them have, at the same price,
// variances in proportion to k^2, and those of k sums around the middle and one count that they
// share to (k+1)^2/2 (see tree.Query.TwinSensitivity): up to two averages, and nothing else that is
// paid for, are better off. Cells of streams are counts, so a dataset that has some keeps to these.
func (pl *placer) hasTwins() bool {
	ds := pl.in.env.dataset
	if !ds.Budget.Pure() || ds.Neighbours != dp.AddRemove || !pl.in.rows.Single() || len(pl.out.measures) > 0 ||
		len(pl.out.quantiles) > 0 || pl.people != nil || len(ds.Streams) > 0 {
		return false
	}
	averages := 0
	for _, d := range pl.out.stats {
		switch {
		case d.Kind == tree.AverageStat:
			t := d.Of.Type()
			if averages++; averages > 2 || new(big.Int).Sub(t.Hi, t.Lo).Cmp(maxPersonSteps) > 0 {
				return false
			}
		case !d.Kind.Exact():
			return false
		}
	}
	return averages > 0
}

func (pl *placer) placeTwins(d *statDraft) error {
	t := d.Of.Type()
	up := d.Of
	if t.Lo.Sign() != 0 {
		moved, err := expr.NewArith(tree.Sub, d.Of, expr.FromValue(t.Lo, t), -1)
		if err != nil {
			return err
		}
		up = pl.in.env.normal(moved)
	}
	down, err := expr.NewArith(tree.Sub, expr.FromValue(t.Hi, t), d.Of, -1)
	if err != nil {
		return err
	}
	d.measure = pl.out.addMeasure(tree.Measure{Kind: tree.Sum, Arg: up})
	d.count = pl.out.addMeasure(tree.Measure{Kind: tree.Sum, Arg: pl.in.env.normal(down)})
	d.Center, d.Twin = t.Lo, true
	return nil
}

// CountPeople is the query whose result is how many people there are; nil where that is not public,
// or no table tells it. See [policy.Dataset.Everybody].
func CountPeople(ds *policy.Dataset) *tree.Query {
	t := ds.CountsEverybody()
	if t == nil {
		return nil
	}
	s := NewScan(ds, t)
	q := &tree.Query{Dataset: ds.Name, Neighbours: ds.Neighbours, From: s, RowLimit: 1, GroupLimit: 1}
	q.Measures = []tree.Measure{{Kind: tree.CountRows}}
	if !s.Single() {
		q.Measures[0].Kind = tree.CountPersons
	}
	return q
}
