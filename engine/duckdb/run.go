package duckdb

import (
	"context"
	"database/sql"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/plan"
)

func (s *snapshot) run(ctx context.Context, q *plan.Query) (*engine.Result, error) {
	return s.execute(ctx, q, s.print(q))
}

// execute runs the printed statements of a query, all of them on the same state of the data. It is apart from run so that tests can plant a
// mistake between the two.
func (s *snapshot) execute(ctx context.Context, q *plan.Query, all []statement) (*engine.Result, error) {
	result := newResult(q)
	if len(result.public.places) > 0 && q.Groups() == 0 {
		return result.seal(), nil // no public table has a key, so there are no groups to look for
	}
	if len(all) == 1 {
		if err := result.add(ctx, s.db, all[0]); err != nil {
			return nil, ErrRun
		}
		return result.seal(), nil
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, ErrRun
	}
	defer tx.Rollback()
	for _, st := range all {
		if err := result.add(ctx, tx, st); err != nil {
			return nil, ErrRun
		}
	}
	return result.seal(), nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}
