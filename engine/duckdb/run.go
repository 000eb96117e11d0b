package duckdb

import (
	"context"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

func (s *snapshot) run(ctx context.Context, q *plan.Query) ([]exact.Vector, error) {
	text, args := s.print(q)
	return s.execute(ctx, q, text, args)
}

// execute runs a printed query. It is apart from run so that tests can plant a
// mistake between the two.
func (s *snapshot) execute(ctx context.Context, q *plan.Query, text string, args []any) ([]exact.Vector, error) {
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, ErrRun
	}
	defer rows.Close()
	index := groupIndex(q)
	out := make([][]int64, len(q.Measures))
	for i := range out {
		out[i] = make([]int64, q.Groups())
	}
	keys := make([]any, len(q.Keys))
	sums := make([]int64, len(q.Measures))
	cells := make([]any, 0, len(keys)+len(sums))
	for i := range keys {
		cells = append(cells, &keys[i])
	}
	for i := range sums {
		cells = append(cells, &sums[i])
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return nil, ErrRun
		}
		g, ok := index(keys)
		if !ok {
			continue // not a public key
		}
		for m := range out {
			out[m][g] = sums[m]
		}
	}
	if rows.Err() != nil {
		return nil, ErrRun
	}
	sealed := make([]exact.Vector, len(out))
	for i := range out {
		sealed[i] = exact.Seal(out[i])
	}
	return sealed, nil
}

// groupIndex returns a function from key values as DuckDB returns them to the
// group's place in the result.
func groupIndex(q *plan.Query) func([]any) (int, bool) {
	places := make([]map[any]int, len(q.Keys))
	for i, k := range q.Keys {
		places[i] = map[any]int{}
		for j, v := range k.Values {
			switch {
			case v.Null:
				places[i][nil] = j
			case v.Type == policy.Text:
				places[i][v.Text] = j
			case v.Type == policy.Boolean:
				places[i][v.Bool()] = j
			default:
				places[i][v.Int] = j
			}
		}
	}
	return func(keys []any) (int, bool) {
		g := 0
		for i, k := range keys {
			if n, ok := k.(int32); ok {
				k = int64(n)
			}
			j, ok := places[i][k]
			if !ok {
				return 0, false
			}
			g = g*len(q.Keys[i].Values) + j
		}
		return g, true
	}
}
