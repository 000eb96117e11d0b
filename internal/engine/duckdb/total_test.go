package duckdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// hostileKeys is a policy over columns that hold the worst values of their types.
const hostileKeys = `
tables:
  t:
    max_rows: 3
    max_groups: 2
    columns:
      i:  {type: integer, bounds: [-5, 5]}
      j:  {type: integer}
      k:  {type: integer}
      g:  {type: integer, bounds: [-100, 100], granularity: 10}
      d:  {type: decimal, bounds: [-5, 5], granularity: 0.01}
      e:  {type: decimal, granularity: 0.001}
      r:  {type: decimal}
      s:  {type: text, keys: ["", a, "a\nb", null]}
      b:  {type: boolean, keys: [true, false, null]}
      y:  {type: date, bounds: [2024-01-01, 2024-01-03]}
      z:  {type: date}
unit: t.u
`

// joinExpressions asks for several expressions in one question, or for each alone where all
// questions are asked. One that fails makes the whole question fail.
func joinExpressions(all []string, format, tail string) (out []string) {
	for some := range slices.Chunk(all, rounds(8, 1)) {
		var list []string
		for _, x := range some {
			list = append(list, fmt.Sprintf(format, x))
		}
		out = append(out, "SELECT "+strings.Join(list, ", ")+" FROM t"+tail)
	}
	return out
}

// corpus asks for every operation on every column, and for all of them at once. Conditions stand in
// a question with groups or in one without, by turns.
func corpus(turn int) []string {
	columns := []string{"i", "j", "k", "g", "d", "e", "r", "s", "b", "y", "z"}
	conditions := []string{
		"j + k > 0", "j - k > 0", "j / k > 0", "j % k > 0", "j % -1 = 0", "j / -1 > 0", "-j > 0", "j > 0.5",
		"j IN (1, 2.5, 9223372036854775807)",
		"j + 9223372036854775807 > 0", "j * 36028797018963968 / 1000000 > 0", "j * 100000000000000000 > 0",
		"k - -9223372036854775808 < 0", "j * 1000000 * 1000000 > k", "i % i = 0", "i / i = 1", "1 / i = 1",
		"j / 0 IS NULL", "j % 0 IS NULL", "d / i > 0.5", "d / e > 1", "e / j < 3", "i / 0.1 > 5", "d * d * d > 1", "d * e > 4",
		"e + j > 1.5", "e = 0.0005", "e > d",
		"r > 0", "r = 0", "r <> 1.5", "r < i", "r > j", "r IN (1, 2)", "r BETWEEN -1 AND 1.5", "d / i < r", "e / j > r", "j / 0.001 > r",
		"s = ''", "s < 'a'", "s IN ('a', 'b')", "s > 'é'", "b", "NOT b", "b = true", "b > false", "b IS NULL", "(i > 0) = b",
		"(i > 0) > (j > 0)",
		"y = '2024-01-01'", "z < '0001-01-01'", "z BETWEEN '1900-01-01' AND '9999-12-31'", "z > y", "z <> y", "NULL", "i = NULL",
		"NOT NULL", "i IN (1) OR NULL",
		"j >= -9223372036854775808", "j <= 9223372036854775807", "j = 1e35", "d > 1e-30", "i < 123456789012345678901234567890", "r < 1e35",
	}
	var out []string
	for _, c := range columns {
		conditions = append(conditions, c+" IS NULL", c+" IS NOT NULL", c+" = "+c, c+" <= "+c)
	}
	for _, x := range functionCorpus {
		conditions = append(conditions, "("+x+") IS NOT NULL")
	}
	for i, c := range conditions {
		if daily.Full() || (i+turn)%2 == 0 {
			out = append(out, "SELECT COUNT(*), SUM(i), AVG(d) FROM t WHERE "+c)
		}
		if daily.Full() || (i+turn)%2 == 1 {
			out = append(out, "SELECT b, COUNT(*), SUM(d) FROM t WHERE "+c+" GROUP BY b")
		}
	}
	out = append(out, joinExpressions(append(conditions, columns...), "COUNT(%[1]s)", "")...)
	sums := []string{"i", "g", "d", "i * d", "i / 2", "i % 3", "i % i", "g * i", "-d", "i - d * 2", "i / 0", "i % 0", "d * 0.5",
		"abs(d)", "round(d * 10)", "round(d / 3, 1)", "round(ln(abs(d)), 2)", "round(exp(i), 3)", "round(power(d, 3), -1)",
		"floor(sqrt(d))", "ceil(log10(i) * 100)",
		"CASE WHEN b THEN i WHEN r > 0 THEN d END", "coalesce(d, i, 0)", "nullif(i, 1)", "least(greatest(j, -5), 5)",
		"least(greatest(CAST(r AS bigint), 0), 9)", "CAST(r AS numeric(6,3))", "CAST(s AS numeric(6,3))",
		"length(left(s, 20))", "strpos(left(s, 7), 'a')", "extract(doy from y)", "extract(month from z)", "extract(dow from z + i)",
		"y - DATE '2024-01-01'", "width_bucket(j, 0, 10, 4)", "width_bucket(e, -1.5, 1, 4)", "CAST(b AS integer)", "sign(r)",
		"sign(k)"}
	out = append(out, joinExpressions(sums, "SUM(%[1]s), COUNT(%[1]s)", "")...)
	out = append(out, joinExpressions(sums, "AVG(%[1]s)", " GROUP BY s")...)
	for _, k := range []string{"i", "g", "s", "b", "y", "s, b", "b, y, i", "y, g, s, b"} {
		out = append(out, "SELECT COUNT(*), SUM(d), AVG(i) FROM t GROUP BY "+k)
	}
	return out
}

