package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/textfile"
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
	header, err := d.header(&s)
	if err != nil {
		return s, err
	}
	columns := make([]string, len(header))
	for i, column := range header {
		columns[i] = sqlgen.QuoteText(column) + ": 'VARCHAR'"
	}
	const from = `"drafted rows"`
	if _, err := d.db.ExecContext(d.ctx, "CREATE OR REPLACE TABLE "+from+" AS SELECT * FROM "+readCSV(path, shape, columns)); err != nil {
		return s, fmt.Errorf("cannot read the rows of %s; does it fit into memory? If not, convert it to Parquet", d.path)
	}
	defer d.db.ExecContext(d.ctx, "DROP TABLE "+from)
	guesses := make([]guess, len(header))
	for i, column := range header {
		if column == unnamed {
			continue
		}
		if guesses[i], err = (guesser{d.db, from, sqlgen.QuoteName(column)}).look(d.ctx); err != nil {
			return s, fmt.Errorf("cannot read column %s of %s", column, d.path)
		}
		d.tell("looking at", int64(i+1), int64(2*len(header)))
	}
	resolveFormats(guesses, delimiter)
	for i, column := range header {
		if column == unnamed {
			s.Notes = append(s.Notes, "THE FIRST COLUMN HAS NO NAME, like the row numbers that pandas and R write, and is left out. If "+
				"somebody needs it, give it a name in the first line.")
			continue
		}
		c, err := d.csvColumn(s.Table, column, from, guesses[i])
		if err != nil {
			return s, fmt.Errorf("cannot read column %s of %s", column, d.path)
		}
		s.Columns = append(s.Columns, c)
		d.tell("looking at", int64(len(header)+i+1), int64(2*len(header)))
	}
	return s, nil
}

// rows finds the lines that are rows, and says in the schema what it found. It returns a file that
// has these alone.
func (d drafter) rows(s *policy.Schema, folder string) (string, textfile.Shape, error) {
	shape := textfile.Shape{Delimiter: s.Delimiter}
	found, err := scanTelling(d.ctx, d.path, shape, nil, d.telling("reading"))
	if err != nil {
		return "", shape, err
	}
	if found.Undecoded > found.Foreign {
		shape.Encoding = textfile.Windows1252
		s.Encoding = string(shape.Encoding)
		s.Notes = append(s.Notes, "NOT UTF-8: the file is read as windows-1252, which Excel writes in Western Europe and America. If "+
			"accented letters are wrong in groups, it is in another encoding: write it again in UTF-8, and remove the key 'encoding'.")
		if found, err = scanCSV(d.path, shape, nil); err != nil {
			return "", shape, err
		}
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
			"texts. If some values are in quotes after all, write the file again with the quotes in them doubled.", broken))
	}
	if found.Bad == 0 && !found.Rewritten {
		return d.path, shape, nil
	}
	if found.Bad > 0 {
		what := "LINES THAT ARE NOT ROWS: "
		if mostBad(found) {
			what = "MOST LINES ARE NOT ROWS, so answers would mean nothing: "
		}
		s.Notes = append(s.Notes, what+describeLines(found)+". They are left out of every answer, each by "+
			"itself. Write bad_lines: refuse if the file must not be opened with such lines.")
	}
	path, err := cleanCSV(d.path, shape, folder)
	return path, shape, err
}

// mostBad reports whether so many lines are no rows that the rest means nothing.
func mostBad(r textfile.Report) bool { return r.Bad > 0 && r.Bad >= r.Rows }

