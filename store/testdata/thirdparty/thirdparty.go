// Package thirdparty is a database that a stranger brings along. It imports nothing that strangers
// cannot.
package thirdparty

import (
	"context"
	"database/sql"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/store"
)

// Open makes a database in memory by some statements.
func Open(ctx context.Context, statements ...string) (store.Store, error) {
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return store.Store{}, err
	}
	db := sql.OpenDB(connector)
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return store.Store{}, err
		}
	}
	version := func(context.Context) (store.Version, error) { return store.Version{Name: "monday", State: "1"}, nil }
	return store.Store{DB: db, Dialect: store.DuckDB, Version: version}, nil
}
