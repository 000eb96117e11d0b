package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

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
		return nil, fmt.Errorf("dataset %s: the database that holds it cannot be reached, or is not DuckDB", ds.Name)
	}
	if err := checkOptimizer(ctx, s.DB); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("dataset %s: settings of one connection to the database do not apply to another, so optimizer rules "+
			"that must not touch a question stay on; use a database whose connections all go to one DuckDB", ds.Name)
	}
	return sqlengine.Open(ctx, ds, s, sqlDialect, sqlengine.Options{Counting: countFunctions, Machine: measureStore})
}

var errOptimizer = errors.New("optimizer rules that must be off are on")

// checkOptimizer makes sure that the rules are off in more than the connection in which they were
// turned off: a pool opens others when it needs them. Two that are open at once are two.
func checkOptimizer(ctx context.Context, db *sql.DB) error {
	must, err := disabledOptimizers(ctx, db)
	if err != nil {
		return err
	}
	most := 2
	if db.Stats().MaxOpenConnections == 1 {
		most = 1
	}
	for range most {
		c, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		var off string
		if err := c.QueryRowContext(ctx, "SELECT current_setting('disabled_optimizers')").Scan(&off); err != nil {
			return err
		}
		for _, rule := range must {
			if !slices.Contains(strings.Split(off, ","), rule) {
				return errOptimizer
			}
		}
	}
	return nil
}
