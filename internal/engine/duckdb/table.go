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

	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/textfile"
	"github.com/discreet-dp/discreet/policy"
)

// table is where a table's rows are and how each column is stored.
type table struct {
	sqlgen.Table
	file     string // the CSV or Parquet file; empty in a database
	csv      bool   // whether the file is CSV, which is loaded when it is opened
	lines    textfile.Report
	copied   bool // from a PostgreSQL database, when it is opened
	view     bool // a view of the database
	shadowed bool // a column has the name under which DuckDB tells rows apart
	// prepared is the file that is stored by person, where there is one, and byPerson says that
	// questions read it. Then coded has the places of texts in the lists of codes, and numbered
	// says that people have numbers, and names who they are.
	prepared string
	byPerson bool
	coded    map[string]map[string]int32
	numbered bool
	names    *names
	order    *contribution.Order // how its rows are stored by person, or nil
}

func (t *table) onPath(name string) bool { return slices.Contains(t.Paths, name) }

// role says which table a file is, and how it is read.
func (t *table) role() string {
	return fmt.Sprintf("%q csv %v delimiter %q", t.Name, policy.IsCSV(t.file), t.Delimiter) + t.CSV.Key()
}

// findTable finds a table's file and says how to read it.
func findTable(ds *policy.Dataset, t *policy.Table) (*table, error) {
	files := ds.Files(t)
	stored := func(from string) sqlgen.Table {
		return sqlgen.Table{Table: t, Dialect: sqlDialect, Paths: ds.PathColumns(t), From: from}
	}
	if ds.SourceKind() == policy.PostgresDatabase {
		own := &table{copied: true}
		own.Table = stored(sqlgen.QuoteName("copied " + t.Name))
		return own, nil
	}
	if len(files) == 0 {
		return &table{Table: stored("source." + sqlgen.QuoteName(t.Name))}, nil
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
			loaded := stored(sqlgen.QuoteName("csv " + t.Name))
			loaded.Convert = "a CSV file holds text, so convert it to Parquet with that type, or store the other column as text"
			return &table{Table: loaded, file: abs, csv: true}, nil
		}
		if t.CSV.Key() != "" {
			return nil,
				fmt.Errorf("table %s: the policy says how a CSV file spells its values, but %s is not a CSV file; remove formats, "+
					"nulls and quotes", t.Name, abs)
		}
		return &table{Table: stored("read_parquet(" + sqlgen.QuoteText(abs) + ")"), file: abs}, nil
	}
	return nil, fmt.Errorf("table %s: the file %s does not exist; correct 'source' in the policy", t.Name, strings.Join(files, " or "))
}

