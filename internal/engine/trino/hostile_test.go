package trino

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// stored is a value of a column, as SQL that is cast to the column's type, and what is read: an
// int64, a float64, a text, a truth value, a day or a time; or nothing.
type stored struct {
	sql  string
	read any
}

// wholes are whole numbers at the ends of a type, and some that are no 64 bits.
func wholes(ends ...int64) []stored {
	out := []stored{{"NULL", nil}, {"0", int64(0)}, {"-1", int64(-1)}, {"3", int64(3)}}
	for _, n := range ends {
		out = append(out, stored{fmt.Sprintf("DECIMAL '%d'", n), n})
	}
	return out
}

const nines = "99999999999999999999999999999999999999"

// atEnds are the values of each type that somebody may have: those at its ends, and those that are
// no number, no time or no text elsewhere.
var atEnds = map[string][]stored{
	"tinyint":  wholes(math.MinInt8, math.MaxInt8),
	"smallint": wholes(math.MinInt16, math.MaxInt16),
	"integer":  wholes(math.MinInt32, math.MaxInt32),
	"bigint":   wholes(math.MinInt64, math.MaxInt64, math.MinInt64+1, 1<<53+1),
	// A number that 64 bits do not hold is none, where the lattice is that of the integers.
	"decimal(38,0)": append(wholes(math.MinInt64, math.MaxInt64), stored{"DECIMAL '" + nines + "'", 1e38},
		stored{"DECIMAL '-" + nines + "'", -1e38}, stored{"DECIMAL '9223372036854775808'", 0x1p63}),
	"decimal(38,38)": {{"NULL", nil}, {"0", 0.0}, {"DECIMAL '0." + nines + "'", 1.0}, {"DECIMAL '-0." + nines + "'", -1.0},
		{"DECIMAL '0.25'", 0.25}, {"DECIMAL '0.00000000000000000000000000000000000001'", 1e-38}},
	"decimal(38,10)": {{"NULL", nil}, {"DECIMAL '1234567890123456789012345678.0123456789'", 1234567890123456789012345678.0123456789},
		{"DECIMAL '-0.0000000001'", -1e-10}, {"DECIMAL '9999999999999999999999999999.9999999999'", 1e28}, {"DECIMAL '7.5'", 7.5}},
	"decimal(18,3)": {{"NULL", nil}, {"DECIMAL '999999999999999.999'", 999999999999999.999}, {"DECIMAL '-999999999999999.999'",
		-999999999999999.999}, {"DECIMAL '0.005'", 0.005}, {"DECIMAL '0.015'", 0.015}},
	"real": {{"NULL", nil}, {"nan()", math.NaN()}, {"infinity()", math.Inf(1)}, {"-infinity()", math.Inf(-1)},
		{"REAL '-0'", math.Copysign(0, -1)}, {"REAL '3.4028235e38'", float64(math.MaxFloat32)}, {"REAL '-1.4e-45'", -0x1p-149},
		{"REAL '0.1'", float64(float32(0.1))}},
	"double": {{"NULL", nil}, {"nan()", math.NaN()}, {"infinity()", math.Inf(1)}, {"-infinity()", math.Inf(-1)},
		{"DOUBLE '-0'", math.Copysign(0, -1)}, {"DOUBLE '1.7976931348623157e308'", math.MaxFloat64}, {"DOUBLE '-4.9e-324'", -0x1p-1074},
		{"DOUBLE '9223372036854775807'", 0x1p63}, {"DOUBLE '0.1'", 0.1}},
	"boolean": {{"NULL", nil}, {"true", true}, {"false", false}},
	"varchar": texts("", " ", "\x00", "a\x00b", "é", "e\u0301", "\u200b\u202e'\"", "\U0010ffff", "a ", strings.Repeat("aé", 3000)),
	"varchar(9)": texts("", " ", "\x00", "a\x00b", "é", "\U0010ffff\U0010ffff\U0010ffff", "a ",
		"\U0001F468\u200d\U0001F469"),
	// What it is padded with is no part of it, and so neither are blanks that were.
	"char(9)": {{"NULL", nil}, {"''", ""}, {"' '", ""}, {"'a '", "a"}, {constant("\x00"), "\x00"}, {constant("é"), "é"},
		{constant("\U0010ffff"), "\U0010ffff"}, {"'123456789'", "123456789"}},
	"uuid": {{"NULL", nil}, {"'00000000-0000-0000-0000-000000000000'", "00000000-0000-0000-0000-000000000000"},
		{"'ffffffff-ffff-ffff-ffff-ffffffffffff'", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
		{"'80000000-0000-0000-8000-000000000000'", "80000000-0000-0000-8000-000000000000"}},
	"date": {{"NULL", nil}, {"DATE '-5877641-06-23'", tree.Day(math.MinInt32)}, {"DATE '5881580-07-11'", tree.Day(math.MaxInt32)},
		{"DATE '0001-01-01'", tree.Day(-719162)}, {"DATE '0000-12-31'", tree.Day(-719163)}, {"DATE '9999-12-31'", tree.Day(2932896)},
		{"DATE '1582-10-10'", tree.Day(-141432)}, {"DATE '2024-02-29'", tree.Day(19782)}},
	"timestamp(0)":                 times(0, "-290308-12-21 19:59:06", firstMicros, "294247-01-10 04:00:54", lastMicros-775807),
	"timestamp(3)":                 times(3, "-290308-12-21 19:59:06.001", firstMicros+1000, "294247-01-10 04:00:54.775", lastMicros-807),
	"timestamp(6)":                 times(6, "-290308-12-21 19:59:06.000001", firstMicros+1, latest, lastMicros),
	"timestamp(9)":                 times(9, "-290308-12-21 19:59:06.000001999", firstMicros+1, latest+"999", lastMicros),
	"timestamp(12)":                times(12, "-290308-12-21 19:59:06.000001999999", firstMicros+1, latest+"999999", lastMicros),
	"timestamp(3) with time zone":  zoned("752", -2251799813685248_000, "247", 2251799813685247_000),
	"timestamp(6) with time zone":  zoned("752000", -2251799813685248_000, "247999", 2251799813685247_999),
	"timestamp(12) with time zone": zoned("752000000000", -2251799813685248_000, "247999999999", 2251799813685247_999),
}

// latest is the last time that there is, to the microsecond.
const latest = "294247-01-10 04:00:54.775807"

// firstMicros and lastMicros are the first second that Trino has the whole of, and its last time.
const firstMicros, lastMicros = -9223372036854000000, 9223372036854775807

func texts(all ...string) []stored {
	out := []stored{{"NULL", nil}}
	for _, s := range all {
		out = append(out, stored{constant(s), s})
	}
	return out
}

// times are some without a zone: the first and the last, one of the first second, which Trino has
// not the whole of and which is none, and what is finer than is read.
func times(digits int, first string, firstRead int64, last string, lastRead int64) []stored {
	out := []stored{{"NULL", nil}, {"TIMESTAMP '" + first + "'", tree.Moment(firstRead)},
		{"TIMESTAMP '" + last + "'", tree.Moment(lastRead)},
		{"TIMESTAMP '0001-01-01 00:00:00'", tree.Moment(-62135596800_000000)}, {"TIMESTAMP '2024-02-29 23:59:59'",
			tree.Moment(1709251199_000000)}}
	if digits > 0 {
		out = append(out, stored{fmt.Sprintf("date_add('millisecond', -700, TIMESTAMP '-290308-12-21 19:59:06.%s')",
			strings.Repeat("0", digits)), withinFirst{}})
		out = append(out, stored{"TIMESTAMP '1969-12-31 23:59:59." + strings.Repeat("9", digits) + "'",
			tree.Moment(-int64(math.Pow10(6 - min(digits, 6))))})
	}
	return out
}

// withinFirst is a time of the first second: it is on a day, and no time.
type withinFirst struct{}

// zoned are times with a zone, which begin and end elsewhere.
func zoned(first string, firstRead int64, last string, lastRead int64) []stored {
	return []stored{{"NULL", nil}, {"TIMESTAMP '-69387-04-22 03:45:14." + first + " UTC'", tree.Moment(firstRead)},
		{"TIMESTAMP '73326-09-11 20:14:45." + last + " UTC'", tree.Moment(lastRead)},
		{"TIMESTAMP '2024-02-29 23:59:59 -14:00'", tree.Moment(1709301599_000000)},
		{"TIMESTAMP '2024-03-10 02:30:00 Europe/Berlin'", tree.Moment(1710034200_000000)},
		{"TIMESTAMP '0001-01-01 00:00:00 +14:00'", tree.Moment(-62135647200_000000)}}
}

// layout is how the columns of a sample are stored in a catalog, by their names, and what is beside
// them, of types that cannot be read.
type layout struct {
	catalog string
	types   map[string]string
	beside  string
}

var layouts = []layout{
	{"memory", map[string]string{"i": "tinyint", "n": "smallint", "j": "decimal(38,0)", "g": "decimal(38,0)", "d": "real",
		"e": "decimal(38,38)", "r": "decimal(38,10)", "s": "char(9)", "b": "boolean", "y": "timestamp(12)", "z": "timestamp(0)",
		"m": "timestamp(12) with time zone", "q": "timestamp(9)", "x": "varchar"},
		"a1 array(bigint), a2 row(a real), a3 map(varchar, bigint), a4 json, a5 time(3), a6 varbinary, a7 ipaddress"},
	{"memory", map[string]string{"i": "integer", "n": "bigint", "j": "bigint", "g": "bigint", "d": "decimal(38,0)", "e": "double",
		"r": "decimal(18,3)", "s": "varchar(9)", "b": "boolean", "y": "date", "z": "date", "m": "timestamp(3) with time zone",
		"q": "timestamp(12)", "x": "uuid"}, "a1 interval day to second"},
	{"hive", map[string]string{"i": "tinyint", "n": "smallint", "j": "bigint", "g": "integer", "d": "decimal(18,3)", "e": "real",
		"r": "double", "s": "char(9)", "b": "boolean", "y": "date", "z": "date", "m": "timestamp(3)", "q": "timestamp(3)",
		"x": "varchar"}, "a1 array(bigint), a2 row(a real), a3 map(varchar, bigint), a4 varbinary"},
	{"iceberg", map[string]string{"i": "integer", "n": "bigint", "j": "decimal(38,0)", "g": "integer", "d": "double",
		"e": "decimal(38,38)", "r": "real", "s": "varchar", "b": "boolean", "y": "date", "z": "date",
		"m": "timestamp(6) with time zone", "q": "timestamp(6)", "x": "uuid"},
		"a1 array(bigint), a2 row(a real), a3 map(varchar, bigint), a4 time(6)"},
}

// values are those of a column's type that a catalog can hold. Parquet has dates and times of
// Trino's from the year 1 to the year 9999 for certain.
func (l layout) values(typ string) []stored {
	all := slices.Clone(atEnds[typ])
	if l.catalog != "memory" && (typ == "date" || baseType(typ) == "timestamp" || baseType(typ) == "timestamp with time zone") {
		all = slices.DeleteFunc(all, func(v stored) bool {
			return strings.Contains(v.sql, "-290308") || strings.Contains(v.sql, "294247") || strings.Contains(v.sql, "-69387") ||
				strings.Contains(v.sql, "73326")
		})
	}
	return all
}

// store makes a table of people who have one hostile value in each column, and behind them one with
// bytes that are no text, of whom nothing is expected but that they end nothing.
func (l layout) store(t *testing.T, s schema, wild string) (rows []generate.Row) {
	t.Helper()
	list, count := []string{"u bigint"}, 0
	for _, c := range generate.Columns {
		list = append(list, c.Name+" "+l.types[c.Name])
		count = max(count, len(l.values(l.types[c.Name])))
	}
	s.Run(t, "CREATE TABLE "+s.table("t")+" ("+strings.Join(list, ", ")+", "+l.beside+")")
	names, values := []string{"u"}, []string{}
	for k := range count {
		row, cells := generate.Row{}, []string{fmt.Sprintf("BIGINT '%d'", k)}
		for i, c := range generate.Columns {
			typ := l.types[c.Name]
			all := l.values(typ)
			if c.Name == "n" { // which the policy says is never NULL
				all = slices.DeleteFunc(all, func(v stored) bool { return v.read == nil })
			}
			v := all[(k+i*(k/len(all)))%len(all)] // where there are fewer values, they meet others
			row[c.Name] = v.read
			cells = append(cells, "CAST("+v.sql+" AS "+typ+")")
			if k == 0 {
				names = append(names, c.Name)
			}
		}
		rows, values = append(rows, row), append(values, "("+strings.Join(cells, ", ")+")")
	}
	s.Run(t, "INSERT INTO "+s.table("t")+" ("+strings.Join(names, ", ")+") VALUES "+strings.Join(values, ", "))
	names, values = []string{"u"}, []string{"1000"}
	for _, c := range []string{"s", "x"} {
		if l.types[c] != "uuid" {
			names, values = append(names, c), append(values, "CAST(k AS "+l.types[c]+")")
		}
	}
	s.Run(t, "INSERT INTO "+s.table("t")+" ("+strings.Join(names, ", ")+") SELECT "+strings.Join(values, ", ")+" FROM "+wild)
	return rows
}

// newWild is a table of texts that are none.
func newWild(t *testing.T) string {
	t.Helper()
	in := newSchema(t, "hive")
	raw := in.table("raw")
	in.Run(t, "CREATE TABLE "+raw+" (k varbinary)", "INSERT INTO "+raw+" VALUES X'ff', X'61c3', X'eda080', X'f8888080', X'c080', "+
		"X'f4908080', X'80bf'")
	at := in.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+raw+" LIMIT 1")[0][0]
	in.Run(t, "CREATE TABLE "+in.table("wild")+" (k varchar) WITH (external_location = '"+at+"')")
	return in.table("wild")
}

