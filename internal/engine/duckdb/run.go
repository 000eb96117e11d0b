package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

func (s *snapshot) run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	all := s.print(q)
	// Counts and sums are not for SQL, where there is another way.
	i := slices.IndexFunc(all, func(st statement) bool { return st.summed })
	if i < 0 {
		return s.execute(ctx, q, all)
	}
	totals, err := s.runBounded(ctx, q, all[i].measures)
	switch {
	case errors.Is(err, errShape) || errors.Is(err, chunks.ErrCount):
		return s.execute(ctx, q, all)
	case err != nil:
		return nil, failure(ctx, err)
	}
	result := newResult(q)
	for k, m := range all[i].measures {
		result.sums[m] = totals[k]
	}
	return s.collect(ctx, result, slices.Delete(all, i, i+1))
}

// runBounded computes some counts and sums of a question in package bound. It returns errShape where that has to be done in SQL.
func (s *snapshot) runBounded(ctx context.Context, q *tree.Query, measures []int) ([][]int64, error) {
	b, err := s.newBounded(q, measures)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return b.run(ctx, s.source)
}

// execute runs the printed statements of a query, all of them on the same state of the data. It is apart from run so that tests can plant a
// mistake between the two.
func (s *snapshot) execute(ctx context.Context, q *tree.Query, all []statement) (*engine.Result, error) {
	return s.collect(ctx, newResult(q), all)
}

// collect adds what the statements return to a result.
func (s *snapshot) collect(ctx context.Context, result *result, all []statement) (*engine.Result, error) {
	if len(all) == 0 || len(result.public.places) > 0 && result.groups == 0 {
		return result.seal(), nil // no public table has a key, so there are no groups to look for
	}
	if len(all) == 1 {
		if err := result.add(ctx, s.db, all[0]); err != nil {
			return nil, failure(ctx, err)
		}
		return result.seal(), nil
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer tx.Rollback()
	for _, st := range all {
		if err := result.add(ctx, tx, st); err != nil {
			return nil, failure(ctx, err)
		}
	}
	return result.seal(), nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}
