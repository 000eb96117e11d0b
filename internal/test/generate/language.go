package generate

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

// kind is what an expression is, as far as the maker cares.
type kind byte

const (
	whole1  kind = 'w' // a whole number with bounds
	number  kind = 'n' // a number with bounds
	wide    kind = 'N' // a number without
	float   kind = 'r'
	words   kind = 't'
	truth   kind = 'b'
	date    kind = 'd'
	moment  kind = 'm' // a timestamp
	nothing kind = '-'
)

// fits reports whether an expression of one kind can stand where another is asked for.
func (k kind) fits(want kind) bool {
	switch want {
	case number:
		return k == number || k == whole1
	case wide:
		return k == number || k == whole1 || k == wide
	}
	return k == want
}

// function is a line of the language: what it makes, of what, and how it is written.
type function struct {
	makes kind
	of    string // the kinds of its arguments
	text  string // with %s for each
}

// functions are all expressions that questions are made of. What the planner does not take is left
// out.
var functions = []function{
	{truth, "NN", "%s = %s"}, {truth, "NN", "%s <> %s"}, {truth, "NN", "%s < %s"}, {truth, "NN", "%s >= %s"},
	{truth, "tt", "%s = %s"}, {truth, "tt", "%s < %s"}, {truth, "dd", "%s <= %s"}, {truth, "rN", "%s > %s"},
	{truth, "NNN", "%s BETWEEN %s AND %s"}, {truth, "NNN", "%s NOT BETWEEN %s AND %s"},
	{truth, "N", "%s = ANY (ARRAY[0, 1, 3])"}, {truth, "t", "%s <> ALL (ARRAY['a', 'F'])"}, {truth, "N", "%s >= ALL (ARRAY[0, 2])"},
	{truth, "N", "%s IN (0, NULL, 2)"}, {truth, "t", "%s NOT IN ('a', NULL)"},
	{truth, "N", "%s IN (0, 1, 3)"}, {truth, "t", "%s NOT IN ('a', 'F')"}, {truth, "d", "%s IN ('2022-01-08', '2022-01-10')"},
	{truth, "N", "%s IS NULL"}, {truth, "t", "%s IS NOT NULL"}, {truth, "b", "%s IS NULL"}, {truth, "d", "%s IS NULL"},
	{truth, "r", "%s IS NULL"},
	{truth, "bb", "(%s AND %s)"}, {truth, "bb", "(%s OR %s)"}, {truth, "b", "NOT (%s)"},
	{truth, "b", "(%s) IS TRUE"}, {truth, "b", "(%s) IS NOT FALSE"}, {truth, "b", "(%s) IS UNKNOWN"},
	{truth, "NN", "%s IS DISTINCT FROM %s"}, {truth, "tt", "%s IS NOT DISTINCT FROM %s"},
	{truth, "t", "%s LIKE 'a%%'"}, {truth, "t", "%s ILIKE '_F'"}, {truth, "t", "starts_with(%s, 'p')"},
	{truth, "t", "%s ~ '^[a-f]|F$'"}, {truth, "t", "%s !~* 'P'"}, {truth, "t", "%s SIMILAR TO '(a|F)%%'"},
	{truth, "t", "regexp_like(%s, '\\w{2,}', 'i')"},
	{truth, "t", "%s ~~ 'a%%'"}, {truth, "t", "%s !~~* '_f'"}, {truth, "NN", "%s OPERATOR(pg_catalog.<=) %s"},
	{truth, "N", "%s > (SELECT 1 + 1)"}, {truth, "N", "(%[1]s > 5 AND %[1]s < 2)"}, {truth, "t", "(%[1]s = 'a' AND %[1]s = 'b')"},
	{truth, "bbb", "CASE WHEN %s THEN %s ELSE %s END"}, {truth, "bb", "coalesce(%s, %s)"},
	{whole1, "ww", "(%s + %s)"}, {whole1, "ww", "(%s - %s)"}, {whole1, "w", "(%s * 3)"}, {whole1, "w", "(- %s)"},
	{whole1, "ww", "(%s * %s)"},
	{whole1, "w", "(%s / 2)"}, {whole1, "ww", "(%s / %s)"}, {whole1, "w", "(%s %% 3)"}, {whole1, "ww", "(%s %% %s)"},
	{number, "nn", "(%s + %s)"}, {number, "n", "(%s - 0.25)"}, {number, "nn", "(%s * %s)"},
	{number, "bnn", "CASE WHEN %s THEN %s ELSE %s END"}, {number, "bn", "CASE WHEN %s THEN %s END"},
	{whole1, "w", "CASE %s WHEN 1 THEN 5 WHEN 2 THEN 7 ELSE 0 END"},
	{number, "nn", "coalesce(%s, %s)"}, {number, "nn", "nullif(%s, %s)"}, {number, "nn", "greatest(%s, %s)"},
	{number, "nn", "least(%s, %s)"},
	{number, "n", "abs(%s)"}, {whole1, "n", "sign(%s)"}, {whole1, "n", "round(%s)"}, {whole1, "n", "floor(%s)"}, {whole1, "n", "ceil(%s)"},
	{number, "n", "round(%s, 1)"},
	{whole1, "n", "width_bucket(%s, 0, 10, 5)"}, {whole1, "N", "width_bucket(%s, ARRAY[0, 2.5, 7])"},
	{whole1, "w", "mod(%s, 3)"}, {whole1, "w", "div(%s, 2)"}, {number, "n", "trunc(%s)"},
	{whole1, "n", "CAST(%s AS INTEGER)"}, {whole1, "b", "CAST(%s AS INTEGER)"}, {number, "n", "CAST(%s AS NUMERIC(10, 1))"},
	{float, "nn", "(%s / %s)"}, {float, "n", "(%s / 2.5)"}, {float, "n", "sqrt(%s)"}, {float, "n", "ln(%s)"}, {float, "n", "exp(%s)"},
	{float, "nn", "power(%s, %s)"},
	{words, "btt", "CASE WHEN %s THEN %s ELSE %s END"}, {words, "tt", "coalesce(%s, %s)"}, {words, "tt", "nullif(%s, %s)"},
	{words, "t", "lower(%s)"}, {words, "t", "upper(%s)"}, {words, "t", "trim(%s)"}, {words, "t", "substring(%s, 1, 1)"},
	{words, "t", "left(%s, 1)"}, {words, "t", "right(%s, 1)"},
	{words, "tt", "(%s || %s)"}, {words, "tt", "(%s || '-' || %s)"}, {words, "tt", "concat(%s, %s)"},
	{words, "t", "replace(%s, 'a', 'b')"}, {words, "t", "reverse(%s)"},
	{words, "t", "split_part(%s, 'a', 1)"}, {words, "t", "lpad(%s, 3, 'xy')"}, {words, "tt", "concat_ws('-', left(%s, 5), left(%s, 5))"},
	{words, "w", "CAST(%s AS TEXT)"},
	{whole1, "t", "length(%s)"}, {whole1, "t", "position('a' IN %s)"},
	{date, "d", "(%s + 1)"}, {date, "d", "date_trunc('month', %s)"}, {date, "bdd", "CASE WHEN %s THEN %s ELSE %s END"},
	{date, "dd", "coalesce(%s, %s)"}, {date, "dd", "greatest(%s, %s)"},
	{whole1, "d", "extract(year FROM %s)"}, {whole1, "d", "extract(dow FROM %s)"}, {whole1, "d", "date_part('month', %s)"},
	{whole1, "dd", "(%s - %s)"},
	{whole1, "d", "extract(century FROM %s)"}, {words, "d", "to_char(%s, 'YYYY-MM')"}, {whole1, "dd", "extract(year FROM age(%s, %s))"},
	{truth, "mm", "%s < %s"}, {truth, "m", "%s >= '2022-01-09 10:00:00'"}, {truth, "m", "%s IS NULL"}, {truth, "md", "%s > %s"},
	{moment, "m", "(%s AT TIME ZONE 'UTC')"}, {moment, "d", "(%s AT TIME ZONE 'UTC')"},
	{moment, "d", "(%s - (3 || ' DAY')::interval)"},
	{date, "m", "CAST(%s AS date)"}, {moment, "d", "CAST(%s AS timestamp)"}, {moment, "m", "date_trunc('hour', %s)"},
	{moment, "m", "date_bin('6 hours', %s, '2022-01-01 01:00:00')"}, {moment, "m", "(%s + INTERVAL '90 minutes')"},
	{moment, "mm", "coalesce(%s, %s)"}, {whole1, "m", "extract(hour FROM %s)"}, {number, "m", "extract(second FROM %s)"},
	{number, "mm", "extract(epoch FROM %s - %s)"}, {words, "m", "to_char(%s, 'YYYY-MM-DD HH24:MI:SS.US')"},
	{truth, "m", "%s > now() - INTERVAL '36 hours'"}, {truth, "d", "%s < CURRENT_DATE"}, {whole1, "d", "(CURRENT_DATE - %s)"},
	{whole1, "d", "extract(year FROM age(%s))"}, {number, "m", "extract(epoch FROM now() - %s)"},
}

