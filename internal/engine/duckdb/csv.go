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

	"github.com/discreet-dp/discreet/internal/csvlines"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
)

// load reads a CSV file into memory, with the types of the policy. It happens
// when the file is opened and not when a question runs, because a malformed
// file makes a reader fail, and a question must not fail over a row. Nothing is
// detected from the rows: the header says which columns there are, the policy
// says their types and how they are spelt, what does not parse is NULL, and lines that are no rows
// are left out, each by itself.
// One thread reads it from the beginning: several, each starting somewhere, take
// lines inside a quoted text for rows.
//
// The file is read once: its lines are judged on their way into DuckDB. What was loaded of a file
// that turns out not to be one is thrown away with everything else.
func (t *table) load(ctx context.Context, db *sql.DB, typed bool, folder string, tell func(done, of int64)) error {
	header, err := csvHeader(t.file, t.Delimiter)
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
		spelt := t.CSV.Column(name)
		raw := dialect.QuoteName(c.Name)
		text := withoutNulls(raw, spelt.Nulls)
		value := text
		// What paths use stays as it is: 1 and 01 are two people, or the keys of two rows.
		if p := t.Columns[name]; p != nil && !slices.Contains(t.Paths, name) {
			value = read(text, p.Type, spelt.Format)
		}
		cast = append(cast, value+" AS "+raw)
		if !typed { // for the owner, who wants to know what does not fit
			cast = append(cast, text+" AS "+asSpelt(name))
		}
	}
	if len(cast) == 0 { // a policy may list no column: then rows can be counted
		cast = []string{"1 AS c"}
	}
	rows, err := newFeed(ctx, t.file, t.shape(), folder, tell)
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE "+t.From+" AS SELECT "+strings.Join(cast, ", ")+" FROM "+
		readCSV(rows.path, t.shape(), columns))
	found, unread := rows.end()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.lines = found
	if err := t.judge(typed); err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	if err == nil && unread != nil {
		return fmt.Errorf("table %s: %w", t.Name, unread)
	}
	if err != nil {
		return fmt.Errorf("table %s: %s is not well-formed CSV, or does not fit into memory; check its quotes and line ends, or convert "+
			"it to Parquet", t.Name, t.file)
	}
	return nil
}

// asSpelt names the column that holds the texts of another one. No name of a policy has a quotation
// mark in it.
func asSpelt(name string) string { return dialect.QuoteName(`text"` + name) }

func (t *table) shape() csvlines.Shape {
	return csvlines.Shape{Delimiter: t.Delimiter, Unquoted: t.CSV.Unquoted}
}

// judge says whether a file with these lines is opened. Which lines they are is for the owner
// alone: analysts may see why data that has changed cannot be opened.
func (t *table) judge(typed bool) error {
	refused := t.lines.Broken != nil || t.lines.Bad > 0 && t.CSV.RefuseBadLines
	switch {
	case refused && typed: // in one text, whatever is wrong with which line
		return fmt.Errorf("%s has lines that are no rows; run 'discreet check', which names them", t.file)
	case t.lines.Broken != nil:
		return fmt.Errorf("%s: %v: %s", t.file, t.lines.Broken, mendQuotes)
	}
	return nil
}

const mendQuotes = "where quotes in texts are not doubled, one person's text swallows the rows of others, so the file is not opened; " +
	"write it anew with its quotes doubled, or write quotes: none in the policy where its writer never puts a value in quotes"

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
	if err == io.EOF {
		return nil, fmt.Errorf("%s is empty; the first line of a CSV file has the names of its columns", path)
	}
	if err != nil {
		return nil, fmt.Errorf("the first line of %s is not a CSV header", path)
	}
	return header, nil
}
