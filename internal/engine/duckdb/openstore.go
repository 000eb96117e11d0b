package duckdb

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// OpenStore opens a dataset in a database that somebody else brings along and that speaks DuckDB's
// SQL. It turns off the rules of the optimizer that may not touch a question.
func OpenStore(ctx context.Context, ds *policy.Dataset, s store.Store) (*sqlengine.Engine, error) {
	if s.Dialect != store.DuckDB || s.DB == nil || s.Version == nil {
		return nil, fmt.Errorf("dataset %s: a store needs a database, a version, and the dialect %s", ds.Name, store.DuckDB)
	}
	if err := restrictOptimizer(ctx, s.DB); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Not the driver's own words, which may have an address or a password: analysts see it.
		return nil, fmt.Errorf("dataset %s: the database that holds it cannot be reached, or is no DuckDB", ds.Name)
	}
	return sqlengine.Open(ctx, ds, s, sqlDialect)
}
