package duckdb

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/internal/bound"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// runPeople computes a question about people with many rows in package bound. It returns errShape
// where that has to be done in SQL, which follows from the question and the types of its columns,
// and never from rows: the two ways keep other groups of a person.
func (s *snapshot) runPeople(ctx context.Context, q *tree.Query) (*sqlengine.Known, error) {
	found, err := s.findGroups(ctx, q)
	if err != nil {
		return nil, err
	}
	r := &peopleResult{Known: &sqlengine.Known{Sums: map[int][]int64{}, Values: map[int][][]int64{}}}
	b, p, err := s.newKeyed(q, found)
	if err != nil {
		return nil, err
	}
	defer b.close()
	jobs := r.jobs(q, b, p)
	if jobs == nil {
		return nil, errShape
	}
	b.from(p, q.Where)
	if err := b.runJobs(ctx, s.source, jobs); err != nil {
		return nil, err
	}
	if found != nil {
		found.spread(r.Known, r.persons, r.members, q.Groups())
	}
	return r.Known, nil
}

// peopleResult is what the jobs of a question have computed.
type peopleResult struct {
	*sqlengine.Known
	mu      sync.Mutex
	persons []int64 // by combination of private keys
	members *bound.Members
}

// jobs prints what is computed, and returns nil where something is of a type that is left to SQL.
func (r *peopleResult) jobs(q *tree.Query, b *bounded, p *dialect.Printer) []*job {
	var out []*job
	var totals []int
	values := map[string][]int{} // by what quantiles are of: the ends of an interval are of the same
	for i, m := range q.Measures {
		var run func(context.Context, bound.Spec, bound.Source) error
		carried := carrier(nil)
		switch m.Kind {
		case tree.CountDistinct:
			carried = b.newCarrier(p, m)
			run = r.countDifferent(i)
		case tree.Quantile:
			of := tree.Format(m.Arg)
			if values[of] = append(values[of], i); len(values[of]) > 1 {
				continue
			}
			carried = b.newCarrier(p, m)
			run = r.collectValues(carried, func() []int { return values[of] })
		default:
			totals = append(totals, i)
			continue
		}
		if carried == nil {
			return nil
		}
		j := &job{spec: b.spec, carried: carried, run: run}
		j.spec.Measures, j.spec.Pick = carried.measures(), &bound.Pick{MaxRows: q.MaxRows()}
		out = append(out, j)
	}
	if len(totals) == 0 && b.private == nil {
		return out
	}
	printed := map[string]int{}
	for _, m := range totals {
		b.addMeasure(p, q, q.Measures[m], printed)
	}
	all := &job{spec: b.spec, run: r.addTotals(totals)}
	if q.Weighs() {
		r.members = &bound.Members{}
		private := *b.spec.Private
		private.Members, all.spec.Private = r.members, &private
	}
	return append(out, all)
}

// addTotals computes counts and sums, and how many people are in each combination of private keys.
func (r *peopleResult) addTotals(totals []int) func(context.Context, bound.Spec, bound.Source) error {
	return func(ctx context.Context, s bound.Spec, source bound.Source) error {
		sums, err := bound.Run(ctx, s, source)
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for k, m := range totals {
			r.Sums[m] = sums[k]
		}
		if s.Private != nil {
			r.persons = sums[len(totals)]
		}
		return nil
	}
}

// countDifferent counts the different values of each group.
func (r *peopleResult) countDifferent(m int) func(context.Context, bound.Spec, bound.Source) error {
	return func(ctx context.Context, s bound.Spec, source bound.Source) error {
		counts, err := bound.CountDifferent(ctx, s, source)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Sums[m] = counts
		return err
	}
}

// collectValues collects the values of each group, in steps, for some measures.
func (r *peopleResult) collectValues(from carrier, measures func() []int) func(context.Context, bound.Spec, bound.Source) error {
	return func(ctx context.Context, s bound.Spec, source bound.Source) error {
		values, err := bound.Collect(ctx, s, source)
		if n, ok := from.(*narrow); ok {
			for _, group := range values {
				for i := range group {
					group[i] += n.lo - 1
				}
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range measures() {
			r.Values[m] = values
		}
		return err
	}
}

// unsorted leaves out a cut that was made for SQL, which puts all rows of a person into an order.
func unsorted(from tree.Relation) tree.Relation {
	if c, ok := from.(*tree.Cut); ok && c.Sorted {
		return c.From
	}
	return from
}

// spread puts what is known of groups to the combinations in which somebody is, each of which has
// all groups of public keys.
func (f *foundGroups) spread(known *sqlengine.Known, persons []int64, members *bound.Members, public int) {
	places := make([]int, len(persons)) // of the first group, or -1
	for c, n := range persons {
		if places[c] = -1; n > 0 {
			places[c] = len(known.Combos) * public
			known.Combos, known.Persons = append(known.Combos, f.values(int32(c))), append(known.Persons, n)
		}
	}
	if members != nil {
		for i, c := range members.Combos {
			members.Combos[i] = int32(places[c] / public)
		}
		known.Members, known.Ends = members.Combos, members.Ends
	}
	at := make([]int, f.len())
	for g := range at {
		if at[g] = places[f.of[g]]; at[g] >= 0 {
			at[g] += f.public(int32(g))
		}
	}
	for m, sums := range known.Sums {
		known.Sums[m] = scattered(sums, at, len(known.Combos)*public)
	}
	for m, values := range known.Values {
		known.Values[m] = scattered(values, at, len(known.Combos)*public)
	}
}

// scattered puts values to places among n, and leaves out those whose place is -1.
func scattered[T any](values []T, at []int, n int) []T {
	out := make([]T, n)
	for i, place := range at {
		if place >= 0 {
			out[place] = values[i]
		}
	}
	return out
}
