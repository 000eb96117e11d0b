package plan

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// finish puts measures into their canonical order and connects stats to them.
func (q *question) finish(distinct bool) (*tree.Plan, error) {
	p := &tree.Plan{Columns: q.output, Having: q.restrict, Order: q.order, Limit: q.count, Offset: q.skip, Distinct: distinct,
		Within: q.within}
	p.Query = tree.Query{
		Dataset: q.dataset.Name, Neighbours: q.dataset.Neighbours, From: q.rows.Relation, Where: q.filter, Keys: q.keys,
		RowLimit: q.rowLimit(), GroupLimit: tree.AtMost(q.rows.PersonGroups()),
	}
	if q.rows.Single() {
		p.Query.GroupLimit = 1
	}
	allowed := p.Query.GroupLimit
	p.Query.GroupLimit = min(allowed, onceIn(q.rows.Relation, q.filter).groups(q.keys))
	if m := q.options.MaxGroups; m != 0 {
		if m < 1 || m > allowed && !q.several { // each set has its own limit
			return nil, syntax.Refuse(-1, "set dp.max_groups to a number from 1 to what the policy allows here",
				"one person counts in at most %d groups of this question", allowed)
		}
		p.Query.GroupLimit = min(m, p.Query.GroupLimit)
	}
	choice, err := q.choice(p)
	if err != nil {
		return nil, err
	}
	if choice {
		return p, nil
	}
	if err := q.countEverybody(); err != nil {
		return nil, err
	}
	q.twins = q.hasTwins()
	for i := range q.stats {
		if d := &q.stats[i]; d.Kind == tree.AverageStat || d.Kind == tree.VarianceStat {
			if err := q.placeSum(d); err != nil {
				return nil, err
			}
		}
	}
	for name, all := range q.quantiles {
		m := tree.Measure{Kind: tree.Quantile, Arg: all.arg, At: all.at}
		spelled := q.addMeasure(m)
		for i := range q.stats {
			if d := &q.stats[i]; d.Kind == tree.QuantileStat && d.measure == name {
				d.measure = spelled
				d.Quantile, _ = slices.BinarySearchFunc(all.at, d.at, (*big.Rat).Cmp)
			}
		}
	}
	if len(q.measures) == 0 && len(q.keys) == 0 && q.people == nil {
		return nil, syntax.Refuse(first(q.targets), "add an aggregate, as in COUNT(*)", "the question selects no aggregate")
	}
	if len(q.measures) > maxMeasures {
		return nil, syntax.Refuse(first(q.targets), "ask for fewer at a time", "the question has more than %d aggregates", maxMeasures)
	}
	names := make([]string, 0, len(q.measures))
	for name := range q.measures {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.Query.Measures = append(p.Query.Measures, q.measures[name])
	}
	for _, d := range q.stats {
		for _, place := range []struct {
			of   string
			into *int
		}{{d.measure, &d.Stat.Measure}, {d.count, &d.Stat.Count}, {d.square, &d.Stat.Square}} {
			if i, ok := slices.BinarySearch(names, place.of); ok {
				*place.into = i
			}
		}
		p.Stats = append(p.Stats, d.Stat)
	}
	q.flatten(p)
	if err := q.showable(p); err != nil {
		return nil, err
	}
	return p, provenTotal(&p.Query)
}

// rowLimit is how many rows of one person count in one group.
func (q *question) rowLimit() int64 {
	if q.rows.Single() {
		return 1
	}
	if apart, known := apart(q.rows.Relation); known && !slices.ContainsFunc(apart, func(f int) bool { return !q.groupedBy(f) }) {
		return 1 // a person has one row in each group
	}
	return tree.AtMost(q.rows.PersonRows())
}

// groupedBy reports whether a field is a key.
func (q *question) groupedBy(field int) bool {
	return slices.ContainsFunc(q.keys, func(k tree.Key) bool {
		c, ok := k.Expr.(*tree.Column)
		return ok && c.Index == field
	})
}

// apart are fields such that no two rows of one person are the same in all of them: without any,
// a person has one row. Nothing is known of most relations. It saves noise, and privacy does not
// rest on it: rows are cut to what is said.
func apart(r tree.Relation) (out []int, known bool) {
	switch r := plain(r).(type) {
	case *tree.Persons:
		same := onceIn(r.From, r.Where)
		for i, e := range r.Keys {
			if same.differs(e) {
				out = append(out, 1+i)
			}
		}
		return out, true
	case *tree.Window:
		return apart(r.From)
	case *tree.Select:
		below, known := apart(r.From)
		for _, f := range below {
			at := slices.IndexFunc(r.Columns, func(e tree.Expr) bool {
				c, ok := e.(*tree.Column)
				return ok && c.Index == f
			})
			if at < 0 {
				return nil, false
			}
			out = append(out, at)
		}
		return out, known
	}
	return nil, false
}

// maxMeasures bounds the aggregates of a question. They share its price, so far fewer make sense.
const maxMeasures = 200
