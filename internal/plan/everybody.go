package plan

import (
	"maps"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// CountPeople is the query whose result is how many people there are; nil where that is not public,
// or no table tells it. See [policy.Dataset.Everybody].
func CountPeople(ds *policy.Dataset) *tree.Query {
	t := ds.Everybody()
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

// countEverybody puts the number of people in the place of counts that are always that number, so
// that nothing is paid for them. Whether they are is a matter of right answers and not of privacy:
// the number is public whatever the question is.
func (q *question) countEverybody() error {
	if q.options.People == nil || q.several || q.filter != nil || len(q.keys) > 0 || !q.hasEverybody(q.rows.Relation) {
		return nil
	}
	needed := false
	for _, d := range q.stats {
		needed = needed || d.Kind == tree.AverageStat || d.Kind == tree.VarianceStat
	}
	for _, m := range q.measures {
		needed = needed || q.countsEverybody(m)
	}
	if !needed {
		return nil
	}
	n, err := q.options.People()
	if err != nil {
		return err
	}
	q.people = &n
	for i := range q.stats {
		d := &q.stats[i]
		if d.Kind == tree.MeasureStat && q.countsEverybody(q.measures[d.measure]) {
			d.Kind, d.People, d.measure = tree.PeopleStat, q.people, ""
		}
	}
	maps.DeleteFunc(q.measures, func(_ string, m tree.Measure) bool { return q.countsEverybody(m) })
	return nil
}

// countsEverybody reports whether a measure over rows in which everybody is counts everybody once.
func (q *question) countsEverybody(m tree.Measure) bool {
	return m.Kind == tree.CountRows && q.rows.Single() || m.Kind == tree.CountPersons && m.Arg == nil
}

// hasEverybody reports whether everybody has a row in a relation: in the table that tells how many
// there are, or in what leaves a row of everybody who is in such a relation.
func (q *question) hasEverybody(r tree.Relation) bool {
	switch r := r.(type) {
	case *tree.Scan:
		return r.Table == q.dataset.Everybody()
	case *tree.Cut:
		return q.hasEverybody(r.From)
	case *tree.Select:
		return r.Where == nil && q.hasEverybody(r.From)
	case *tree.Persons:
		return r.Where == nil && q.hasEverybody(r.From)
	case *tree.Window:
		return r.Where == nil && q.hasEverybody(r.From)
	}
	return false
}