// read is what a sample's column has of a value that is stored in another type: whole numbers where
// the lattice is that of the integers, and day where a time is read as one.
func read(c *policy.Column, v any) any {
	switch x := v.(type) {
	case withinFirst:
		if c.Type == policy.Date {
			return tree.Day(-106751992)
		}
		return nil
	case int64:
		if c.Type == policy.Decimal {
			return float64(x)
		}
	case float64:
		if c.Type == policy.Integer && c.Granularity.IsInt() && c.Granularity.Num().IsInt64() && c.Granularity.Num().Int64() == 1 {
			return nil // 64 bits do not hold it
		}
	case tree.Moment:
		if c.Type == policy.Date {
			day := int64(x) / 86400_000000
			if int64(x)%86400_000000 < 0 {
				day--
			}
			return tree.Day(day)
		}
	}
	return v
}

// TestHostileValues: no value of any type that Trino has ends a question, or is read as anything
// but what it is elsewhere, in the memory, in Parquet of Hive's and in Iceberg.
func TestHostileValues(t *testing.T) {
	wild := newWild(t)
	for _, n := range daily.Sample(t, []int{0, 1, 2, 3}, 2) {
		l := layouts[n]
		t.Run(fmt.Sprint(l.catalog, " ", n), func(t *testing.T) {
			s := newSchema(t, l.catalog)
			rows := l.store(t, s, wild)
			e := open(t, s.dataset(t, sampleKeys()))
			for k := range rows {
				for name, v := range rows[k] {
					rows[k][name] = read(e.dataset.Tables["t"].Columns[name], v)
				}
			}
			var names []string
			for _, c := range generate.Columns {
				names = append(names, c.Name)
			}
			// See compare in dialect.go.
			names = append(names, "CAST(greatest(i / 2.0, CAST(d AS float8)) IN "+
				"(least(e / j, i / 2.0), greatest(i / 2.0, CAST(d AS float8))) AS text)")
			asked, texts := 0, names
			first := firstSeed(t, 1, 60)
			for seed := range rounds(1, 60) {
				texts = append(texts, rapid.Custom(func(rt *rapid.T) (all []string) {
					for range 20 {
						all = append(all, generate.DrawAny(rt, 3))
					}
					return all
				}).Example(first+1000*n+seed)...)
				asked += l.compare(t, e, rows, texts)
				texts = nil
			}
			t.Logf("%d expressions were compared on %d rows", asked, len(rows))
		})
	}
}

