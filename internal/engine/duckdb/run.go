package duckdb

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

func (s *snapshot) run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	all := s.Statements(q)
	if q.Bounded() {
		known, err := s.runPeople(ctx, q)
		switch {
		case errors.Is(err, errShape) || errors.Is(err, chunks.ErrCount):
			return s.Run(ctx, q, all)
		case err != nil:
			return nil, failure(ctx, err)
		}
		return s.Finish(ctx, q, known, nil)
	}
	// Counts and sums are not for SQL, where there is another way.
	i := slices.IndexFunc(all, func(st dialect.Statement) bool { return st.Summed })
	if i < 0 {
		return s.Run(ctx, q, all)
	}
	totals, err := s.runBounded(ctx, q, all[i].Measures)
	switch {
	case errors.Is(err, errShape) || errors.Is(err, chunks.ErrCount):
		return s.Run(ctx, q, all)
	case err != nil:
		return nil, failure(ctx, err)
	}
	known := &sqlengine.Known{Sums: map[int][]int64{}}
	for k, m := range all[i].Measures {
		known.Sums[m] = totals[k]
	}
	return s.Finish(ctx, q, known, slices.Delete(all, i, i+1))
}

// runBounded computes some counts and sums of a question in package bound. It returns errShape
// where that has to be done in SQL.
func (s *snapshot) runBounded(ctx context.Context, q *tree.Query, measures []int) ([][]int64, error) {
	b, err := s.newBounded(q, measures)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return b.run(ctx, s.source)
}