// describe reads the stored schema and compares it with the policy. It looks at
// no row.
func (t *table) describe(ctx context.Context, db *sql.DB) error {
	// A CSV file is text; what it is read as was decided when it was loaded.
	all, err := sqlengine.Describe(ctx, db, &t.Table, t.where(), !t.csv)
	if err != nil {
		return err
	}
	if t.file == "" && !t.copied {
		// A view is not in this list, and what its columns are is not for us to find out.
		var plain, there bool
		err := db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE sql NOT ILIKE '%collate%') = 1, count(*) = 1 FROM duckdb_tables()
			WHERE database_name = 'source' AND schema_name = 'main' AND lower(table_name) = lower($1)`, t.Name).Scan(&plain, &there)
		if err != nil {
			return fmt.Errorf("table %s: cannot read its definition", t.Name)
		}
		t.Collated, t.view = !plain, !there
	}
	t.shadowed = hidesRowNumbers(all, "rowid") || t.file != "" && !t.csv && hidesRowNumbers(all, "file_row_number")
	if err := t.refuseOldPrepared(ctx, db); err != nil {
		return err
	}
	return t.readAll(ctx, db)
}

// readAll reads every value of a Parquet file or a view once. Both can hold
// what fails when it is read, below any cast: a time out of range, text that is not UTF-8,
// an expression. A question that fails over one row tells where that row is, so
// it must be found out before there are questions. A DuckDB table holds no such values but
// in a timestamp of another unit, over which even TRY_CAST fails; CSV that was loaded holds none.
func (t *table) readAll(ctx context.Context, db *sql.DB) error {
	if t.csv || t.copied || t.file == "" && !t.Collated && !t.otherUnits() {
		return nil
	}
	counts := []string{"count(*)"}
	for _, name := range t.Needed() {
		if t.Columns[name] != nil {
			counts = append(counts, "count("+t.Cast(name)+")")
		}
		counts = append(counts, "count("+t.Raw(name)+")")
	}
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+t.From)
	if err == nil {
		for rows.Next() {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("table %s: %s holds values that cannot be read; write it again, without times out of range and with text "+
			"in UTF-8", t.Name, t.where())
	}
	return nil
}

// otherUnits reports whether a column holds times in another unit than microseconds.
func (t *table) otherUnits() bool {
	for _, c := range t.Stored {
		if strings.HasPrefix(c.Type, "TIMESTAMP_") {
			return true
		}
	}
	return false
}

func (t *table) where() string {
	if t.file != "" {
		return t.file
	}
	return "the database"
}

// nameRows finds what tells the rows of a table apart where every row is a person. It is needed
// only where a join with a public table can make several rows of one. A view of the database has
// nothing of the kind, and neither has a table with a column of that name: it is copied.
func (t *table) nameRows(ctx context.Context, db *sql.DB, ds *policy.Dataset, typed bool) error {
	fansOut := slices.ContainsFunc(ds.TableNames(), func(name string) bool { return ds.Tables[name].Public })
	switch {
	case t.Public || t.UnitKind != policy.Row || !fansOut:
		return nil
	case t.file != "" && !t.csv && !t.shadowed:
		t.RowID = "file_row_number"
		return nil
	case !t.view && !t.shadowed:
		t.RowID = "rowid"
		return nil
	}
	columns := []string{`row_number() OVER () AS "row number"`}
	for _, name := range t.Needed() {
		columns = append(columns, sqlgen.QuoteName(t.Stored[name].Name))
		if t.csv && !typed {
			columns = append(columns, asSpelt(name))
		}
	}
	copied := sqlgen.QuoteName("rows " + t.Name)
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+copied+" AS SELECT "+strings.Join(columns, ", ")+" FROM "+t.From); err != nil {
		return fmt.Errorf("table %s: %s cannot be copied into memory, as it must be to tell its rows apart; store it as a table "+
			"without columns called rowid or file_row_number", t.Name, t.where())
	}
	t.From, t.RowID = copied, sqlgen.QuoteName("row number")
	return nil
}

// hidesRowNumbers reports whether a column has a name that DuckDB gives to row numbers.
func hidesRowNumbers(all []sqlgen.Column, name string) bool {
	return slices.ContainsFunc(all, func(c sqlgen.Column) bool { return strings.EqualFold(c.Name, name) })
}

// Public keys are tables of their own, made when the data is opened: a hundred
// keys as parameters of every question take longer to plan than a million rows to count.

// loadKeys makes the tables of public keys. NULL is not in them: SQL's IN would not find it.
func (s *snapshot) loadKeys(ctx context.Context, t *table) error {
	for _, name := range t.ColumnNames() {
		c := t.Columns[name]
		if c.Keys != policy.PublicKeys {
			continue
		}
		var values []string
		for _, v := range c.KeyValues {
			switch {
			case v.Null:
			case v.Type == policy.Text:
				values = append(values, sqlgen.QuoteText(v.Text))
			case v.Type == policy.Boolean:
				values = append(values, fmt.Sprint(v.Bool()))
			default:
				values = append(values, fmt.Sprint(v.Int))
			}
		}
		typ := map[policy.Type]string{policy.Text: "VARCHAR", policy.Boolean: "BOOLEAN"}[c.Type]
		if typ == "" {
			typ = "BIGINT"
		}
		// No name of a policy has a quotation mark in it, so it keeps table and column apart.
		table := sqlgen.QuoteName("keys " + t.Name + `"` + c.Name)
		text := "CREATE TABLE " + table + " AS SELECT unnest(CAST([" + strings.Join(values, ", ") + "] AS " + typ + "[])) AS k"
		if _, err := s.DB.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("table %s: the keys of column %s cannot be loaded", t.Name, name)
		}
		s.Keys[c] = "(FROM " + table + ")"
		if c.Type == policy.Text {
			keys := chunks.NewKeys(textPositions(c.KeyValues), -1)
			s.listed = append(s.listed, keys)
			s.Listed[c] = printKeyIndex(keys, "%s") + " >= 0"
		}
	}
	return nil
}

// printKeyIndex prints where a text is among keys.
func printKeyIndex(keys *chunks.Keys, text string) string {
	return fmt.Sprintf("discreet_key(%d::BIGINT, %s)", keys.ID, text)
}

// textPositions says where each text is in a list; NULL is not in it.
func textPositions(values []policy.Value) map[string]int32 {
	places := map[string]int32{}
	for i, v := range values {
		if !v.Null {
			places[v.Text] = int32(i)
		}
	}
	return places
}
