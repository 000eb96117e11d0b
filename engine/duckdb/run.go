package duckdb

import (
	"context"
	"errors"
	"math/big"

	"github.com/discreet-dp/discreet/engine/duckdb/internal/stream"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

func (s *snapshot) run(ctx context.Context, q *plan.Query) ([]exact.Vector, error) {
	if q.Table.UnitKind == policy.Many {
		out, err := s.runBounded(ctx, q)
		if err == nil {
			return seal(out), nil
		}
		if !errors.Is(err, errShape) && !errors.Is(err, stream.ErrCount) {
			return nil, ErrRun
		}
	}
	text, args := s.print(q)
	return s.execute(ctx, q, text, args)
}

// runBounded runs a question about people with many rows. It returns errShape where that has to be done in SQL.
func (s *snapshot) runBounded(ctx context.Context, q *plan.Query) ([][]int64, error) {
	b, err := s.newBounded(q)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return b.run(ctx, s.source)
}

func seal(out [][]int64) []exact.Vector {
	sealed := make([]exact.Vector, len(out))
	for i := range out {
		sealed[i] = exact.Seal(out[i])
	}
	return sealed
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
	return seal(out), nil
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