// functionCorpus has every function on every kind of column that it takes.
var functionCorpus = []string{
	"abs(j)", "abs(k)", "abs(r)", "abs(e)", "sign(r)", "round(r)", "round(r, 12)", "round(r, -12)", "floor(r)", "ceil(r)",
	"trunc(r, 3)", "round(e, 1)", "floor(e)", "ceil(e)", "trunc(e)", "round(j, -3)", "floor(j / 3.0)", "round(k, -12)",
	"sqrt(r)", "sqrt(j)", "ln(r)", "ln(k)", "log10(r)", "log(e)", "exp(r)", "exp(j)", "power(r, 2)", "power(r, -1.5)", "power(r, 0.5)",
	"power(j, 3)", "power(k, 13)", "power(r, 1000)", "power(r, 0)", "power(r, -1000)", "exp(ln(r))", "round(exp(r), 2)",
	"round(power(r, -3), 2)",
	"greatest(j, k)", "least(r, j)", "greatest(s, 'a')", "least(y, z)", "coalesce(r, j)", "nullif(j, k)", "nullif(s, '')",
	"CASE s WHEN 'a' THEN 1 WHEN '' THEN 2 END", "CASE WHEN r > 1e30 THEN j ELSE k END",
	"mod(j, k)", "width_bucket(j, 0, 10, 4)", "width_bucket(k, -9223372036854775807, 9223372036854775807, 1000000)",
	"length(s)", "lower(s)", "upper(s)", "trim(s)", "ltrim(s, 'xa')", "rtrim(s, 'xa')", "substring(s, 2)", "substring(s, 2, 5)",
	"substring(s, 1000000, 1000000)", "left(s, 3)", "right(s, 3)", "right(s, 1000000)", "left(s, 500) || right(s, 500)",
	"concat(left(s, 3), NULL)", "strpos(s, 'x')", "starts_with(s, 'x')",
	"s LIKE '%x%x%x%x%x%x%x_x%y'", "s LIKE '%_x_%_x_%_x_%_x_%_x_%y'", "s LIKE '_%'", "s ILIKE '%É%'", "s LIKE '%x'", "s LIKE ''",
	"s LIKE '%'",
	"z + 1", "z - 3650000", "z + CAST(j AS integer)", "z + j", "y + k", "z - y", "z - z", "z + INTERVAL '1 month'",
	"z - INTERVAL '9999 years'", "z + INTERVAL '4000000 days'", "y + INTERVAL '1 microsecond'",
	"extract(year from z)", "extract(week from z)", "extract(isoyear from z)", "extract(doy from z)", "extract(epoch from z)",
	"date_trunc('week', z)", "date_trunc('year', z)", "CAST(z AS timestamp)", "CAST(z AS timestamp) > '2024-01-01 00:00:00'",
	"CAST(j AS smallint)", "CAST(k AS integer)", "CAST(r AS integer)", "CAST(r AS bigint)", "CAST(r AS numeric(20,2))",
	"CAST(k AS numeric(4,2))", "CAST(s AS integer)", "CAST(s AS bigint)", "CAST(s AS numeric(18,12))", "CAST(s AS boolean)",
	"CAST(s AS date)", "CAST(s AS timestamp)",
	"CAST(i AS text)", "CAST(d AS text)", "CAST(e AS numeric(10,3))", "CAST(b AS text)", "CAST(y AS text)", "CAST(z AS text)",
	"CAST(g AS text)", "CAST(j AS boolean)", "CAST(j AS float8)", "CAST(k AS float8) * 1.5",
	"b IS TRUE", "b IS NOT UNKNOWN", "j IS DISTINCT FROM k", "r IS NOT DISTINCT FROM j", "s IS DISTINCT FROM NULL",
}

