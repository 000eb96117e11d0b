package sqlengine

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Database is one state of the data of a dataset.
type Database struct {
	dialect.Schema
	DB      *sql.DB
	Version store.Version
	// Failure says how a run ended, and nothing else of an error: [engine.ErrRun], or one that
	// wraps it.
	Failure func(ctx context.Context, err error) error

	public sync.Map // what is public about the data, as far as somebody asked
}

// Run computes a query by its statements. It is given them so that tests can plant a mistake.
func (d *Database) Run(ctx context.Context, q *tree.Query, all []dialect.Statement) (*engine.Result, error) {
	return d.Finish(ctx, q, nil, all)
}

// Finish runs the statements that are left of a query of which something is known.
func (d *Database) Finish(ctx context.Context, q *tree.Query, known *Known, all []dialect.Statement) (*engine.Result, error) {
	r := newResult(q)
	if known != nil {
		r.know(known)
	}
	if len(all) == 0 || len(r.public.places) > 0 && r.groups == 0 {
		return r.seal(), nil // no public table has a key, so there are no groups to look for
	}
	if err := d.collect(ctx, r, all); err != nil {
		return nil, d.Failure(ctx, err)
	}
	return r.seal(), nil
}

// collect adds what statements return to a result, all of them on the same state of the data.
func (d *Database) collect(ctx context.Context, r *result, all []dialect.Statement) error {
	if len(all) == 1 || d.Unpinned {
		for _, st := range all {
			if err := r.add(ctx, d.DB, st); err != nil {
				return err
			}
		}
		return nil
	}
	tx, err := d.DB.BeginTx(ctx, d.Snapshot)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, st := range all {
		if err := r.add(ctx, tx, st); err != nil {
			return err
		}
	}
	return nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// CheckUnique refuses a public table in which a value of the unique column is in several rows.
// Joins rely on it, and it is public, so it is found out before there are questions.
func (d *Database) CheckUnique(ctx context.Context, ds *policy.Dataset) error {
	for _, name := range ds.TableNames() {
		t := d.Tables[name]
		if !t.Public || t.UniqueColumn == "" {
			continue
		}
		again, err := d.Repeats(ctx, t, t.Declared(t.UniqueColumn))
		if err != nil {
			return fmt.Errorf("table %s: its rows cannot be read", name)
		}
		if again {
			return fmt.Errorf("table %s: the policy says that column %s is unique, but some values are in several rows, or become one on "+
				"its "+
				"lattice or at its bounds; remove 'unique' and say max_rows, or remove the rows that are too many", name, t.UniqueColumn)
		}
	}
	return nil
}

// Repeats reports whether a value is in more than one row.
func (d *Database) Repeats(ctx context.Context, t *dialect.Table, value string) (again bool, err error) {
	err = d.DB.QueryRowContext(ctx, "SELECT count(v) > count(DISTINCT v) FROM (SELECT "+value+" AS v FROM "+t.From+")").Scan(&again)
	return again, err
}
