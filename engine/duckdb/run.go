package duckdb

import (
	"context"
	"math/big"

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
	cells := make([]any, len(q.Keys)+len(q.Measures))
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, ErrRun
		}
		g, ok := index(cells[:len(q.Keys)])
		if !ok {
			continue // not a public key
		}
		for m, sum := range cells[len(q.Keys):] {
			out[m][g] = final(sum)
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

// sumLimit is where a group's final sum is clamped, so that it is an int64. A
// clamp moves no two numbers apart, so it does not raise the sensitivity.
var sumLimit = new(big.Int).Lsh(big.NewInt(1), 62)

// final reads a final count or sum as DuckDB returns it. No rows make 0.
func final(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case *big.Int:
		switch {
		case v.CmpAbs(sumLimit) <= 0:
			return v.Int64()
		case v.Sign() < 0:
			return -sumLimit.Int64()
		}
		return sumLimit.Int64()
	}
	return 0
}
