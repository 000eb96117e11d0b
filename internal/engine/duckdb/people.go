package duckdb

import (
	"context"

	"github.com/discreet-dp/discreet/internal/bound"
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
	known := &sqlengine.Known{Sums: map[int][]int64{}, Values: map[int][][]int64{}}
	if found != nil && found.len() == 0 {
		return known, nil
	}
	var totals []int
	values := map[string][][]int64{} // by what they are of: the ends of an interval are of the same
	for i, m := range q.Measures {
		switch m.Kind {
		case tree.CountDistinct:
			known.Sums[i], err = s.countDifferent(ctx, q, m, found)
		case tree.Quantile:
			of := tree.Format(m.Arg)
			if values[of] == nil {
				values[of], err = s.collectValues(ctx, q, m, found)
			}
			known.Values[i] = values[of]
		default:
			totals = append(totals, i)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(totals) == 0 && found == nil {
		return known, nil
	}
	persons, err := s.addTotals(ctx, q, totals, found, known)
	if err == nil && found != nil {
		found.spread(known, persons, q.Groups())
	}
	return known, err
}

// unsorted leaves out a cut that was made for SQL, which puts all rows of a person into an order.
func unsorted(from tree.Relation) tree.Relation {
	if c, ok := from.(*tree.Cut); ok && c.Sorted {
		return c.From
	}
	return from
}

// addTotals computes counts and sums, and returns how many people are in each combination of
// private keys.
func (s *snapshot) addTotals(ctx context.Context, q *tree.Query, totals []int, found *foundGroups,
	known *sqlengine.Known) ([]int64, error) {
	b, err := s.newSums(q, totals, found)
	if err != nil {
		return nil, err
	}
	defer b.close()
	sums, err := b.run(ctx, s.source)
	if err != nil {
		return nil, err
	}
	for k, m := range totals {
		known.Sums[m] = sums[k]
	}
	if found == nil {
		return nil, nil
	}
	return sums[len(totals)], nil
}

// countDifferent counts the different values of each group.
func (s *snapshot) countDifferent(ctx context.Context, q *tree.Query, m tree.Measure, found *foundGroups) ([]int64, error) {
	b, err := s.newPicked(q, m, found)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return bound.CountDifferent(ctx, b.spec, b.rows(ctx, s.source, func() {}))
}

// collectValues returns the values of each group, in steps.
func (s *snapshot) collectValues(ctx context.Context, q *tree.Query, m tree.Measure, found *foundGroups) ([][]int64, error) {
	b, err := s.newPicked(q, m, found)
	if err != nil {
		return nil, err
	}
	defer b.close()
	values, err := bound.Collect(ctx, b.spec, b.rows(ctx, s.source, func() {}))
	if n, ok := b.carried.(*narrow); ok {
		for _, group := range values {
			for i := range group {
				group[i] += n.lo - 1
			}
		}
	}
	return values, err
}

// spread puts what is known of groups to the combinations in which somebody is, each of which has
// all groups of public keys.
func (f *foundGroups) spread(known *sqlengine.Known, persons []int64, public int) {
	places := make([]int, len(persons)) // of the first group, or -1
	for c, n := range persons {
		if places[c] = -1; n > 0 {
			places[c] = len(known.Combos) * public
			known.Combos, known.Persons = append(known.Combos, f.values(int32(c))), append(known.Persons, n)
		}
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
