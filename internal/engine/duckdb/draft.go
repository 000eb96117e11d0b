package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/textfile"
	"github.com/discreet-dp/discreet/policy"
)

// DraftOptions says what to look at beyond the schema, for a draft of a policy.
type DraftOptions struct {
	// Bounds: read the smallest and the largest values.
	Bounds bool
	// Unit, as in patients.pid: see in every table that has such a column whether
	// it is unique, which the owner would otherwise have to find out.
	Unit string
	// People is the columns that say whose a row is in tables where it is not called like the
	// unit, by table: patient_id, or order_id -> orders.oid.
	People map[string]string
	// Tell, where it is not nil, is told often how far what takes long is.
	Tell func(what string, done, of int64)
}

// person reports whether a column of a table says whose a row is.
func (l DraftOptions) person(table, column string) bool {
	if named, ok := l.People[table]; ok {
		near, _, _ := strings.Cut(named, "->")
		return strings.TrimSpace(near) == column
	}
	_, unit, _ := strings.Cut(l.Unit, ".")
	return strings.HasSuffix(l.Unit, "."+column) || unit != "" && strings.EqualFold(unit, column)
}

// Schemas describes the tables in files for a draft of a policy. Types and nullability come from
// the schema. Values are looked at only where the owner asks for it, except that the types of a CSV
// file's columns have to be guessed from its rows: that is why it is a draft, and why the owner,
// who sees the rows anyway, reads it.
func Schemas(ctx context.Context, files []string, look DraftOptions) ([]policy.Schema, error) {
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var out []policy.Schema
	for _, path := range files {
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			return nil, fmt.Errorf("%s is a folder; name the files in it", path)
		}
		d := drafter{ctx: ctx, db: db, path: path, look: look}
		schemas, err := d.schemas()
		if err != nil {
			return nil, err
		}
		out = append(out, schemas...)
	}
	return out, nil
}

type drafter struct {
	ctx  context.Context
	db   *sql.DB
	path string
	look DraftOptions
}

// tell tells how far something is with this file.
func (d drafter) tell(what string, done, of int64) {
	if d.look.Tell != nil {
		d.look.Tell(what+" "+filepath.Base(d.path), done, of)
	}
}

func (d drafter) telling(what string) func(done, of int64) {
	return func(done, of int64) { d.tell(what, done, of) }
}

// schemas describes the one table of a file, or the tables of a database.
func (d drafter) schemas() ([]policy.Schema, error) {
	name := filepath.Base(d.path)
	name = strings.TrimSuffix(name, ".gz")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	switch {
	case policy.IsDatabase(d.path):
		return d.database()
	case policy.IsParquet(d.path):
		s, err := d.table(name, "read_parquet("+sqlgen.QuoteText(d.path)+")")
		return []policy.Schema{s}, err
	case policy.IsCSV(d.path):
		s, err := d.csv(name)
		return []policy.Schema{s}, err
	}
	switch strings.ToLower(filepath.Ext(d.path)) {
	case ".xlsx", ".xls", ".xlsm", ".xlsb", ".ods":
		return nil, fmt.Errorf("%s is a spreadsheet, and spreadsheets are not read; %s", d.path, saveAsCSV)
	}
	return nil, fmt.Errorf("%s is not a file to draft from: its name must end in .csv, .tsv, .parquet or .duckdb", d.path)
}

// delimiter returns the one that the header has most often.
func (d drafter) delimiter() (rune, error) {
	best, most := ',', 0
	var first error
	for _, r := range ",;\t|" {
		header, err := firstLine(d.path, textfile.Shape{Delimiter: r})
		if len(header) > most {
			best, most = r, len(header)
		}
		if r == ',' && err != nil {
			first = err
		}
	}
	if most == 0 {
		return 0, first
	}
	return best, nil
}

// header reads the names of the columns. A header without names would make the first person's
// values the names of the columns, for all analysts to see.
func (d drafter) header(s *policy.Schema) ([]string, error) {
	names, err := csvHeader(d.path, textfile.Shape{Delimiter: s.Delimiter, Encoding: textfile.Encoding(s.Encoding)})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		_, notNumber := dp.ParseDecimal(strings.TrimSpace(name))
		if _, day := policy.ParseDate(strings.TrimSpace(name)); day || notNumber == nil {
			return nil, fmt.Errorf("the first line of %s holds values, not names; put a line with the names of the columns above it",
				d.path)
		}
	}
	return names, nil
}

