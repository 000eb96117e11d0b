// Package storekinds has, for tests, the kinds of stores that Discreet reads, each with a
// constructor, and what is hostile in them. A new store is one more constructor in [Stores]; then
// the questions and the attacks of package generate are put before it by
//
//   - internal/test/neighbours, which holds its exact numbers against those of others,
//   - internal/lab/lockstep, which asks two neighbours with the same randomness,
//   - internal/server, which compares what both listeners say, to the byte.
package storekinds

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/address"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Store is somewhere where data can be that is asked about.
type Store struct {
	Name string
	// Keep stores a made-up database, and returns what a policy names as its source.
	Keep func(t testing.TB, db *generate.Database) (source string)
	// Computes says that what is there is also computed there, by an engine of its own. It keeps
	// other rows of people than the first store, cannot tell rows apart that are people, and takes
	// a tenth of a second for what others do in a thousandth.
	Computes bool
}

// Some returns a part of what is asked in a store that takes long, unless all of it is wanted: one
// in so many, others every day.
func Some[T any](s Store, in int, full bool, all []T) []T {
	if !s.Computes || full || daily.Full() {
		return all
	}
	var out []T
	for i := daily.Turn(min(in, max(1, len(all)))); i < len(all); i += in {
		out = append(out, all[i])
	}
	return out
}

// Stores are all that there are. The first is what others are compared with.
func Stores() []Store {
	return []Store{{Name: "duckdb", Keep: inDuckDB}, Postgres(testpg.Shared), Trino(testtrino.Shared)}
}

// At is a dataset whose data is at a source.
func At(ds *policy.Dataset, source string) *policy.Dataset {
	out := *ds
	out.Source, out.Tables = source, map[string]*policy.Table{}
	schema := "public."
	if at, err := address.ParseTrino(source); err == nil {
		out.Engine, schema = "trino", at.Catalog+"."+at.Schema+"."
	}
	for name, t := range ds.Tables {
		own := *t
		own.Relation = schema + name
		out.Tables[name] = &own
	}
	return &out
}

// Engine is one that a store was opened with.
type Engine interface {
	engine.Engine
	Close() error
}

// Open stores a made-up database and opens it, on one thread. It is closed with the test.
func (s Store) Open(t testing.TB, db *generate.Database) Engine {
	t.Helper()
	ds := At(db.Dataset, s.Keep(t, db))
	var e Engine
	var err error
	if ds.Engine == "trino" {
		// Who may read what is nothing to make up, and nobody changes it.
		e, err = trino.OpenTables(t.Context(), ds, trino.Tables{DB: testtrino.Shared(t).DB(t, testtrino.Reader),
			ReadState: func(context.Context) (trino.TableState, error) {
				return trino.TableState{Version: store.Version{State: "made"}, Pinned: true,
					From: func(name string) string { return trinoName(ds.Tables[name].Relation) }}, nil
			}})
	} else {
		e, err = duckdb.OpenWith(t.Context(), ds, duckdb.Limits{Threads: 1, Memory: 1 << 30})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Everywhere makes of a database one that can be in all stores. PostgreSQL has a character less,
// and its calendar begins later.
func Everywhere(db *generate.Database) *generate.Database {
	for name, table := range db.Tables {
		for _, row := range table.Rows {
			for i, v := range row {
				row[i] = nearestInPostgres(v, db.Dataset.Tables[name].Columns[table.Columns[i]])
			}
		}
	}
	return db
}

func inDuckDB(t testing.TB, db *generate.Database) string {
	t.Helper()
	path := t.TempDir() + "/made.duckdb"
	if err := Write(t.Context(), path, db.SQL()); err != nil {
		t.Fatal(err)
	}
	return path
}

// duckdbWriter is the DuckDB that files are written with, one after the other, so that none has to
// be started for each.
var duckdbWriter struct {
	sync.Mutex
	db *sql.DB
}

// Write runs statements in a new file of DuckDB.
func Write(ctx context.Context, path string, statements []string) (err error) {
	duckdbWriter.Lock()
	defer duckdbWriter.Unlock()
	if duckdbWriter.db == nil {
		if duckdbWriter.db, err = sql.Open("duckdb", ""); err != nil {
			return err
		}
		duckdbWriter.db.SetMaxOpenConns(1)
	}
	run := func(s string) {
		if err == nil {
			_, err = duckdbWriter.db.ExecContext(ctx, s)
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