// aggregates are all statistics; the kind of what they are of is nothing for COUNT(*), and 'i'
// stands for the unit.
var aggregates = []struct {
	of   kind
	text string
}{
	{nothing, "COUNT(*)"}, {nothing, "COUNT(1)"}, {wide, "COUNT(%s)"}, {words, "COUNT(%s)"}, {truth, "COUNT(%s)"}, {date, "COUNT(%s)"},
	{number, "SUM(%s)"}, {number, "SUM(%s)"}, {number, "AVG(%s)"}, {number, "SUM(CAST(%s AS double precision))"},
	{number, "AVG((%s)::float * 2 / 5)"}, {number, "VARIANCE(%s)"}, {number, "STDDEV_POP(%s)"},
	{whole1, "COUNT(DISTINCT %s)"}, {words, "COUNT(DISTINCT %s)"}, {date, "COUNT(DISTINCT %s)"}, {moment, "COUNT(DISTINCT %s)"},
	{moment, "COUNT(%s)"}, {moment, "MIN(%s)"}, {moment, "MEDIAN(%s)"}, {'i', "COUNT(DISTINCT %s)"},
	{'i', "COUNT(%s)"}, {truth, "COUNT(CASE WHEN %s THEN 1 END)"}, {truth, "COUNT(CASE WHEN %s THEN NULL ELSE 'x' END)"},
	{number, "SUM(%s * 0)"}, {nothing, "SUM(0)"},
	{number, "MEDIAN(%s)"}, {number, "MIN(%s)"}, {number, "MAX(%s)"}, {date, "MAX(%s)"},
	{number, "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY %s)"}, {whole1, "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY %s DESC)"},
}

