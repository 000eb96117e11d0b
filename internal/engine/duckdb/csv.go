package duckdb

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/textfile"
	"github.com/discreet-dp/discreet/policy"
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
	header, err := csvHeader(t.file, t.shape())
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	columns := make([]string, len(header))
	all := make([]sqlgen.Column, len(header))
	for i, name := range header {
		all[i].Name = name
		columns[i] = sqlgen.QuoteText(name) + ": 'VARCHAR'"
	}
	var cast []string
	for _, name := range t.Needed() {
		c, err := sqlengine.FindColumn(all, &t.Table, name, t.where())
		if err != nil {
			return err
		}
		spelt := t.CSV.Column(name)
		raw := sqlgen.QuoteName(c.Name)
		text := withoutNulls(raw, spelt.Nulls)
		value := text
		// What paths use stays as it is: 1 and 01 are two people, or the keys of two rows.
		if p := t.Columns[name]; p != nil && !slices.Contains(t.Paths, name) {
			value = printValue(text, p.Type, spelt.Format)
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
func asSpelt(name string) string { return sqlgen.QuoteName(`text"` + name) }

func (t *table) shape() textfile.Shape {
	return textfile.Shape{Delimiter: t.Delimiter, Unquoted: t.CSV.Unquoted, Encoding: t.CSV.Encoding}
}

// judge says whether a file with these lines is opened. Which lines they are is for the owner
// alone: analysts may see why data that has changed cannot be opened.
func (t *table) judge(typed bool) error {
	refused := t.lines.Broken != nil || t.lines.Bad > 0 && t.CSV.RefuseBadLines
	switch {
	case refused && typed: // in one text, whatever is wrong with which line
		return fmt.Errorf("%s has lines that are not rows; run 'discreet check', which names them", t.file)
	case t.lines.Broken != nil:
		return fmt.Errorf("%s: %v: %s", t.file, t.lines.Broken, mendQuotes)
	}
	return nil
}

const mendQuotes = "where quotes in texts are not doubled, one person's text swallows the rows of others, so the file is not " +
	"opened; write the file again with its quotes doubled, or write quotes: none in the policy if its writer never puts a value in quotes"

// unnamed is what the first column is called where the file has no name for it, as those have in
// which pandas and R number rows. No name of a policy has a quotation mark in it, so nobody can ask
// for it.
const unnamed = `unnamed"1`

// csvHeader reads the names in the first line, and checks that they are names.
func csvHeader(path string, shape textfile.Shape) ([]string, error) {
	header, err := firstLine(path, shape)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, name := range header {
		switch lower := strings.ToLower(name); {
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("the first line of %s is not UTF-8; say in which encoding the file is, such as encoding: "+
				"windows-1252, or convert it", path)
		case name == "" && i == 0 && len(header) > 1:
			header[i] = unnamed
		case strings.ContainsRune(name, '\r'):
			return nil, fmt.Errorf("the line ends of %s are not those of CSV; convert them to Unix or Windows line ends", path)
		case name == "" || seen[lower]:
			return nil, fmt.Errorf("the first line of %s must name every column once, but column %d has no name or the name of "+
				"another column",
				path, i+1)
		default:
			seen[lower] = true
		}
	}
	return header, nil
}

// firstLine reads the fields of the first line.
func firstLine(path string, shape textfile.Shape) ([]string, error) {
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
	begin, _ := buffered.Peek(1 << 10)
	if err := otherKind(path, begin); err != nil {
		return nil, err
	}
	buffered = bufio.NewReader(shape.Encoding.Reader(buffered))
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\ufeff" {
		buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.Comma = shape.Delimiter
	header, err := r.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s is empty; the first line of a CSV file has the names of its columns", path)
	}
	if err != nil {
		return nil, fmt.Errorf("the first line of %s is not a CSV header", path)
	}
	return header, nil
}

// otherKind says what a file is by how it begins, where it is none of CSV.
func otherKind(path string, begin []byte) error {
	switch line, _, _ := bytes.Cut(begin, []byte("\n")); {
	case bytes.HasPrefix(begin, []byte("PK\x03\x04")), bytes.HasPrefix(begin, []byte("\xd0\xcf\x11\xe0")):
		return fmt.Errorf("%s is not a CSV file but a spreadsheet or an archive; %s", path, saveAsCSV)
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")), bytes.IndexByte(line, 0) >= 0:
		return fmt.Errorf("%s is in UTF-16, which is not read; write it again in UTF-8, as with: iconv -f UTF-16 -t UTF-8", path)
	}
	return nil
}

const saveAsCSV = "save each sheet as a CSV file of its own, in UTF-8 (in Excel: File, Save As, CSV UTF-8), and name these files"

// scanCSV reads the lines of a file, and copies those that are rows, where it is asked to.
func scanCSV(path string, shape textfile.Shape, good io.Writer) (textfile.Report, error) {
	return scanTelling(context.Background(), path, shape, good, nil)
}

// scanTelling is scanCSV for somebody who may give up, and may want to know how many bytes were
// read, of how many.
func scanTelling(ctx context.Context, path string, shape textfile.Shape, good io.Writer, tell func(done, of int64)) (textfile.Report,
	error) {
	f, err := os.Open(path)
	if err != nil {
		return textfile.Report{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return textfile.Report{}, err
	}
	var in io.Reader = &metered{ctx: ctx, in: f, of: info.Size(), tell: tell}
	if strings.HasSuffix(strings.ToLower(path), ".gz") {
		// DuckDB takes half of a compressed file for a shorter one, so it is read to its end here.
		if in, err = gzip.NewReader(in); err != nil {
			return textfile.Report{}, fmt.Errorf("%s is not a complete gzip file", path)
		}
	}
	report, err := textfile.Scan(in, shape, good)
	if err != nil {
		return report, fmt.Errorf("%s cannot be read to its end, or is not a complete gzip file", path)
	}
	return report, nil
}

// metered tells how far a file was read, and ends with a context.
type metered struct {
	ctx      context.Context
	in       io.Reader
	done, of int64
	tell     func(done, of int64)
}

func (c *metered) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(b)
	if c.done += int64(n); c.tell != nil {
		c.tell(c.done, c.of)
	}
	return n, err
}

// cleanCSV returns a copy of a file, without its bad lines, in a folder that only this user can
// read. It is to be removed.
func cleanCSV(path string, shape textfile.Shape, folder string) (string, error) {
	f, err := os.CreateTemp(folder, "rows-*.csv")
	if err != nil {
		return "", fmt.Errorf("leave the bad lines of %s out: %w", filepath.Base(path), err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = scanCSV(path, shape, w)
	if err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("leave the bad lines of %s out: %w", filepath.Base(path), err)
	}
	return f.Name(), nil
}

// readCSV prints the reading of a copy of a file, every column as text.
func readCSV(path string, shape textfile.Shape, columns []string) string {
	quote := `'"'`
	if shape.Unquoted {
		quote = "''"
	}
	return fmt.Sprintf(
		`read_csv(%s, auto_detect = false, header = true, delim = %s, quote = %s, escape = %s, nullstr = '', ignore_errors = true,
		 strict_mode = false, parallel = false, columns = {%s})`,
		sqlgen.QuoteText(path), sqlgen.QuoteText(string(shape.Copied().Delimiter)), quote, quote, strings.Join(columns, ", "))
}

var csvTypes = map[policy.Type]string{
	policy.Integer: "BIGINT", policy.Decimal: "DOUBLE", policy.Text: "VARCHAR", policy.Boolean: "BOOLEAN", policy.Date: "DATE",
	policy.Timestamp: "TIMESTAMP",
}

// withoutNulls prints a text of a CSV file, and NULL for the texts that stand for it.
func withoutNulls(raw string, nulls []string) string {
	if len(nulls) == 0 {
		return raw
	}
	quoted := make([]string, len(nulls))
	for i, n := range nulls {
		quoted[i] = sqlgen.QuoteText(n)
	}
	return "CASE WHEN trim(" + raw + ") NOT IN (" + strings.Join(quoted, ", ") + ") THEN " + raw + " END"
}

// printValue prints the value of a text, and NULL where it is not spelt as the format says. It
// depends on that text alone, fails over none, and takes time in proportion to it.
func printValue(text string, typ policy.Type, format string) string {
	cast := func(text string) string { return "TRY_CAST(" + text + " AS " + csvTypes[typ] + ")" }
	if format == "" {
		return cast(text)
	}
	switch typ {
	case policy.Date, policy.Timestamp:
		m, err := textfile.ParseMoment(format)
		if err != nil {
			return "NULL" // a policy has no such format
		}
		return printMatching(text, m.Pattern, cast("try_strptime(trim("+text+"), "+sqlgen.QuoteText(m.Strptime)+")"))
	case policy.Integer, policy.Decimal:
		n, err := textfile.ParseNumber(format, typ == policy.Integer)
		if err != nil {
			return "NULL"
		}
		plain := text
		if n.Drop != "" {
			plain = "translate(" + plain + ", " + sqlgen.QuoteText(n.Drop) + ", '')"
		}
		if n.Mark == "," {
			plain = "replace(" + plain + ", ',', '.')"
		}
		return printMatching(text, n.Pattern, cast(plain))
	case policy.Boolean:
		b, err := textfile.ParseTruth(format)
		if err != nil {
			return "NULL"
		}
		return fmt.Sprintf("CASE lower(trim(%s)) WHEN %s THEN true WHEN %s THEN false END", text,
			sqlgen.QuoteText(strings.ToLower(b.Yes)), sqlgen.QuoteText(strings.ToLower(b.No)))
	}
	return text
}

// printMatching prints a value for texts that match a pattern from their beginning to their end.
func printMatching(text, pattern, value string) string {
	return "CASE WHEN regexp_full_match(trim(" + text + "), " + sqlgen.QuoteText(pattern) + ") THEN " + value + " END"
}