func (l layout) compare(t *testing.T, e *Engine, rows []generate.Row, texts []string) int {
	t.Helper()
	var known []string
	var exprs []tree.Expr
	for _, text := range texts {
		if x, ok := generate.Argument(e.dataset, text); ok {
			known, exprs = append(known, text), append(exprs, x)
		}
	}
	for _, d := range differences(t, e, rows, known, exprs) {
		t.Error(d)
	}
	return len(exprs)
}

// A statement that fails if and only if a row reaches an operator tells of that row exactly. So all
// that is printed is listed here, with what it was tried with; README.md says what keeps the
// rest away. What is printed and not listed fails a test.

// ends is a table of one row with what stands at the ends of types.
const ends = "(SELECT BIGINT '1' AS i, BIGINT '9223372036854775807' AS x, BIGINT '-9223372036854775808' AS n, DECIMAL '" + nines +
	"' AS d, nan() AS q, infinity() AS f, VARCHAR 'abc' AS s, DATE '-5877641-06-23' AS d0, DATE '5881580-07-11' AS d1, " +
	"DATE '0001-01-01' AS y1, DATE '9999-12-31' AS y9, CAST(NULL AS bigint) AS z, rpad('x', 1048576, 'y') AS long)"

// tried are the functions, with what TRY makes a value or NULL of.
var tried = map[string][]string{
	"abs": {"abs(n)", "abs(-d)", "abs(q)"}, "sign": {"sign(n)", "sign(d)", "sign(q)"}, "truncate": {"truncate(f)"},
	"round": {"round(f)"}, "floor": {"floor(q)"}, "ceil": {"ceil(f)"}, "sqrt": {"sqrt(-1E0)"}, "ln": {"ln(-1E0)"},
	"log10": {"log10(0E0)"}, "exp": {"exp(1000E0)"}, "power": {"power(0E0, -i)", "power(-1E0, 0.5E0)"}, "is_finite": {"is_finite(q)"},
	"nullif": {"nullif(i, 1)"}, "coalesce": {"coalesce(z, x)"}, "greatest": {"greatest(x, z)"},
	"array_max": {"array_max(ARRAY[q, f])", "array_max(filter(ARRAY[z], v -> v IS NOT NULL))"}, "array_min": {"array_min(ARRAY[q, f])"},
	"filter": {"filter(ARRAY[z], v -> v IS NOT NULL)"}, "transform": {"transform(ARRAY[i], v -> v / 0)"},
	"reduce": {"reduce(ARRAY[1], 0, (a, b) -> CASE a WHEN 9 THEN 1 END, a -> a IN (1))"}, "element_at": {"element_at(ARRAY[1], i + 5)",
		"element_at(ARRAY[1], i - 1)"}, "map": {"element_at(map(ARRAY[i, i], ARRAY[1, 2]), i)"},
	"bitwise_and": {"bitwise_and(x, n)"}, "bitwise_xor": {"bitwise_xor(x, n)"}, "bitwise_right_shift": {"bitwise_right_shift(x, 70)"},
	"to_big_endian_64": {"to_big_endian_64(n)"}, "from_big_endian_64": {"from_big_endian_64(to_utf8(s))"},
	"xxhash64": {"xxhash64(to_utf8(long))"}, "to_hex": {"to_hex(to_utf8(long))"},
	"to_utf8": {"to_utf8(long)"}, "from_utf8": {"from_utf8(X'ff')"},
	"length": {"length(long)"}, "lower": {"lower(long)"}, "upper": {"upper(long)"}, "strpos": {"strpos(s, '')"},
	"starts_with": {"starts_with(s, '')"}, "substr": {"substr(s, n)", "substr(s, -6)"}, "substring": {"substring(s, 1048576, x)"},
	"lpad": {"lpad(s, 1000, 'ab')", "lpad(s, x, 'a')", "lpad(s, 9, '')"}, "rpad": {"rpad(s, x, 'a')"},
	"trim": {"trim(BOTH 'y' FROM long)", "trim(BOTH '' FROM s)"}, "rtrim": {"rtrim(s)"}, "translate": {"translate(long, 'y', 'z')"},
	"replace": {"replace(long, 'y', 'zz')", "replace(s, '', 'x')"}, "split_part": {"split_part(s, 'b', x)", "split_part(s, 'b', i - 1)"},
	"split":     {"split(s, '')", "split(long, 'y')", "CAST(split(s, 'b') AS array(bigint))", "map(split(s, 'b'), ARRAY[i])"},
	"concat_ws": {"concat_ws('-', s, NULL)", "concat_ws('-', long, long)"}, "regexp_extract": {"regexp_extract(s, '(')"},
	"regexp_extract_all": {"regexp_extract_all(s, '(?s).')"}, "codepoint": {"codepoint(CAST(s AS varchar(1)))",
		"codepoint(CAST(substr(s, 9) AS varchar(1)))"},
	"date_add": {"date_add('month', -120000, y1)", "date_add('day', 4000000, date_add('month', 120000, CAST(y9 AS timestamp(6))))",
		"date_add('day', x, CAST(y9 AS timestamp(6)))"}, "date_diff": {"date_diff('day', DATE '1970-01-01', d0)"},
	"date_trunc":          {"date_trunc('week', y1)", "date_trunc('year', CAST(y9 AS timestamp(6)))"},
	"from_unixtime_nanos": {"from_unixtime_nanos(d)"},
	"year":                {"year(d0)"}, "quarter": {"quarter(d1)"}, "month": {"month(d0)"}, "week": {"week(d0)"}, "day": {"day(d1)"},
	"day_of_week": {"day_of_week(d0)"}, "day_of_year": {"day_of_year(d1)"}, "year_of_week": {"year_of_week(d0)"},
	"try": {"TRY(1 / 0)"}, "try_cast": {"TRY_CAST(d AS bigint)", "TRY_CAST(q AS bigint)", "TRY_CAST(s AS timestamp(6))"},
	"cast": {"CAST(d AS bigint)", "CAST(f AS " + decimal + ")", "CAST(s AS date)", "CAST(s AS boolean)", "CAST(s AS decimal(38,5))",
		"CAST(x AS decimal(18,0))", "CAST(CAST('" + nines + "9' AS varchar) AS " + decimal + ")"},
	"": {"x + 1", "n - 1", "x * 2", "n / -1", "i / (i - i)", "i % (i - i)", "d + d", "d * d", "d % CAST(i - i AS " + decimal + ")", "-n",
		"long || 'x'", `s LIKE 'a\' ESCAPE '\'`},
	// No rows are too many for these, and no values.
	"count": {}, "max": {}, "row_number": {}, "rank": {}, "dense_rank": {}, "first_value": {}, "last_value": {}, "unnest": {}, "exists": {},
	// These are in uncaught. How many is a constant from 1 to 1,000,000 (of lag and lead: 0).
	"sum": {}, "min": {}, "row": {}, "ntile": {}, "nth_value": {}, "lag": {}, "lead": {},
}

