package duckdb

import (
	"bufio"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/policy"
)

// load reads a CSV file into memory, with the types of the policy. It happens
// when the file is opened and not when a question runs, because a malformed
// file makes a reader fail, and a question must not fail over a row. Nothing is
// detected from the rows: the header says which columns there are, the policy
// says their types, what does not parse is NULL, and rows that are no rows are left out.
// One thread reads it from the beginning: several, each starting somewhere, take
// lines inside a quoted text for rows.
func (t *table) load(ctx context.Context, db *sql.DB, typed bool) error {
	header, err := csvHeader(t.file, t.Delimiter)
	if err == nil {
		err = checkWhole(t.file)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	columns := make([]string, len(header))
	all := make([]dialect.Column, len(header))
	for i, name := range header {
		all[i].Name = name
		columns[i] = dialect.QuoteText(name) + ": 'VARCHAR'"
	}
	var cast []string
	for _, name := range t.Needed() {
		c, err := sqlengine.Find(all, &t.Table, name, t.where())
		if err != nil {
			return err
		}
		raw := dialect.QuoteName(c.Name)
		// What paths use stays as it is: 1 and 01 are two people, or the keys of two rows.
		if p := t.Columns[name]; p != nil && !slices.Contains(t.Paths, name) && typed {
			raw = "TRY_CAST(" + raw + " AS " + csvTypes[p.Type] + ") AS " + raw
		}
		cast = append(cast, raw)
	}
	if len(cast) == 0 { // a policy may list no column: then rows can be counted
		cast = []string{"1 AS c"}
	}
	leftOut := "ignore_errors = true"
	if !typed { // for the owner, who wants to know
		leftOut = "store_rejects = true, rejects_table = " + dialect.QuoteText(t.rejects()) + ", rejects_scan = " +
			dialect.QuoteText("scan_"+t.rejects())
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf(
		`CREATE TABLE %s AS SELECT %s FROM read_csv(%s, auto_detect = false, header = true, delim = %s, quote = '"', escape = '"',
		 nullstr = '', %s, strict_mode = false, parallel = false, columns = {%s})`,
		t.From, strings.Join(cast, ", "), dialect.QuoteText(t.file), dialect.QuoteText(string(t.Delimiter)), leftOut,
		strings.Join(columns, ", ")))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("table %s: %s is not well-formed CSV, or does not fit into memory; check its quotes and line ends, or convert "+
			"it to Parquet", t.Name, t.file)
	}
	return nil
}

// rejects names the table of lines that are no rows, in letters that need no quotes: the
// reader takes no others.
func (t *table) rejects() string { return fmt.Sprintf("rejects_%x", t.Name) }

// checkWhole reads a compressed file to its end, because DuckDB takes a half one for a
// shorter one.
func checkWhole(path string) error {
	if !strings.HasSuffix(strings.ToLower(path), ".gz") {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	if err != nil {
		return fmt.Errorf("%s is not a whole gzip file", path)
	}
	return nil
}

// csvTypes are DuckDB's types for the policy's.
var csvTypes = map[policy.Type]string{
	policy.Integer: "BIGINT", policy.Decimal: "DOUBLE", policy.Text: "VARCHAR", policy.Boolean: "BOOLEAN", policy.Date: "DATE",
	policy.Timestamp: "TIMESTAMP",
}

// csvHeader reads the names in the first line, and checks that they are names.
func csvHeader(path string, delimiter rune) ([]string, error) {
	header, err := firstLine(path, delimiter)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, name := range header {
		switch lower := strings.ToLower(name); {
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("the first line of %s is not UTF-8; convert the file", path)
		case strings.ContainsRune(name, '\r'):
			return nil, fmt.Errorf("the lines of %s end in a way that CSV does not; convert them to Unix or Windows line ends", path)
		case name == "" || seen[lower]:
			return nil, fmt.Errorf("the first line of %s must name every column once, and column %d has no name or the name of another",
				path, i+1)
		default:
			seen[lower] = true
		}
	}
	return header, nil
}

// firstLine reads the fields of the first line.
func firstLine(path string, delimiter rune) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(strings.ToLower(path), ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s is not a gzip file", path)
		}
	}
	// A header of more than a megabyte is no header.
	buffered := bufio.NewReader(io.LimitReader(in, 1<<20))
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\ufeff" {
		buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.Comma = delimiter
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the first line of %s is not a CSV header", path)
	}
	return header, nil
}