// SQL returns the statements that make the database in DuckDB, for an engine that reads one.
func (db *Database) SQL() []string {
	var out []string
	for _, t := range db.order() {
		all := db.Tables[t.Name]
		list := make([]string, len(all.Columns))
		for i, name := range all.Columns {
			typ := "BIGINT"
			if c := t.Columns[name]; c != nil {
				typ = map[policy.Type]string{policy.Text: "VARCHAR", policy.Boolean: "BOOLEAN", policy.Date: "DATE",
					policy.Decimal: "DOUBLE", policy.Integer: "BIGINT", policy.Timestamp: "TIMESTAMP"}[c.Type]
			}
			list[i] = fmt.Sprintf("%q %s", name, typ)
		}
		out = append(out, fmt.Sprintf("CREATE TABLE %q (%s)", t.Name, strings.Join(list, ", ")))
		rows := make([]string, len(all.Rows))
		for k, row := range all.Rows {
			values := make([]string, len(row))
			for i, v := range row {
				values[i] = literal(v, t.Columns[all.Columns[i]])
			}
			rows[k] = "(" + strings.Join(values, ", ") + ")"
		}
		if len(rows) > 0 {
			out = append(out, fmt.Sprintf("INSERT INTO %q VALUES %s", t.Name, strings.Join(rows, ", ")))
		}
	}
	return out
}