// describeLines says how many lines are no rows, and which the first are.
func describeLines(r textfile.Report) string {
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

func (d drafter) csvColumn(table, name, from string, what guess) (policy.SchemaColumn, error) {
	c := policy.SchemaColumn{Name: name, Nullable: true, Decimals: 2, Type: what.typ, Format: what.format, Unfit: what.rest,
		EngineType: csvTypes[what.typ]}
	for _, other := range what.also {
		c.OtherFormats = append(c.OtherFormats, other.String())
	}
	g := guesser{d.db, from, sqlgen.QuoteName(name)}
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
	typed := "(SELECT " + printValue(withoutNulls(g.text, c.Nulls), c.Type, c.Format) + " AS " + g.text + " FROM " + from + ")"
	return c, d.values(table, &c, typed, from)
}

// resolveFormats chooses between formats that all values of a column fit, by what the other columns
// of the file are: one program has written them.
func resolveFormats(columns []guess, delimiter rune) {
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

// queryTexts returns the single text column of a query; NULL is left out.
func queryTexts(ctx context.Context, db *sql.DB, query string) ([]string, error) {
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

// A guess is what the texts of a column may be: for the owner, who reads it in a draft or in
// what a check found. It is made from all values, and it quotes none but marks of missing ones.
type guess struct {
	typ    policy.Type
	format string
	// also is other formats in which every value reads as well.
	also []guess
	// rest says that some values do not fit.
	rest bool
}

func (g guess) String() string {
	if g.format == "" {
		return g.typ.String()
	}
	return g.typ.String() + " " + g.format
}

// dateTemplates are the formats of dates that are looked for, the likelier of two that read alike
// first.
var dateTemplates = []string{"DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "YYYY.MM.DD",
	"DD Mon YYYY", "DD-Mon-YYYY",
	"Mon DD, YYYY", "DD Month YYYY", "Month DD, YYYY", "DD.MM.YY", "DD/MM/YY", "MM/DD/YY", "DD-Mon-YY"}

// packedDate is a date that is spelt like a number.
const packedDate = "YYYYMMDD"

// clockFormats are what follows a date in a timestamp.
var clockFormats = []string{" HH24:MI", " HH24:MI:SS", " HH24:MI:SS.US", " HH12:MI AM", " HH12:MI:SS AM", ", HH24:MI", "THH24:MI:SS"}

// candidates are what a column may be, the likelier first.
func candidates() []guess {
	out := []guess{{typ: policy.Date, format: packedDate}, {typ: policy.Boolean}}
	for _, words := range []string{"ja/nein", "j/n", "oui/non", "o/n", "si/no", "sí/no", "s/n", "sim/não", "wahr/falsch", "vrai/faux",
		"tak/nie", "ano/ne"} {
		out = append(out, guess{typ: policy.Boolean, format: words})
	}
	out = append(out, guess{typ: policy.Integer}, guess{typ: policy.Decimal}, guess{typ: policy.Date}, guess{typ: policy.Timestamp})
	for _, example := range []string{"1.234", "1,234", "1 234", "1'234"} {
		out = append(out, guess{typ: policy.Integer, format: example})
	}
	for _, example := range []string{"1234,56", "1.234,56", "1 234,56", "1,234.56", "1'234.56"} {
		out = append(out, guess{typ: policy.Decimal, format: example})
	}
	for _, date := range dateTemplates {
		out = append(out, guess{typ: policy.Date, format: date})
	}
	for _, date := range dateTemplates {
		for _, clock := range clockFormats {
			out = append(out, guess{typ: policy.Timestamp, format: date + clock})
		}
	}
	return out
}

// plainShapes are what values look like that are spelt as SQL does. They are narrower than what is
// read: 1.5 is read as the integer 2, and is none.
var plainShapes = map[policy.Type]string{
	policy.Integer:   "[+-]?[0-9]+",
	policy.Decimal:   "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?",
	policy.Date:      "[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}",
	policy.Timestamp: "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:.*",
	policy.Boolean:   "(?i:true|false|yes|no|t|f|y|n)",
}

// shape is a pattern of all texts that fit a guess, and of some others.
func (g guess) shape() string {
	switch {
	case g.format == "":
		return plainShapes[g.typ]
	case g.format == packedDate: // a number of eight digits that is no date of our time is a number
		return "(19|20)[0-9]{6}"
	case g.typ == policy.Boolean:
		words, _ := textfile.ParseTruth(g.format)
		return "(?i:" + regexp.QuoteMeta(words.Yes) + "|" + regexp.QuoteMeta(words.No) + ")"
	case isNumber(g.typ):
		n, _ := textfile.ParseNumber(g.format, g.typ == policy.Integer)
		return n.Pattern
	}
	m, _ := textfile.ParseMoment(g.format)
	return m.Pattern
}

// fits prints whether a text is spelt like a guess.
func (g guess) fits(text string) string {
	value := printValue(text, g.typ, g.format)
	return "regexp_full_match(trim(" + text + "), " + sqlgen.QuoteText(g.shape()) + ") AND " + value + " IS NOT NULL"
}

// guesser looks at the texts of one column.
type guesser struct {
	db   *sql.DB
	from string // where the column is
	text string // the column, as a name
}

// values puts the different texts of the column, and how many rows have each, into a table, so that
// no pattern is tried on one text twice. It returns the guesser of that table.
func (g guesser) values(ctx context.Context) (guesser, error) {
	const to = `"drafted values"`
	_, err := g.db.ExecContext(ctx, "CREATE OR REPLACE TEMP TABLE "+to+" AS SELECT "+g.text+" AS t, count(*) AS n FROM "+g.from+
		" WHERE "+g.text+" IS NOT NULL GROUP BY 1")
	return guesser{g.db, to, "t"}, err
}

// sampledValues is how many different values decide which guesses are worth a look at all of them.
const sampledValues = 500

// look guesses what a column is. Text is what is none of the others.
func (g guesser) look(ctx context.Context) (guess, error) {
	g, err := g.values(ctx)
	if err != nil {
		return guess{}, err
	}
	marks := withoutNulls(g.text, sqlengine.NullMarks)
	all := "(SELECT " + marks + " AS v, n FROM " + g.from + ")"
	sample, err := queryTexts(ctx, g.db, "SELECT DISTINCT trim(v) FROM "+all+" WHERE v IS NOT NULL LIMIT "+strconv.Itoa(sampledValues))
	if err != nil || len(sample) == 0 {
		return guess{typ: policy.Text}, err
	}
	likely := likelyGuesses(sample)
	// Where all numbers are spelt as in SQL, formats that read those alike need not be tried.
	plain := slices.DeleteFunc(slices.Clone(likely), func(c guess) bool {
		return isNumber(c.typ) && c.format != "" && readsAlike(guess{typ: policy.Decimal}, c)
	})
	found, total, err := g.count(ctx, plain, all)
	if err == nil && len(plain) < len(likely) && !slices.ContainsFunc(found, func(c tally) bool {
		return isNumber(c.typ) && c.format == "" && c.n == total
	}) {
		found, total, err = g.count(ctx, likely, all)
	}
	if err != nil {
		return guess{}, err
	}
	return g.choose(ctx, found, total)
}

// readsAlike reports whether a format of numbers reads every text that another one reads, and that
// has no sign between thousands, as the same number.
func readsAlike(a, b guess) bool {
	drop, mark := numberSigns(a)
	if drop != "" {
		return false
	}
	drop, other := numberSigns(b)
	return mark == "" || !strings.Contains(drop, mark) && (mark == other || other == "")
}

// numberSigns are what stands between thousands and before the fraction.
func numberSigns(g guess) (drop, mark string) {
	if g.format == "" {
		return "", map[policy.Type]string{policy.Decimal: "."}[g.typ]
	}
	n, err := textfile.ParseNumber(g.format, g.typ == policy.Integer)
	if err != nil {
		return "", ""
	}
	return n.Drop, n.Mark
}

// different reports whether nearly every row has another value. One row more or less matters only
// where it is nearly so, and of few rows nobody can tell.
func (g guesser) different(ctx context.Context) (different bool, err error) {
	const few = 100
	err = g.db.QueryRowContext(ctx, "SELECT count("+g.text+") >= "+strconv.Itoa(few)+" AND 10 * count(DISTINCT "+g.text+") >= 9 * count("+
		g.text+") FROM "+g.from).Scan(&different)
	return different, err
}

// likelyGuesses returns the guesses that most texts look like.
func likelyGuesses(sample []string) []guess {
	var out []guess
	for _, c := range candidates() {
		pattern, err := regexp.Compile("^(?:" + c.shape() + ")$")
		if err != nil {
			continue // no format of ours is such a pattern
		}
		n := 0
		for _, text := range sample {
			if pattern.MatchString(text) {
				n++
			}
		}
		if 10*n >= 8*len(sample) {
			out = append(out, c)
		}
	}
	return out
}

// tally is a guess and how many values fit it.
type tally struct {
	guess
	n int64
}

// count counts the values that fit each guess, and all.
func (g guesser) count(ctx context.Context, guesses []guess, from string) ([]tally, int64, error) {
	counts := []string{"CAST(coalesce(sum(n) FILTER (WHERE v IS NOT NULL), 0) AS BIGINT)"}
	for _, c := range guesses {
		counts = append(counts, "CAST(coalesce(sum(n) FILTER (WHERE "+c.fits("v")+"), 0) AS BIGINT)")
	}
	values := make([]int64, len(counts))
	cells := make([]any, len(counts))
	for i := range values {
		cells[i] = &values[i]
	}
	if err := g.db.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+from).Scan(cells...); err != nil {
		return nil, 0, err
	}
	out := make([]tally, len(guesses))
	for i, c := range guesses {
		out[i] = tally{c, values[i+1]}
	}
	return out, values[0], nil
}

// choose takes the likeliest guess that all values fit, or one that nearly all do.
func (g guesser) choose(ctx context.Context, found []tally, total int64) (guess, error) {
	const most = 10 // of so many values one may be no value of the type
	codes, err := g.codes(ctx)
	if err != nil {
		return guess{}, err
	}
	for _, enough := range []int64{total, total - total/most} {
		for i, c := range found {
			if c.n < enough || c.n < total && (total < most || c.typ == policy.Boolean) {
				continue
			}
			ok, err := g.meant(ctx, c.guess, codes)
			if err != nil {
				return guess{}, err
			}
			if !ok {
				continue
			}
			all := c.n == total && isNumber(c.typ)
			c.rest = c.n < total
			for _, other := range found[i+1:] {
				same := func(a guess) bool { return !g.differs(ctx, a, other.guess) }
				if all && isNumber(other.typ) && readsAlike(c.guess, other.guess) {
					continue
				}
				if other.n >= c.n && !same(c.guess) && !slices.ContainsFunc(c.also, same) {
					c.also = append(c.also, other.guess)
				}
			}
			return c.guess, nil
		}
	}
	return guess{typ: policy.Text}, nil
}

// meant looks once more at guesses that fit too easily: a boolean has both of its words, and
// numbers with zeros before them are codes.
func (g guesser) meant(ctx context.Context, c guess, codes bool) (ok bool, err error) {
	switch {
	case c.typ == policy.Boolean:
		value := printValue(withoutNulls(g.text, sqlengine.NullMarks), c.typ, c.format)
		err = g.db.QueryRowContext(ctx, "SELECT count(DISTINCT "+value+") = 2 FROM "+g.from).Scan(&ok)
	case isNumber(c.typ):
		ok = !codes
	default:
		ok = true
	}
	return ok, err
}

// codes reports whether there are numbers with zeros before them.
func (g guesser) codes(ctx context.Context) (found bool, err error) {
	err = g.db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM "+g.from+" WHERE regexp_full_match(trim("+g.text+
		"), '[+-]?0[0-9]+')").Scan(&found)
	return found, err
}

// differs reports whether a value means one thing in one format and another in the other.
func (g guesser) differs(ctx context.Context, a, b guess) bool {
	if isNumber(a.typ) != isNumber(b.typ) {
		return a.format == packedDate && b.typ == policy.Integer && b.format == "" || a.typ == policy.Boolean && b.typ == policy.Integer
	}
	common := "TIMESTAMP"
	switch {
	case isNumber(a.typ):
		common = "DOUBLE"
	case a.typ == policy.Boolean || b.typ == policy.Boolean:
		return false // the words of one format are none of another's
	}
	var n int64
	text := withoutNulls(g.text, sqlengine.NullMarks)
	one, two := "CAST("+printValue(text, a.typ, a.format)+" AS "+common+")", "CAST("+printValue(text, b.typ, b.format)+" AS "+common+")"
	err := g.db.QueryRowContext(ctx, "SELECT count(*) FROM "+g.from+" WHERE ("+one+") <> ("+two+")").Scan(&n)
	return err == nil && n > 0
}

func isNumber(t policy.Type) bool { return t == policy.Integer || t == policy.Decimal }

// marks returns the texts of a column that probably stand for a missing value.
func (g guesser) marks(ctx context.Context) ([]string, error) {
	found, err := queryTexts(ctx, g.db, "SELECT DISTINCT trim("+g.text+") FROM "+g.from+" WHERE trim("+g.text+") IN ("+
		sqlengine.QuotedMarks()+")")
	slices.SortFunc(found, func(a, b string) int {
		return slices.Index(sqlengine.NullMarks, a) - slices.Index(sqlengine.NullMarks, b)
	})
	return found, err
}

// sentinels are numbers and days that often stand for a missing value.
var sentinels = map[policy.Type][]string{
	policy.Integer: {"99", "999", "9999", "99999", "999999", "-1", "-9", "-99", "-999", "-9999"},
	policy.Decimal: {"99", "999", "9999", "99999", "999999", "-1", "-9", "-99", "-999", "-9999"},
	policy.Date:    {"9999-12-31", "9999-01-01", "1900-01-01", "1899-12-30", "0001-01-01"},
}

// standsOut returns, as it is spelt, a value that is at an end, far from the others, several times,
// and one that is often written for a missing value.
func (g guesser) standsOut(ctx context.Context, c guess) ([]string, error) {
	if len(sentinels[c.typ]) == 0 {
		return nil, nil
	}
	value := printValue(withoutNulls(g.text, sqlengine.NullMarks), c.typ, c.format)
	var ends []string
	for _, s := range sentinels[c.typ] {
		ends = append(ends, sqlgen.QuoteText(s))
	}
	atEnd, err := queryTexts(ctx, g.db, "SELECT s FROM (SELECT min("+value+") AS low, max("+value+") AS high FROM "+g.from+"), (SELECT "+
		"unnest(["+strings.Join(ends, ", ")+"]) AS s) WHERE CAST(s AS "+csvTypes[c.typ]+") IN (low, high)")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, s := range sentinels[c.typ] {
		if !slices.Contains(atEnd, s) {
			continue
		}
		s = "CAST(" + sqlgen.QuoteText(s) + " AS " + csvTypes[c.typ] + ")"
		far := "(max(v) = " + s + " AND max(v) FILTER (v < " + s + ") * 2 < " + s + " OR min(v) = " + s + " AND min(v) FILTER (v > " + s +
			") >= 0)"
		if c.typ == policy.Date {
			far = "(max(v) = " + s + " AND max(v) FILTER (v < " + s + ") < DATE '2200-01-01' OR min(v) = " + s +
				" AND min(v) FILTER (v > " + s + ") > " + s + " + 1000)"
		}
		names, err := queryTexts(ctx, g.db, "SELECT min(trim(t)) FILTER (v = "+s+") FROM (SELECT "+value+" AS v, "+g.text+" AS t FROM "+
			g.from+") HAVING count(*) FILTER (v = "+s+") >= 2 AND "+far)
		if err != nil {
			return nil, err
		}
		found = append(found, names...)
	}
	return found, nil
}
