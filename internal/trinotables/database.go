package trinotables

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/trinoplace"
	"github.com/discreet-dp/discreet/policy"
)

// Database is a Trino cluster with the tables of a dataset. It is safe for concurrent use.
type Database struct {
	dataset *policy.Dataset
	place   *trinoplace.Place
	db      *sql.DB
	// patience is how long it may take to ask for what is not the data itself.
	patience time.Duration

	mu     sync.Mutex
	now    *State
	known  []*Relation
	rights time.Time // when the user's rights were last looked at
	silent time.Time // when our patience last ended
}

// Of returns the cluster of a dataset. It does not connect.
func Of(ds *policy.Dataset) (*Database, error) {
	place, err := trinoplace.Parse(ds.Source)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: the address of its Trino cluster %w", ds.Name, err)
	}
	db, err := place.Open("dataset-" + strings.ReplaceAll(ds.Name, ",", "_"))
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", ds.Name, err)
	}
	return &Database{dataset: ds, place: place, db: db, patience: time.Minute}, nil
}

// DB is the handle. It is closed with the database.
func (d *Database) DB() *sql.DB { return d.db }

// Place is where it is, which says what errors of the handle mean.
func (d *Database) Place() *trinoplace.Place { return d.place }

// String says where the cluster is.
func (d *Database) String() string { return d.place.String() }

// Close closes the handle.
func (d *Database) Close() error { return d.db.Close() }

// rows asks for rows of texts. NULL is an empty text.
func (d *Database) rows(ctx context.Context, text string) ([][]string, error) {
	rows, err := d.db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for rows.Next() {
		values, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(names))
		for i, v := range values {
			row[i] = v.String
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// failed is why the cluster cannot be asked.
func (d *Database) failed(ctx context.Context, err error) error {
	return d.place.Fail(ctx, d.dataset.Name, err)
}

// Quote spells a table of the cluster, as in lake.clinic.patients, for a statement.
func Quote(relation string) string {
	parts := strings.Split(relation, ".")
	for i, p := range parts {
		parts[i] = name(p)
	}
	return strings.Join(parts, ".")
}

// beside spells what a store says about a table, such as its snapshots.
func beside(relation, what string) string {
	return strings.TrimSuffix(Quote(relation), `"`) + "$" + what + `"`
}

func name(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// split is a catalog, a schema and a table.
func split(relation string) (catalog, schema, table string) {
	catalog, rest, _ := strings.Cut(relation, ".")
	schema, table, _ = strings.Cut(rest, ".")
	return catalog, schema, table
}
