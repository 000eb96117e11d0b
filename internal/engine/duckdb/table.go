package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// table is where a table's rows are and how each column is stored.
type table struct {
	*policy.Table
	file string // the CSV or Parquet file; empty in a database
	csv  bool   // whether the file is CSV, which is loaded when it is opened
	from string // what follows FROM
	// collated says that text columns may have a collation.
	collated bool
	view     bool              // a view of the database
	rowid    string            // what tells rows apart where each is a person; empty where nothing needs to
	shadowed bool              // a column has the name under which DuckDB tells rows apart
	paths    []string          // the columns that paths use, which are compared as they are stored
	stored   map[string]column // by the policy's name
	prepared map[string]prepared
}

// column is a stored column.
type column struct {
	name string // as stored
	typ  string // DuckDB's type
}

// findTable finds a table's file and says how to read it.
func findTable(ds *policy.Dataset, t *policy.Table) (*table, error) {
	files, paths := ds.Files(t), ds.PathColumns(t)
	if len(files) == 0 {
		return &table{Table: t, paths: paths, from: "source." + quoteName(t.Name)}, nil
	}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("open the data of table %s: %w", t.Name, err)
		}
		if policy.IsCSV(abs) {
			return &table{Table: t, paths: paths, file: abs, csv: true, from: quoteName("csv " + t.Name)}, nil
		}
		return &table{Table: t, paths: paths, file: abs, from: "read_parquet(" + quoteText(abs) + ")"}, nil
	}
	return nil, fmt.Errorf("table %s: there is no file %s; correct 'source' in the policy", t.Name, strings.Join(files, " or "))
}

// describe reads the stored schema and compares it with the policy. It looks at
// no row.
func (t *table) describe(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "+t.from+")")
	if err != nil {
		return fmt.Errorf("table %s: cannot read the schema of %s; is it complete, and of the kind that its name says?", t.Name, t.where())
	}
	defer rows.Close()
	var all []column
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.typ); err != nil {
			return err
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if t.file == "" {
		// A view is not in this list, and what its columns are is not for us to find out.
		var plain, there bool
		err := db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE sql NOT ILIKE '%collate%') = 1, count(*) = 1 FROM duckdb_tables()
			WHERE database_name = 'source' AND schema_name = 'main' AND lower(table_name) = lower($1)`, t.Name).Scan(&plain, &there)
		if err != nil {
			return fmt.Errorf("table %s: cannot read its definition", t.Name)
		}
		t.collated, t.view = !plain, !there
	}
	t.shadowed = hides(all, "rowid") || t.file != "" && !t.csv && hides(all, "file_row_number")
	t.stored = map[string]column{}
	for _, name := range t.needed() {
		c, ok := find(all, name)
		if !ok {
			return t.missing(name)
		}
		t.stored[name] = c
		// A CSV file is text; what it is read as was decided when it was loaded.
		if p := t.Columns[name]; p != nil && !t.csv && !readable(p.Type, c.typ) {
			return fmt.Errorf("table %s: the policy says that column %s is %v, but in %s it is %s; correct the policy or the data",
				t.Name, name, p.Type, t.where(), c.typ)
		}
	}
	if err := t.readPrepared(ctx, db); err != nil {
		return err
	}
	return t.readThrough(ctx, db)
}

// readThrough reads every value of a Parquet file or a view once. Both can hold
// what fails when it is read, below any cast: a time out of range, text that is not UTF-8,
// an expression. A question that fails over one row tells where that row is, so
// it must be found out before there are questions. A DuckDB table holds no such values but
// in a timestamp of another unit, over which even TRY_CAST fails; CSV that was loaded holds none.
func (t *table) readThrough(ctx context.Context, db *sql.DB) error {
	if t.csv || t.file == "" && !t.collated && !t.otherUnits() {
		return nil
	}
	counts := []string{"count(*)"}
	for _, name := range t.needed() {
		if t.Columns[name] != nil {
			counts = append(counts, "count("+t.cast(name)+")")
		}
		counts = append(counts, "count("+t.raw(name)+")")
	}
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+t.from)
	if err == nil {
		for rows.Next() {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("table %s: %s holds values that cannot be read; write it anew, without times out of range and with text in UTF-8", t.Name, t.where())
	}
	return nil
}

// otherUnits reports whether a column holds times in another unit than microseconds.
func (t *table) otherUnits() bool {
	for _, c := range t.stored {
		if strings.HasPrefix(c.typ, "TIMESTAMP_") {
			return true
		}
	}
	return false
}

// needed names the columns that a question can use.
func (t *table) needed() []string {
	names := t.ColumnNames()
	for _, name := range t.paths {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (t *table) missing(name string) error {
	return fmt.Errorf("table %s: there is no column %s in %s; correct the policy or the data", t.Name, name, t.where())
}

func (t *table) where() string {
	if t.file != "" {
		return t.file
	}
	return "the database"
}

func find(all []column, name string) (column, bool) {
	for _, c := range all {
		if c.name == name {
			return c, true
		}
	}
	for _, c := range all {
		if strings.EqualFold(c.name, name) {
			return c, true
		}
	}
	return column{}, false
}

// readable reports whether a stored type can be read as a policy's type. Stored text is
// text only: a column of numbers that has become text is a mistake to be told,
// and not a column of NULLs.
func readable(t policy.Type, stored string) bool {
	if strings.HasSuffix(stored, "]") {
		return false // a list, as in DECIMAL(18,3)[]
	}
	base, _, _ := strings.Cut(stored, "(")
	switch base {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT":
		return t == policy.Integer || t == policy.Decimal
	case "FLOAT", "DOUBLE", "DECIMAL":
		return t == policy.Decimal
	case "BOOLEAN":
		return t == policy.Boolean
	case "DATE":
		return t == policy.Date
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return t == policy.Date || t == policy.Timestamp
	case "TIMESTAMP WITH TIME ZONE":
		return t == policy.Timestamp
	case "VARCHAR", "ENUM", "UUID":
		return t == policy.Text
	}
	return false
}
