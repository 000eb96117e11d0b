package trino

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/testtrino"
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
	if l.catalog != "memory" && (typ == "date" || base(typ) == "timestamp" || base(typ) == "timestamp with time zone") {
		all = slices.DeleteFunc(all, func(v stored) bool {
			return strings.Contains(v.sql, "-290308") || strings.Contains(v.sql, "294247") || strings.Contains(v.sql, "-69387") ||
				strings.Contains(v.sql, "73326")
		})
	}
	return all
}

// store makes a table of people who have one hostile value in each column, and behind them one with
// bytes that are no text, of whom nothing is expected but that they end nothing.
func (l layout) store(t *testing.T, s schema, wild string) (rows []sample.Row) {
	t.Helper()
	list, count := []string{"u bigint"}, 0
	for _, c := range sample.Columns {
		list = append(list, c.Name+" "+l.types[c.Name])
		count = max(count, len(l.values(l.types[c.Name])))
	}
	s.Run(t, "CREATE TABLE "+s.table("t")+" ("+strings.Join(list, ", ")+", "+l.beside+")")
	names, values := []string{"u"}, []string{}
	for k := range count {
		row, cells := sample.Row{}, []string{fmt.Sprintf("BIGINT '%d'", k)}
		for i, c := range sample.Columns {
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
	for n, l := range layouts {
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
			for _, c := range sample.Columns {
				names = append(names, c.Name)
			}
			asked := l.compare(t, e, rows, names)
			for seed := range usually(2, 60) {
				asked += l.compare(t, e, rows, rapid.Custom(func(rt *rapid.T) (all []string) {
					for range 20 {
						all = append(all, sample.DrawAny(rt, 3))
					}
					return all
				}).Example(*seeds+1000*n+seed))
			}
			t.Logf("%d expressions were compared on %d rows", asked, len(rows))
		})
	}
}

// compare holds expressions against what they mean.
func (l layout) compare(t *testing.T, e *Engine, rows []sample.Row, texts []string) int {
	t.Helper()
	var known []string
	var exprs []tree.Expr
	for _, text := range texts {
		if x, ok := argument(e, text); ok {
			known, exprs = append(known, text), append(exprs, x)
		}
	}
	for _, d := range differences(t, e, rows, known, exprs) {
		t.Error(d)
	}
	return len(exprs)
}