// momentCorpus is for a column z that is a timestamp.
var momentCorpus = []string{
	"z > '2024-01-01 00:00:00'", "z = y", "z BETWEEN '1900-01-01' AND '9999-12-31'", "z IN ('2024-01-01 00:00:00')",
	"extract(hour from z) > 1", "extract(minute from z) > 1", "extract(second from z) > 1.5", "extract(epoch from z) > 1.5",
	"extract(week from z) = 1",
	"date_trunc('hour', z) = z", "date_trunc('week', z) < z", "z + INTERVAL '1 month' > z", "z - INTERVAL '9999 years' IS NULL",
	"z + INTERVAL '4000000 days 1 second' IS NULL", "CAST(z AS date) = y", "CAST(z AS date) + i > y", "CAST(z AS text) LIKE '2024%'",
	"coalesce(z, '2024-01-01 00:00:00') > y", "greatest(z, y) = z", "z IS NULL",
}

// TestTotalMoments runs questions about timestamps on the worst ones that every source can hold.
func TestTotalMoments(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", hostileCSV)
	owner(t, "", "COPY (SELECT * REPLACE (TRY_CAST(i AS BIGINT) AS i, TRY_CAST(k AS BIGINT) AS k) FROM ("+hostileRows+")) "+
		"TO "+sqlgen.QuoteText(filepath.Join(folder, "t.parquet")))
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	sources := daily.Sample(t, []string{"t.csv", "t.parquet", "t.duckdb", "TIMESTAMPTZ.duckdb", "TIMESTAMP_NS.duckdb",
		"TIMESTAMP_S.duckdb", "TIMESTAMP_MS.duckdb"}, 3)
	for _, typ := range []string{"TIMESTAMPTZ", "TIMESTAMP_NS", "TIMESTAMP_S", "TIMESTAMP_MS"} {
		if !slices.Contains(sources, typ+".duckdb") {
			continue
		}
		z := "CAST(z AS " + typ + ")"
		if typ == "TIMESTAMP_NS" { // which holds fewer years, and TRY_CAST fails over them
			z = "CASE WHEN z IS NULL THEN NULL WHEN z < '1900-01-01' THEN TIMESTAMP_NS '1677-09-22 00:00:00' WHEN isfinite(z) THEN " +
				"TIMESTAMP_NS '2262-04-11 23:47:16.854775806' ELSE 'infinity'::TIMESTAMP_NS END"
		}
		owner(t, filepath.Join(folder, typ+".duckdb"), "CREATE TABLE t AS SELECT * REPLACE ("+z+" AS z) FROM ("+hostileRows+")")
	}
	turn := turnOf(t, 12)
	var questions []string
	for _, c := range momentCorpus {
		questions = append(questions, "SELECT COUNT(*), SUM(i) FROM t WHERE "+c)
	}
	questions = append(questions, joinExpressions(momentCorpus, "COUNT(%[1]s)", "")...)
	questions = append(questions, "SELECT COUNT(z), SUM(extract(hour from z)), AVG(extract(second from z)) FROM t")
	for _, source := range sources {
		for _, bounds := range []string{"}", ", bounds: [2024-01-01 00:00:00, 2024-12-31 23:59:59.5]}"} {
			keys := strings.Replace(hostileKeys, "z:  {type: date}", "z:  {type: timestamp"+bounds, 1)
			t.Run(source+bounds, func(t *testing.T) {
				runCorpus(t, open(t, dataset(t, folder, "source: "+source+keys)), byTurns(questions, turn))
			})
			turn++
		}
	}
}