func literal(v any, c *policy.Column) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(strings.ReplaceAll(v, "'", "''"), "\x00", "' || chr(0) || '") + "'"
	case float64:
		switch {
		case c.Type == policy.Timestamp:
			return fmt.Sprintf("TIMESTAMP '%s'", strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))+"inity")
		case math.IsNaN(v):
			return "'nan'::DOUBLE"
		case math.IsInf(v, 0):
			return fmt.Sprintf("'%v'::DOUBLE", strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+")))
		}
		return fmt.Sprintf("'%v'::DOUBLE", v)
	case int64:
		if c != nil && c.Type == policy.Date {
			return "DATE '" + policy.FormatDate(v) + "'"
		}
		if c != nil && c.Type == policy.Timestamp {
			return fmt.Sprintf("make_timestamp(%d)", v)
		}
	}
	return fmt.Sprint(v)
}

var token = regexp.MustCompile(`'(?:[^']|'')*'|[A-Za-z_][A-Za-z_0-9.]*|[0-9.]+|\s+|.`)

// strange is what is put into a text: words of the grammar, functions of PostgreSQL and DuckDB that
// must not exist here, and what breaks readers.
var strange = strings.Fields(
	`SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET UNION ALL INTERSECT EXCEPT DISTINCT AS ON USING JOIN LEFT RIGHT FULL NATURAL
	CROSS LATERAL WITH RECURSIVE MATERIALIZED CASE WHEN THEN ELSE END CAST NULL TRUE FALSE AND OR NOT IN EXISTS ANY SOME BETWEEN SYMMETRIC LIKE ILIKE SIMILAR IS
	UNKNOWN OVER PARTITION WINDOW FILTER WITHIN VALUES TABLE ONLY TABLESAMPLE FETCH FIRST ROWS TIES FOR UPDATE INTO ROLLUP( CUBE( GROUPING SETS ARRAY[ ROW( COLLATE
	"C" INTERVAL DATE TIMESTAMP EXTRACT( COALESCE( NULLIF( GREATEST( count( sum( avg( min( max( median( variance( stddev( percentile_cont( string_agg( array_agg(
	json_agg( first( last( any_value( mode( corr( regr_slope( bit_and( approx_count_distinct( histogram( list( arg_max( quantile_cont( reservoir_quantile(
	random() setseed( gen_random_uuid() now() clock_timestamp() pg_sleep( txid_current() version() current_setting( set_config( pg_read_file( lo_import( dblink(
	query_to_xml( generate_series( unnest( read_csv( read_parquet( read_text( glob( query( query_table( duckdb_tables() pragma_table_info( getenv( hash( error(
	sqrt( ln( exp( power( factorial( repeat( regexp_matches( to_date( strptime( row_number() lag( ntile( ctid rowid xmin tableoid oid * ( ) [ ] { } , ; : :: . .. =
	<> != < <= > >= + - * / % ^ | || & # ~ !~ @> ? $1 $$ -- /* */ ' " "" '' E'\' U&'\0061' X'1F' B'01' 1e400 -0 0x1F 1_000 .5 5. 99999999999999999999999999
	é e` + "\u0301" + ` ` + "\u200b" + ` ﬁ İ ` + "\U0001F600" + ` ` + "\ufeff" + ` ` + "\u202e" + ` ` + "\u00a0" + ` released_0 pid patients visits codes information_schema.tables`)

// Text makes a text near the grammar: a question in which some words are others, or twice, or not
// there, or in another place.
func (m *Maker) Text(d Dice) string {
	words := token.FindAllString(m.Question(d), -1)
	for range 1 + d.Below(2) {
		i := d.Below(len(words))
		switch d.Below(9) {
		case 0:
			words = append(words[:i:i], words[i+1:]...)
		case 1:
			words = append(words[:i+1:i+1], words[i:]...)
		case 2:
			k := d.Below(len(words))
			words[i], words[k] = words[k], words[i]
		case 3:
			words[i] = " " + detrand.Pick(d, strange) + " "
		case 4, 5:
			words = append(words[:i:i], append([]string{" " + detrand.Pick(d, strange) + " "}, words[i:]...)...)
		case 6:
			words[i] = "(" + words[i] + ")"
		case 7:
			words = words[:i+1]
		case 8: // a piece of itself in the middle
			k := i + d.Below(len(words)-i)
			words = append(words[:k:k], append(append([]string{}, words[i:k]...), words[k:]...)...)
		}
		if len(words) == 0 {
			return ""
		}
	}
	return strings.Join(words, "")
}