func (d drafter) database() ([]policy.Schema, error) {
	if _, err := d.db.ExecContext(d.ctx, "ATTACH "+sqlgen.QuoteText(d.path)+" AS source (READ_ONLY)"); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %s", d.path, whyNotAttached(d.path))
	}
	defer d.db.ExecContext(d.ctx, "DETACH source")
	names, err := queryTexts(d.ctx, d.db,
		"SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' AND schema_name = 'main' ORDER BY 1")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no tables", d.path)
	}
	var out []policy.Schema
	for _, name := range names {
		s, err := d.table(name, "source.main."+sqlgen.QuoteName(name))
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (d drafter) table(name, from string) (policy.Schema, error) {
	s := policy.Schema{Table: name, Source: d.path}
	rows, err := d.db.QueryContext(d.ctx, `SELECT column_name, column_type, "null" FROM (DESCRIBE SELECT * FROM `+from+")")
	if err != nil {
		return s, fmt.Errorf("cannot read the schema of %s; is it complete, is it of the kind that its name says and, if it is "+
			"text, is it UTF-8?",
			d.path)
	}
	defer rows.Close()
	for rows.Next() {
		var column, typ, null string
		if err := rows.Scan(&column, &typ, &null); err != nil {
			return s, err
		}
		s.Columns = append(s.Columns, draftColumn(column, typ, null != "NO"))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return s, err
	}
	for i := range s.Columns {
		if err := d.values(name, &s.Columns[i], from, from); err != nil {
			return s, fmt.Errorf("cannot read column %s of %s", s.Columns[i].Name, d.path)
		}
	}
	return s, nil
}

// values looks at the values of a column, where the owner asks for it. Typed is where they have
// the column's type, and from where they are as they are stored.
func (d drafter) values(table string, c *policy.SchemaColumn, typed, from string) error {
	if d.look.Bounds {
		if err := d.extremes(c, typed); err != nil {
			return err
		}
	}
	name := sqlgen.QuoteName(c.Name)
	if d.look.Unit == "" && c.LikeID() {
		return d.db.QueryRowContext(d.ctx, "SELECT count(DISTINCT id) > 1 AND count(id) > count(DISTINCT id), "+
			"count(id) = count(DISTINCT id) FROM (SELECT CAST("+name+" AS VARCHAR) AS id FROM "+from+") WHERE trim(id) NOT IN ('', "+
			sqlengine.QuotedMarks()+")").Scan(&c.Repeats, &c.Names)
	}
	if !d.look.person(table, c.Name) {
		return nil
	}
	if c.Type == policy.Text && !policy.IsCSV(d.path) {
		found, err := guesser{d.db, from, name}.marks(d.ctx)
		if err != nil {
			return err
		}
		c.MaybeNulls = found
	}
	unique := false
	err := d.db.QueryRowContext(d.ctx, "SELECT count("+name+") = count(DISTINCT "+name+") FROM "+from).Scan(&unique)
	c.Unique = &unique
	return err
}

// extremes reads the smallest and the largest value of a column off the data.
func (d drafter) extremes(c *policy.SchemaColumn, from string) error {
	if c.Type != policy.Integer && c.Type != policy.Decimal && c.Type != policy.Date && c.Type != policy.Timestamp {
		return nil
	}
	name := sqlgen.QuoteName(c.Name)
	if c.Type == policy.Date {
		name = "CAST(" + name + " AS DATE)"
	}
	if c.Type == policy.Timestamp { // in UTC, whatever zone the machine is in
		name = "make_timestamp(epoch_us(" + name + "))"
	}
	texts, err := queryTexts(d.ctx, d.db, "SELECT unnest([CAST(min("+name+") AS VARCHAR), CAST(max("+name+") AS VARCHAR)]) FROM "+from+
		" WHERE isfinite(CAST("+name+" AS "+finite(c.Type)+"))")
	if err != nil {
		return err
	}
	if len(texts) == 2 {
		c.MinText, c.MaxText = texts[0], texts[1]
	}
	return nil
}

func finite(t policy.Type) string {
	if t == policy.Date {
		return "DATE"
	}
	if t == policy.Timestamp {
		return "TIMESTAMP"
	}
	return "DOUBLE"
}

// draftColumn proposes a policy's type for a stored one.
func draftColumn(name, stored string, nullable bool) policy.SchemaColumn {
	c := policy.SchemaColumn{Name: name, EngineType: stored, Nullable: nullable, Decimals: 2}
	base, args, _ := strings.Cut(stored, "(")
	for _, t := range []policy.Type{policy.Integer, policy.Decimal, policy.Text, policy.Boolean, policy.Timestamp, policy.Date} {
		if readable(t, stored) && !(t == policy.Integer && base == "DECIMAL") {
			c.Type = t
			break
		}
	}
	if base == "DECIMAL" {
		if _, scale, ok := strings.Cut(strings.TrimSuffix(args, ")"), ","); ok {
			c.Decimals, _ = strconv.Atoi(strings.TrimSpace(scale))
		}
	}
	return c
}