// TestInfiniteTimes: DuckDB fails over an infinite time of another unit that becomes a date, in
// TRY_CAST too.
func TestInfiniteTimes(t *testing.T) {
	folder := t.TempDir()
	for _, stored := range []string{"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"} {
		owner(t, filepath.Join(folder, stored+".duckdb"), "CREATE TABLE t (u BIGINT, z "+stored+")",
			"INSERT INTO t VALUES (1, '2024-01-01'), (2, 'infinity'), (3, '-infinity'), (4, NULL)")
		for _, typ := range []string{"date", "timestamp"} {
			e := open(t, dataset(t, folder, "source: "+stored+".duckdb\nunit: t.u\ntables:\n  t:\n    unique: u\n    columns:\n      z: "+
				"{type: "+typ+"}\n"))
			if got := ask(t, e, "SELECT COUNT(z) FROM t")[0][0]; got != 1 {
				t.Errorf("%s as %s has %d values", stored, typ, got)
			}
		}
	}
}

// longest are the longest questions that the planner lets through.
func longest() []string {
	return []string{
		"SELECT COUNT(*) FROM t WHERE j" + strings.Repeat(" + 1", 125) + " > 0",
		"SELECT SUM(i" + strings.Repeat(" / 1", 125) + ") FROM t",
		"SELECT COUNT(*) FROM t WHERE d" + strings.Repeat(" / i", 1) + strings.Repeat(" * 1.5", 120) + " > 0",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("NOT (", 60) + "j IS NULL" + strings.Repeat(")", 60),
		"SELECT COUNT(*) FROM t WHERE j" + strings.Repeat(" IS NULL", 126),
		"SELECT COUNT(*) FROM t WHERE i = 1" + manyDistinct(" OR j = %d", 900),
		"SELECT COUNT(*) FROM t WHERE i = 1" + manyDistinct(" AND s <> 'x%d'", 900),
		"SELECT COUNT(*) FROM t WHERE j IN (1" + manyDistinct(", %d", 1900) + ")",
		"SELECT COUNT(*)" + manyDistinct(", SUM(i + %d)", 190) + " FROM t",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("abs(1 - ", 60) + "i" + strings.Repeat(")", 60) + " > 0",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("coalesce(", 60) + "r" + strings.Repeat(", 1)", 60) + " > 0",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("CASE WHEN b THEN ", 60) + "i" + strings.Repeat(" ELSE j END", 60) + " > 0",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("round(1.5 / 1.5 + ", 5) + "d" + strings.Repeat(")", 5) + " > 0",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("1 / (", 9) + "i" + strings.Repeat(")", 9) + " > 0",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("sqrt(", 6) + "r" + strings.Repeat(")", 6) + " > 0",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("date_trunc('month', ", 60) + "y" + strings.Repeat(")", 60) + " > '2024-01-01'",
		"SELECT COUNT(*) FROM t WHERE left(s, 1)" + strings.Repeat(" || 'a'", 120) + " > ''",
		"SELECT COUNT(*) FROM t WHERE " + strings.Repeat("lower(", 32) + "s" + strings.Repeat(")", 32) + " > ''",
		"SELECT COUNT(*) FROM t WHERE s LIKE '" + strings.Repeat("%a_", 80) + "'",
		"SELECT COUNT(*) FROM t WHERE CASE j" + manyDistinct(" WHEN %d THEN 1", 900) + " END = 1",
	}
}

