package plan

import (
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// assemble makes the plan of what was read: the limits on what one person contributes, the measures
// in their canonical order, and the stats that are made of them.
func assemble(read *answerReader, distinct bool) (*tree.Plan, error) {
	in, groups, out, answer := read.in, read.groups, read.out, read.answer
	limit, err := groups.limit(in)
	if err != nil {
		return nil, err
	}
	p := &tree.Plan{Columns: answer.columns, Having: answer.having, Order: answer.order, Limit: answer.limit, Offset: answer.offset,
		Distinct: distinct, Within: answer.within}
	p.Query = tree.Query{
		Dataset: in.env.dataset.Name, Neighbours: in.env.dataset.Neighbours, From: in.rows.Relation, Where: in.filter, Keys: groups.keys,
		RowLimit: groups.rowLimit(in.rows), GroupLimit: limit,
	}
	choice, err := (&chooser{in.env.calculator, groups, out, answer}).choose(p)
	if err != nil || choice {
		return p, err
	}
	people, err := (&placer{in: in, groups: groups, aggregates: read.aggregates, out: out}).place()
	if err != nil {
		return nil, err
	}
	if len(out.measures) == 0 && len(groups.keys) == 0 && people == nil {
		return nil, syntax.Refuse(first(read.targets), "add an aggregate, as in COUNT(*)", "the question selects no aggregate")
	}
	if len(out.measures) > maxMeasures {
		return nil, syntax.Refuse(first(read.targets), "ask for fewer at a time", "the question has more than %d aggregates", maxMeasures)
	}
	p.Query.Measures, p.Stats = out.connect()
	flattener{in.env.calculator}.flatten(p)
	if err := showable(p, read.targets); err != nil {
		return nil, err
	}
	return p, provenTotal(&p.Query)
}

// connect puts measures into their canonical order, and says which of them each stat is made of.
func (rel *releases) connect() (measures []tree.Measure, stats []tree.Stat) {
	names := slices.Sorted(maps.Keys(rel.measures))
	for _, name := range names {
		measures = append(measures, rel.measures[name])
	}
	for _, d := range rel.stats {
		for _, place := range []struct {
			of   string
			into *int
		}{{d.measure, &d.Stat.Measure}, {d.count, &d.Stat.Count}, {d.square, &d.Stat.Square}} {
			if i, ok := slices.BinarySearch(names, place.of); ok {
				*place.into = i
			}
		}
		stats = append(stats, d.Stat)
	}
	return measures, stats
}

// limit is in how many groups one person counts.
func (g *groups) limit(in *rowScope) (int64, error) {
	allowed := tree.AtMost(in.rows.PersonGroups())
	if in.rows.Single() {
		allowed = 1
	}
	limit := min(allowed, onceIn(in.rows.Relation, in.filter).groups(g.keys))
	if m := in.env.options.MaxGroups; m != 0 {
		if m < 1 || m > allowed && !g.several { // each set has its own limit
			return 0, syntax.Refuse(-1, "set dp.max_groups to a number from 1 to what the policy allows here",
				"one person counts in at most %d groups of this question", allowed)
		}
		limit = min(m, limit)
	}
	return limit, nil
}

// rowLimit is how many rows of one person count in one group.
func (g *groups) rowLimit(of rows) int64 {
	if of.Single() {
		return 1
	}
	if apart, known := apart(of.Relation); known && !slices.ContainsFunc(apart, func(f int) bool { return !g.hasField(f) }) {
		return 1 // a person has one row in each group
	}
	return tree.AtMost(of.PersonRows())
}

// groupedBy reports whether a field is a key.
func (g *groups) hasField(field int) bool {
	return slices.ContainsFunc(g.keys, func(k tree.Key) bool {
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