// uncaught are statements about the row that fail inside of TRY, or where there is none, and about
// no row do not: README.md says for each what keeps it away.
var uncaught = []string{
	"SELECT TRY(date_add('day', x, DATE '1970-01-01')) FROM t", "SELECT TRY(date_add('month', 1, d1)) FROM t",
	"SELECT TRY(date_trunc('year', d0)) FROM t", "SELECT TRY(codepoint(CAST(s AS varchar(1)))) FROM (SELECT w AS s, i FROM t) AS t",
	"SELECT min(ROW(i, z), 3) FROM (SELECT i, z FROM t UNION ALL SELECT i, z FROM t)", "SELECT min(i, 10001) FROM t",
	"SELECT sum(d) FROM (SELECT d FROM t UNION ALL SELECT d FROM t)", "SELECT sum(x) FROM (SELECT x FROM t UNION ALL SELECT x FROM t)",
	"SELECT ntile(i - 1) OVER (ORDER BY i) FROM t", "SELECT nth_value(i, i - 1) OVER (ORDER BY i) FROM t",
	"SELECT long || 'x' FROM t", "SELECT 1 / 0 FROM t",
}

// words are those of SQL that stand before brackets.
var words = strings.Fields("all and array as between by case decimal else from in into join not on or over select then timestamp " +
	"values varchar when where with char date double bigint")

