package trinotables

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/discreet-dp/discreet/policy"
)

// Database is a Trino cluster with the tables of a dataset. It is safe for concurrent use.
type Database struct {
	cluster *connection
	finder  relationFinder
	checker rightsChecker
	marker  marker
	// patience is how long it may take to ask for what is not the data itself.
	patience time.Duration

	mu     sync.Mutex
	now    *State
	known  []*Relation
	rights time.Time // when the user's rights were last looked at
	silent time.Time // when our patience last ended
}

type connection struct {
	dataset *policy.Dataset
	at      *Cluster
	db      *sql.DB
}

// Of returns the cluster of a dataset. It does not connect.
func Of(ds *policy.Dataset) (*Database, error) {
	at, err := Parse(ds.Source)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: the address of its Trino cluster %w", ds.Name, err)
	}
	db, err := at.Open("dataset-" + strings.ReplaceAll(ds.Name, ",", "_"))
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", ds.Name, err)
	}
	c := &connection{ds, at, db}
	return &Database{cluster: c, finder: relationFinder{c}, checker: rightsChecker{c}, marker: marker{c}, patience: time.Minute}, nil
}

// DB is the handle. It is closed with the database.
func (d *Database) DB() *sql.DB    { return d.cluster.db }
func (d *Database) String() string { return d.cluster.at.String() }
func (d *Database) Close() error   { return d.cluster.db.Close() }

// rows asks for rows of texts. NULL is an empty text.
func (d *connection) rows(ctx context.Context, text string) ([][]string, error) {
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

func (d *connection) failure(ctx context.Context, err error) error {
	return d.at.Fail(ctx, d.dataset.Name, err)
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

// askVersion asks the owner's version query. In brackets there is room for one SELECT and nothing
// else.
func (d *connection) askVersion(ctx context.Context) (string, error) {
	failed := func(problem string, err error) (string, error) {
		return "", &policy.VersionError{Dataset: d.dataset.Name, Problem: problem, Err: err}
	}
	query := strings.TrimRightFunc(d.dataset.VersionQuery, func(r rune) bool { return r == ';' || unicode.IsSpace(r) })
	rows, err := d.rows(ctx, "SELECT CAST(v AS varchar), CAST(v IS NULL AS varchar) FROM (\n"+query+"\n) AS t (v) LIMIT 2")
	switch {
	case err != nil && trinoSaid(err):
		return failed("cannot be run; write one SELECT of one column about tables of the cluster, such as SELECT max(loaded_at) FROM "+
			"load_log", errorText(d.at.Why(err)))
	case err != nil:
		return "", d.failure(ctx, err)
	case len(rows) == 0:
		return failed("has no row; it has to have one, so take an aggregate such as max", nil)
	case len(rows) > 1:
		return failed("has several rows; it has to have one, so take an aggregate such as max", nil)
	case rows[0][1] == "true":
		return failed("is NULL; it has to have a value, so write coalesce(..., 'empty')", nil)
	}
	if problem := policy.CheckVersionName(rows[0][0]); problem != "" {
		return failed(problem, nil)
	}
	return rows[0][0], nil
}

type errorText string

func (e errorText) Error() string { return string(e) }
