package neighbours_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	_ "github.com/duckdb/duckdb-go/v2"
)

// writer is the DuckDB that databases are written with, one after the other, so that none has to be
// started for each.
var writer struct {
	sync.Mutex
	db *sql.DB
}

// write runs statements in a new database file.
func write(ctx context.Context, path string, statements []string) (err error) {
	writer.Lock()
	defer writer.Unlock()
	if writer.db == nil {
		if writer.db, err = sql.Open("duckdb", ""); err != nil {
			return err
		}
		writer.db.SetMaxOpenConns(1)
	}
	run := func(s string) {
		if err == nil {
			_, err = writer.db.ExecContext(ctx, s)
		}
	}
	run("ATTACH '" + path + "' AS made")
	if err != nil {
		return err
	}
	run("USE made")
	run("BEGIN") // so that the disk is waited for once
	for _, s := range statements {
		run(s)
	}
	failed := err
	err = nil
	if failed == nil {
		run("COMMIT")
	} else {
		run("ROLLBACK")
	}
	run("USE memory")
	run("DETACH made")
	return errors.Join(failed, err)
}
