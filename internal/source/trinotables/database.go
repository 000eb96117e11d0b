package trinotables

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
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
		return failed("has no row, but must have one; select an aggregate such as max", nil)
	case len(rows) > 1:
		return failed("has several rows, but must have one; select an aggregate such as max", nil)
	case rows[0][1] == "true":
		return failed("is NULL, but must have a value; write coalesce(..., 'empty')", nil)
	}
	if problem := policy.CheckVersionName(rows[0][0]); problem != "" {
		return failed(problem, nil)
	}
	return rows[0][0], nil
}

type errorText string

func (e errorText) Error() string { return string(e) }

// Relation is a table of the policy as the cluster has it.
type Relation struct {
	*policy.Table
	// Connector is what reads it, such as iceberg.
	Connector string
	// View says that it is a view or a materialized view.
	View    bool
	Columns []Column
}

type Column struct {
	Name, Type string
	NotNull    bool
}

// relationFinder finds the tables of the policy, and refuses those that cannot be read safely.
type relationFinder struct{ *connection }

func (d relationFinder) relations(ctx context.Context) ([]*Relation, error) {
	connectors, err := d.connectors(ctx)
	if err != nil {
		return nil, err
	}
	var out []*Relation
	for _, name := range d.dataset.TableNames() {
		t := d.dataset.Tables[name]
		catalog, _, _ := split(t.Relation)
		r := &Relation{Table: t, Connector: connectors[catalog]}
		if r.Connector == "" {
			return nil, d.errMissing(t, "there is no catalog "+catalog+", or the user "+d.at.User+" may not see it")
		}
		if err := d.describe(ctx, r); err != nil {
			return nil, err
		}
		if r.View && !t.Trusted {
			return nil, &Refused{"a table of the dataset " + d.dataset.Name + " is a view; ask the owner to run 'discreet check', which " +
				"says which", fmt.Sprintf("the table %s, %s, is a view: reading it runs expressions that somebody wrote, and one "+
				"that fails because of a row tells something about the row; name the tables behind it or, if you vouch for the "+
				"view, write trusted: true", t.Name,
				t.Relation)}
		}
		if !typedConnectors[r.Connector] && !t.Trusted {
			return nil, d.errPartial(r)
		}
		out = append(out, r)
	}
	return out, nil
}

// typedConnectors are the connectors that can read whatever is in their tables: who writes a table
// there is held to the types of its columns. Others read what something else has written. A value
// that does not fit, such as a large number in a Parquet file under a column of a smaller type, or
// NaN and infinity in PostgreSQL, ends the statement before our SQL sees it, and only where its row
// is among those that are asked about.
var typedConnectors = map[string]bool{"iceberg": true, "delta_lake": true, "memory": true, "tpch": true, "tpcds": true}

// partial is what the other connectors do.
const partial = "reads data that something else has written: one value that does not fit the type of its column (a larger number " +
	"than that in " +
	"a file, a NaN or an infinite date in PostgreSQL) makes questions fail, and so tells something about its row"

func (d relationFinder) errPartial(r *Relation) error {
	return &Refused{"a table of the dataset " + d.dataset.Name + " may hold values that cannot be read; ask the owner to run 'discreet " +
		"check', which says which", fmt.Sprintf("the table %s, %s, is in a catalog of the connector %s, which %s. Store it as Iceberg or "+
		"Delta Lake, or name a PostgreSQL database itself under source; or, if you vouch that there are no such values and will be "+
		"none, write trusted: true", r.Name, r.Relation, r.Connector, partial)}
}

func (d relationFinder) describe(ctx context.Context, r *Relation) error {
	catalog, schema, table := split(r.Relation)
	where := " WHERE table_schema = " + text(schema) + " AND table_name = " + text(table)
	found, err := d.rows(ctx, "SELECT table_type FROM "+name(catalog)+".information_schema.tables"+where)
	if err != nil {
		return d.failure(ctx, err)
	}
	if len(found) == 0 {
		return d.errMissing(r.Table, "there is no table "+table+" in the schema "+schema+" of the catalog "+catalog+", or the user "+
			d.at.User+" may not see it")
	}
	r.View = found[0][0] != "BASE TABLE"
	if !r.View {
		views, err := d.rows(ctx, "SELECT name FROM system.metadata.materialized_views WHERE catalog_name = "+text(catalog)+
			" AND schema_name = "+text(schema)+" AND name = "+text(table))
		if err != nil {
			return d.failure(ctx, err)
		}
		r.View = len(views) > 0
	}
	columns, err := d.rows(ctx, "SELECT column_name, data_type, is_nullable FROM "+name(catalog)+".information_schema.columns"+where+
		" ORDER BY ordinal_position")
	if err != nil {
		return d.failure(ctx, err)
	}
	for _, c := range columns {
		r.Columns = append(r.Columns, Column{Name: c[0], Type: c[1], NotNull: c[2] == "NO"})
	}
	return nil
}

func (d relationFinder) errMissing(t *policy.Table, why string) error {
	return &Refused{"a table of the dataset " + d.dataset.Name + " is missing; ask the owner to run 'discreet check', which says which",
		fmt.Sprintf("the table %s, %s, is missing: %s", t.Name, t.Relation, why)}
}

// Refused is why the tables are not read, in a text for everybody and one for the owner.
type Refused struct{ text, why string }

func (e *Refused) Error() string   { return e.text }
func (e *Refused) Explain() string { return e.why }

// connectors are what reads each catalog that the user sees.
func (d *connection) connectors(ctx context.Context) (map[string]string, error) {
	rows, err := d.rows(ctx, "SELECT catalog_name, connector_name FROM system.metadata.catalogs")
	if err != nil {
		return nil, d.failure(ctx, err)
	}
	out := map[string]string{}
	for _, r := range rows {
		out[r[0]] = r[1]
	}
	return out, nil
}

// column is one that the policy reads, to ask about it.
func (r *Relation) column() string {
	for _, name := range r.ColumnNames() {
		if slices.ContainsFunc(r.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) }) {
			return name
		}
	}
	if len(r.Columns) > 0 {
		return r.Columns[0].Name
	}
	return ""
}
