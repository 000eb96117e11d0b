package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/csvlines"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// csv describes the table of a CSV file. What its columns are is guessed from all of their values,
// because a file of texts has no types.
func (d drafter) csv(name string) (policy.Schema, error) {
	delimiter, err := d.delimiter()
	if err != nil {
		return policy.Schema{}, err
	}
	s := policy.Schema{Table: name, Source: d.path, Delimiter: delimiter}
	folder, err := os.MkdirTemp("", "discreet-init-*")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(folder)
	path, shape, err := d.rows(&s, folder)
	if err != nil {
		return s, err
	}
	header, err := csvHeader(d.path, delimiter)
	if err != nil {
		return s, err
	}
	columns := make([]string, len(header))
	for i, column := range header {
		columns[i] = dialect.QuoteText(column) + ": 'VARCHAR'"
	}
	const from = `"drafted rows"`
	if _, err := d.db.ExecContext(d.ctx, "CREATE OR REPLACE TABLE "+from+" AS SELECT * FROM "+readCSV(path, shape, columns)); err != nil {
		return s, fmt.Errorf("cannot read the rows of %s; does it fit into memory? If not, convert it to Parquet", d.path)
	}
	defer d.db.ExecContext(d.ctx, "DROP TABLE "+from)
	guesses := make([]guess, len(header))
	for i, column := range header {
		if guesses[i], err = (guesser{d.db, from, dialect.QuoteName(column)}).look(d.ctx); err != nil {
			return s, fmt.Errorf("cannot read column %s of %s", column, d.path)
		}
	}
	resolve(guesses, delimiter)
	for i, column := range header {
		c, err := d.csvColumn(s.Table, column, from, guesses[i])
		if err != nil {
			return s, fmt.Errorf("cannot read column %s of %s", column, d.path)
		}
		s.Columns = append(s.Columns, c)
	}
	return s, nil
}

// rows finds the lines that are rows, and says in the schema what it found. It returns a file that
// has these alone.
func (d drafter) rows(s *policy.Schema, folder string) (string, csvlines.Shape, error) {
	shape := csvlines.Shape{Delimiter: s.Delimiter}
	found, err := scanCSV(d.path, shape, nil)
	if err != nil {
		return "", shape, err
	}
	if broken := found.Broken; broken != nil {
		// Perhaps the writer knows no quotes. Then nearly every line is a row.
		shape.Unquoted = true
		if found, err = scanCSV(d.path, shape, nil); err != nil {
			return "", shape, err
		}
		if 20*found.Bad > found.Rows {
			return "", shape, fmt.Errorf("%s: %v: %s", d.path, broken, mendQuotes)
		}
		s.Unquoted = true
		s.Notes = append(s.Notes, fmt.Sprintf("QUOTES ARE NOT DOUBLED: %v. So every line is read as a row, and quotes are part of "+
			"texts. Where values stand in quotes after all, write the file anew with the quotes in them doubled.", broken))
	}
	if found.Bad == 0 && !found.Rewritten {
		return d.path, shape, nil
	}
	if found.Bad > 0 {
		s.Notes = append(s.Notes, "LINES THAT ARE NO ROWS: "+describeLines(found)+". They are left out of every answer, each by "+
			"itself. Write bad_lines: refuse where the file must not be opened with such lines.")
	}
	path, err := cleanCSV(d.path, shape, folder)
	return path, shape, err
}

// describeLines says how many lines are no rows, and which the first are.
func describeLines(r csvlines.Report) string {
	first := make([]string, len(r.First))
	for i, l := range r.First {
		first[i] = l.String()
	}
	text := strings.Join(first, "; ")
	if more := r.Bad - int64(len(first)); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// csvColumn describes a column that was guessed.
func (d drafter) csvColumn(table, name, from string, what guess) (policy.SchemaColumn, error) {
	c := policy.SchemaColumn{Name: name, Nullable: true, Decimals: 2, Type: what.typ, Format: what.format, Unfit: what.rest,
		EngineType: csvTypes[what.typ]}
	for _, other := range what.also {
		c.OtherFormats = append(c.OtherFormats, other.String())
	}
	g := guesser{d.db, from, dialect.QuoteName(name)}
	marks, err := g.marks(d.ctx)
	if err != nil {
		return c, err
	}
	out, err := g.standsOut(d.ctx, what)
	if err != nil {
		return c, err
	}
	if c.Type == policy.Text {
		c.MaybeNulls = marks // none and - are words too
		if c.Different, err = g.different(d.ctx); err != nil {
			return c, err
		}
	} else {
		c.Nulls, c.MaybeNulls = marks, out
	}
	typed := "(SELECT " + read(withoutNulls(g.text, c.Nulls), c.Type, c.Format) + " AS " + g.text + " FROM " + from + ")"
	return c, d.values(table, &c, typed, from)
}

// resolve chooses between formats that all values of a column fit, by what the other columns of the
// file are: one program has written them.
func resolve(columns []guess, delimiter rune) {
	votes := map[bool]int{} // days first, or months
	comma := delimiter == ';'
	for _, c := range columns {
		if len(c.also) > 0 {
			continue
		}
		if first, ok := dayFirst(c.format); ok {
			votes[first]++
		}
		comma = comma || c.typ == policy.Decimal && strings.HasSuffix(c.format, ",56")
	}
	for i := range columns {
		c := &columns[i]
		for j, other := range c.also {
			first, ok := dayFirst(other.format)
			if ok && votes[first] > votes[!first] || comma && c.format == "1,234" && other.format == "1234,56" {
				chosen := guess{typ: other.typ, format: other.format, rest: c.rest, also: slices.Clone(c.also)}
				chosen.also[j] = guess{typ: c.typ, format: c.format}
				*c = chosen
				break
			}
		}
	}
}

// dayFirst says whether a template has the day before the month, both in digits.
func dayFirst(format string) (first, ok bool) {
	day, month := strings.Index(format, "DD"), strings.Index(format, "MM")
	return day < month, day >= 0 && month >= 0 && !strings.HasPrefix(format, "YYYY")
}

// texts returns the single text column of a query; NULL is left out.
func texts(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s sql.NullString
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		if s.Valid {
			out = append(out, s.String)
		}
	}
	return out, rows.Err()
}