// letters are characters of patterns and of the texts that they are held against: of ASCII, those
// whose case is peculiar, marks, ends of planes, and signs of patterns themselves.
var letters = []string{"a", "b", "Z", "z", "9", "0", "_", " ", "-", "é", "É", "ß", "ẞ", "k", "K", "\u212a", "s", "ſ", "σ", "ς",
	"Σ", "İ", "ı", "i", "\n", "\t", "\r", "\v", "\u0085", "\u00a0", "\u2028", "\u0301", "\ud7ff", "\U0001F600",
	"\U0010ffff", ".", "*", "(", "]", "\\", "'"}

// Subject makes a text that patterns are held against.
func Subject(d Dice) string {
	var b strings.Builder
	if d.One(4) {
		b.WriteString(Target)
	}
	for range d.Below(7) {
		b.WriteString(detrand.Pick(d, letters))
	}
	return b.String()
}

// Pattern makes a regular expression of PostgreSQL's; some are not taken.
func Pattern(d Dice) string {
	out := branches(d, 3)
	if d.One(12) {
		out = "(?i)" + out
	}
	return out
}

func branches(d Dice, depth int) string {
	out := branch(d, depth)
	for d.One(4) {
		out += "|" + branch(d, depth)
	}
	return out
}

func branch(d Dice, depth int) string {
	var b strings.Builder
	if d.One(5) {
		b.WriteString(detrand.Pick(d, []string{"^", `\A`}))
	}
	for range 1 + d.Below(4) {
		b.WriteString(atom(d, depth))
		switch d.Below(12) {
		case 0:
			b.WriteString("*")
		case 1:
			b.WriteString("+?")
		case 2:
			b.WriteString("?")
		case 3:
			n := d.Below(4)
			b.WriteString(detrand.Pick(d, []string{fmt.Sprintf("{%d}", n), fmt.Sprintf("{%d,}", n),
				fmt.Sprintf("{%d,%d}", n, n+d.Below(3))}))
		}
	}
	if d.One(5) {
		b.WriteString(detrand.Pick(d, []string{"$", `\Z`}))
	}
	return b.String()
}

func atom(d Dice, depth int) string {
	switch d.Below(12) {
	case 0:
		return "."
	case 1:
		return detrand.Pick(d, []string{`\d`, `\w`, `\s`, `\D`, `\W`, `\S`, `\y`, `\YZ`, `\mZ`, `z\M`, `\n`, `\t`, `\u00e9`})
	case 2, 3:
		return class(d)
	case 4, 5:
		if depth > 0 {
			return detrand.Pick(d, []string{"(", "(?:"}) + branches(d, depth-1) + ")"
		}
	case 6:
		return Target
	}
	return plainly(detrand.Pick(d, letters))
}

// plainly is a character of a text as a pattern writes it.
func plainly(c string) string {
	if strings.Contains(`.*+?()[]{}|^$\`, c) {
		return `\` + c
	}
	return c
}

func class(d Dice) string {
	var b strings.Builder
	b.WriteString("[")
	if d.One(3) {
		b.WriteString("^")
	}
	for range 1 + d.Below(3) {
		b.WriteString(detrand.Pick(d, []string{"a-f", "0-9", "Z", "_", "é-ü", "[:alpha:]", "[:space:]", "[:punct:]", `\d`, `\w`,
			"\\u0000-\\u007f", ".", "(", `\\`, "\U0001F600-\U0001F64F"}))
	}
	return b.String() + "]"
}

func Similar(d Dice) string {
	var b strings.Builder
	for range 1 + d.Below(4) {
		b.WriteString(detrand.Pick(d, []string{"%", "_", "(a|" + Target + ")", "[a-z]+", "Z", "z{1,2}", ".", "^", `\%`, "é",
			"[^[:digit:]]*", "9?"}))
	}
	return b.String()
}