// TestPrinted: no function is printed that was not tried.
func TestPrinted(t *testing.T) {
	named := regexp.MustCompile(`([A-Za-z_][A-Za-z_0-9]+) ?\(`)
	quoted := regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"`)
	found := map[string]string{}
	for way := range 2 {
		for _, c := range corpora(t) {
			_, all := spelledAll(t, c, way)
			for _, text := range slices.Concat(all...) {
				for _, m := range named.FindAllStringSubmatch(quoted.ReplaceAllString(text, "''"), -1) {
					found[strings.ToLower(m[1])] = "a statement"
				}
			}
		}
	}
	// The questions of the corpus do not need all of them: those that the printers write out.
	for _, pattern := range []string{"*.go", "../../sqlgen/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			for _, text := range literals(t, file) {
				for _, m := range named.FindAllStringSubmatch(text, -1) {
					found[strings.ToLower(m[1])] = file
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := tried[name]; !ok && !slices.Contains(words, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("%s is printed (%s): try it at the ends of its arguments, in hostile_test.go and in README.md", name, found[name])
		}
	}
	for name := range sqlDialect.Functions {
		if _, ok := tried[name]; !ok && !slices.Contains(ours, name) {
			t.Errorf("%s is a function of the planner's: say in hostile_test.go what is printed for it", name)
		}
	}
}

// ours are functions of the planner that are printed as others, and elsewhere is what stands before
// brackets in texts that no statement of a question has: errors, and other databases.
var (
	ours = strings.Fields("trunc || add_days add_micros days_between extract add_interval timestamp date parse_integer parse_decimal " +
		"parse_boolean parse_date parse_timestamp text matches right ltrim btrim concat least")
	elsewhere = strings.Fields("approx_distinct sequence")
)

// literals are the texts of a file that is no test.
func literals(t *testing.T, file string) (out []string) {
	t.Helper()
	if strings.HasSuffix(file, "_test.go") {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out = append(out, s)
			}
		case *ast.CallExpr: // call("TRY") prints a function, too
			if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) == 1 && (id.Name == "call" || id.Name == "extreme") {
				if l, ok := n.Args[0].(*ast.BasicLit); ok {
					out = append(out, strings.Trim(l.Value, `"`)+"(")
				}
			}
		}
		return true
	})
	return out
}