func manyDistinct(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// hostileCSV has a row for everything that can be wrong with a row. Its columns are
// u, i, j, k, g, d, e, r, s, b, y, z.
var hostileCSV = "\ufeffu,i,j,k,g,d,e,r,s,b,y,z\r\n" +
	"1,1,9223372036854775807,9223372036854775807,10,1.5,0.0005,1e308,a,true,2024-01-01,infinity\r\n" +
	"1,-1,-9223372036854775808,-1,-10,-1.5,-0.0005,-1e308,a,false,2024-01-02,-infinity\r\n" +
	"2,0,0,0,0,0,0,-0.0,,,,\r\n" +
	"2,abc,abc,abc,abc,abc,abc,abc,abc,abc,abc,abc\r\n" +
	"3,NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN\r\n" +
	"3,inf,-inf,inf,inf,inf,-inf,inf,inf,inf,inf,inf\r\n" +
	"4,1e308,1e308,1e308,1e308,1e308,1e308,1e308,1e308,1e308,1e308,1e308\r\n" +
	"4,170141183460469231731687303715884105727,170141183460469231731687303715884105727," +
	"-170141183460469231731687303715884105728,1e400,1e400,1e-400,1e-400,x,1,5877642-01-01,9999-12-31\r\n" +
	"5,9223372036854775808,9223372036854775808,-9223372036854775809,5,0.005,0.00049999,5e-324,\"a\r\nb\",yes,0001-01-01,4714-11-24 " +
	"(BC)\r\n" +
	"5,\"1\",\" 2 \",+3,0x10,1_000,1.,.5,\"say \"\"x\"\"\",t,2024-02-30,2024-1-1\r\n" +
	"6\r\n" +
	"7,1,2\r\n" +
	"8,1,2,3,4,5,6,7,8,9,10,11,12,13,14\r\n" +
	"9,\xff\xfe,1,1,1,1,1,1,\xc3\x28,true,2024-01-01,2024-01-01\r\n" +
	",,,,,,,,,,,\r\n" +
	"\r\n" +
	"10,1,1,1,1,1,1,1," + strings.Repeat("x", 300_000) + ",true,2024-01-01,2024-01-01\r\n" +
	"11,1,1,1,1,1,1,1,not \"closed,true,2024-01-01,2024-01-01\r\n"

// hostileRows are the same for stores with types.
const hostileRows = `SELECT * FROM (VALUES
	(1, 1::HUGEINT, 9223372036854775807, 9223372036854775807::HUGEINT, 5, 1.5::DOUBLE, 0.0005::DOUBLE, 1e308::DOUBLE, 'a', true, DATE '2024-01-01', TIMESTAMP 'infinity'),
	(1, -1, (-9223372036854775808)::BIGINT, -1, -5, -1.5, -0.0005, -1e308, 'a', false, DATE '2024-01-02', TIMESTAMP '-infinity'),
	(2, 0, 0, 0, 0, '-0.0'::DOUBLE, '-0.0'::DOUBLE, '-0.0'::DOUBLE, '', NULL, NULL, NULL),
	(2, 170141183460469231731687303715884105727, 1, 170141183460469231731687303715884105727, 2147483647, 'NaN', 'NaN', 'NaN', 'a' || chr(10) || 'b', true, 'infinity', TIMESTAMP '0001-01-01'),
	(3, -170141183460469231731687303715884105728, -1, -170141183460469231731687303715884105728, -2147483648, 'inf', 'inf', 'inf', NULL, true, '-infinity', TIMESTAMP '9999-12-31 23:59:59.999999'),
	(3, NULL, NULL, NULL, NULL, '-inf', '-inf', '-inf', chr(0) || 'x', false, '5877642-06-25'::DATE, NULL),
	(4, 5, 9223372036854775807, (-9223372036854775808)::HUGEINT, 100, 1e308, -1e308, 5e-324, 'é', NULL, '5877642-06-25 (BC)'::DATE, TIMESTAMP '290309-12-22 (BC) 00:00:00'),
	(NULL, 6, 4611686018427387904, 2, -100, 9.2e16, 9.3e15, 1.7976931348623157e308, repeat('x', 300000), true, NULL, NULL)
) AS t(u, i, j, k, g, d, e, r, s, b, y, z)`

// TestTotal runs every question of the corpus on the worst values that every kind of
// source can hold. None may fail: a failure is a message from one row.
func TestTotal(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", hostileCSV)
	// Parquet has no 128-bit integers.
	owner(t, "", "COPY (SELECT * REPLACE (TRY_CAST(i AS BIGINT) AS i, TRY_CAST(k AS BIGINT) AS k) FROM ("+hostileRows+")) "+
		"TO "+sqlgen.QuoteText(filepath.Join(folder, "t.parquet")))
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	empty := filepath.Join(folder, "empty.duckdb")
	owner(t, empty, "CREATE TABLE t AS SELECT * FROM ("+hostileRows+") LIMIT 0")
	turn := turnOf(t, 12)
	unique := strings.Replace(hostileKeys, "max_rows: 3\n    max_groups: 2", "unique: u", 1)
	rows := strings.Replace(strings.Replace(unique, "    unique: u\n", "", 1), "t.u", "row", 1)
	for i, c := range []struct{ name, keys string }{ // both turns for every kind of source
		{"csv", "source: t.csv" + hostileKeys}, {"csv by row", "source: t.csv" + rows},
		{"parquet, unique", "source: t.parquet" + unique}, {"parquet", "source: t.parquet" + hostileKeys},
		{"duckdb", "source: t.duckdb" + hostileKeys}, {"duckdb, unique", "source: t.duckdb" + unique},
		{"empty", "source: empty.duckdb" + hostileKeys},
	} {
		t.Run(c.name, func(t *testing.T) { runCorpus(t, open(t, dataset(t, folder, c.keys)), byTurns(corpus(i), i+turn)) })
	}
}

// TestLongest: what is too deep or too long for the engine must be refused before.
func TestLongest(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	runCorpus(t, open(t, dataset(t, folder, "source: t.duckdb"+hostileKeys)), daily.Sample(t, longest(), 6))
}

// byTurns returns every third question, others for the next turn: seven kinds of sources are asked
// every question twice at least.
func byTurns(questions []string, turn int) (out []string) {
	for i, q := range questions {
		if daily.Full() || (i+turn)%12 == 0 {
			out = append(out, q)
		}
	}
	return out
}

func runCorpus(t *testing.T, e *Engine, questions []string) {
	for _, text := range questions {
		p, err := prepareOne(e.dataset, text)
		if err != nil {
			t.Errorf("%.200s: %v", text, err)
			continue
		}
		q := &p.Query
		got, err := e.Run(t.Context(), q)
		if err != nil {
			t.Errorf("%.200s: %v", text, runAgain(t, e, q))
			continue
		}
		if len(got.Measures) != len(q.Measures) {
			t.Errorf("%.200s has %d measures", text, len(got.Measures))
		}
		for _, v := range got.Measures {
			if v.Len() != q.Groups() {
				t.Errorf("%.200s has %d groups", text, v.Len())
			}
		}
	}
}

// TestCheckIsTotal: looking at the worst values must not fail either.
func TestCheckIsTotal(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", hostileCSV)
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	for _, source := range []string{"t.csv", "t.duckdb"} {
		found, err := check(t, dataset(t, folder, "source: "+source+hostileKeys))
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %v, %v", source, found, err)
		}
		for _, f := range found {
			if f.Broken || f.Table != "t" {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestPlantedTotal shows that the corpus finds arithmetic that is not total, where nothing holds
// it.
func TestPlantedTotal(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	e := open(t, dataset(t, folder, "source: t.duckdb"+hostileKeys))
	for _, planted := range [][2]string{{" AS HUGEINT)", " AS BIGINT)"}, {"TRY_CAST", "CAST"}} {
		planted := strings.NewReplacer("TRY(", "(", planted[0], planted[1])
		found := false
		for _, text := range corpus(0) {
			q := &prepare(t, e.dataset, text).Query
			changed, _ := mutant(e.now.Statements(q), planted.Replace)
			if _, err := e.now.Run(t.Context(), q, changed); err != nil {
				found = true
				break
			}
		}
		if !found {
			t.Errorf("not found: %v", planted)
		}
	}
}