// TestRaises: what is said of functions here is so.
func TestRaises(t *testing.T) {
	s := newSchema(t, "memory")
	wild := newWild(t)
	s.Run(t, "CREATE TABLE "+s.table("t")+" AS SELECT e.*, k AS w FROM "+ends+" AS e CROSS JOIN (SELECT max(k) AS k FROM "+wild+") AS w")
	about := func(text, where string) error {
		from := "(SELECT * FROM " + s.table("t") + " WHERE " + where + ") AS t"
		text = regexp.MustCompile(`FROM t\b`).ReplaceAllLiteralString(text, "FROM "+from)
		rows, err := s.DB(t, testtrino.Reader).QueryContext(t.Context(), text)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(tried)) {
		for _, x := range tried[name] {
			list = append(list, fmt.Sprintf("CASE WHEN TRY(%s) IS NULL THEN 1 ELSE 0 END", x))
		}
	}
	list = append(list, hash("long", "s", "z", "long"), printRank("'salt'",
		sqlgen.Ranked{Text: "long", Type: varchar}, sqlgen.Ranked{Text: "z", Type: bigint}))
	if err := about("SELECT "+strings.Join(list, ", ")+" FROM t", "i = 1"); err != nil {
		t.Errorf("TRY does not catch all: %v", err)
	}
	together := make([]string, len(uncaught))
	for i, text := range uncaught {
		together[i] = "SELECT CAST(c AS json) FROM (" + text + ") AS s (c)"
	}
	if err := about(strings.Join(together, " UNION ALL "), "i = 2"); err != nil {
		t.Errorf("over no row: %v", err)
	}
	for _, text := range daily.Sample(t, uncaught, 6) {
		if err := about(text, "i = 1"); err == nil {
			t.Errorf("over one row this does not fail any more: %s", text)
		}
	}
}
