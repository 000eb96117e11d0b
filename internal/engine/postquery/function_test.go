package postquery

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// worldly matches the functions of DuckDB that read or change something beyond their arguments. A
// new version may bring one that the pattern does not know; it is not on our list either.
var worldly = regexp.MustCompile(
	`^(read_|parquet_|duckdb_|pragma_|pg_|current_|get_current|has_|inet_|json_|uuid|arrow_|st_|icu_|__|test_|enable_|disable_|which_|write_)|` +
		`random|query|glob|sniff|getenv|getvariable|setseed|nextval|currval|sleep|now|today|clock|transaction|txid|version|setting|secret|schema|catalog|user|log_|logs|checkpoint|scan|summary|stats|error|ago$|_log$`)

// functionsOfDuckDB lists them by name, with their kinds and whether one of them is volatile.
func functionsOfDuckDB(t *testing.T) map[string]string {
	t.Helper()
	// Not through Run, whose answers have limits; the instance is the same.
	in, err := open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	rows, err := in.conn.QueryContext(t.Context(), "SELECT function_name, string_agg(DISTINCT function_type || ' ' || "+
		"coalesce(stability, ''), ',') FROM duckdb_functions() GROUP BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, kinds string
		if err := rows.Scan(&name, &kinds); err != nil {
			t.Fatal(err)
		}
		out[name] = kinds
	}
	if rows.Err() != nil || len(out) < 800 {
		t.Fatal(len(out), rows.Err())
	}
	return out
}

// TestFunctions holds our list against that of the DuckDB in use: every name is there, consistent
// and harmless, and every other function of DuckDB is refused wherever a function can stand.
func TestFunctions(t *testing.T) {
	all := functionsOfDuckDB(t)
	parserKnows := "percentile_cont percentile_disc" // and gives other names
	macros := map[string]bool{"split_part": true, "nullif": true}
	for name, f := range functions {
		as := name
		if f.as != "" {
			as = f.as
		}
		kinds, ok := all[as]
		switch {
		case !ok && !strings.Contains(parserKnows, as):
			t.Errorf("%s is not in DuckDB", as)
		case strings.Contains(kinds, "VOLATILE"):
			t.Errorf("%s is volatile", as)
		case worldly.MatchString(as):
			t.Errorf("%s is worldly", as)
		case strings.Contains(kinds, "macro") && !macros[as]:
			t.Errorf("%s is a macro: it may copy its arguments, or call others", as)
		case f.role == scalar && strings.Contains(kinds, "aggregate"), f.role != scalar && strings.Contains(kinds, "scalar"):
			t.Errorf("%s is %s", as, kinds)
		case f.min > f.max:
			t.Errorf("%s takes %d to %d arguments", as, f.min, f.max)
		}
	}
	refused, turn := 0, daily.Choices(t).Below(5)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		for k, args := range []string{"", "1", "'x'", "1, 2", "k, m"} {
			if !daily.Full() && (i+turn)%5 != k && (i+turn+1)%5 != k {
				continue // each with some arguments, by turns
			}
			_, ours := functions[name]
			if _, made := valueFunctions[name]; !ours && !made {
				mustRefuse(t, "SELECT "+quoted+"("+args+") FROM s")
				mustRefuse(t, "SELECT "+quoted+"("+args+") OVER () FROM s")
				refused++
			}
			if name != "generate_series" && name != "unnest" {
				mustRefuse(t, "SELECT * FROM "+quoted+"("+args+") AS x")
			}
			mustRefuse(t, "SELECT main."+quoted+"("+args+") FROM s")
		}
		mustRefuse(t, "SELECT * FROM s, "+quoted)
	}
	if refused < 1200 || daily.Full() && refused < 3000 {
		t.Errorf("only %d were refused", refused)
	}
}

func mustRefuse(t *testing.T, text string) {
	t.Helper()
	stmt, err := parse(text)
	if err != nil {
		return // it does not get as far
	}
	_, err = Check(stmt, names(released()))
	var r *api.Refusal
	if !errors.As(err, &r) && !strings.HasSuffix(text, `FROM s, "s"`) {
		t.Errorf("not refused: %s", text)
	}
}

// TestEveryFunctionRuns calls each of our list once, so that the list promises nothing that DuckDB
// does not have. Several are in one SELECT, which takes as long as one of them; where it fails each
// is called alone.
func TestEveryFunctionRuns(t *testing.T) {
	arguments := map[string]string{
		"acosh": "1", "asin": "0.5", "acos": "0.5", "atanh": "0.5", "factorial": "5", "chr": "65", "gcd": "4, 6", "lcm": "4, 6",
		"mod":  "4, 3",
		"left": "k, 1", "right": "k, 1", "substring": "k, 1", "substr": "k, 1", "split_part": "k, 'a', 1", "repeat": "'x', m",
		"lpad": "k, m", "rpad": "k, 3, 'x'",
		"extract": "", "date_part": "'year', DATE '2024-01-01'", "date_trunc": "'month', DATE '2024-01-01'", "make_date": "2024, 1, 1",
		"make_timestamp": "2024, 1, 1, 0, 0, 0",
		"age":            "DATE '2024-01-01', DATE '2023-01-01'", "strftime": "DATE '2024-01-01', '%Y'", "dayname": "DATE '2024-01-01'",
		"monthname": "DATE '2024-01-01'", "last_day": "DATE '2024-01-01'",
		"replace": "k, 'a', 'b'", "regexp_replace": "k, 'a', 'b'", "translate": "k, 'a', 'b'", "concat_ws": "',', k",
		"string_agg": "k, ','", "bool_and": "m > 1", "bool_or": "m > 1", "every": "m > 1",
		"percentile_cont": "0.5", "percentile_disc": "0.5", "ntile": "2", "nth_value": "m, 1", "position": "k, 'a'",
	}
	texts := "length char_length character_length octet_length bit_length lower upper strpos position btrim ltrim rtrim reverse " +
		"starts_with ascii md5 regexp_like concat"
	calls := map[role][]string{}
	for name, f := range functions {
		args, ok := arguments[name]
		if !ok {
			one := "m"
			if strings.Contains(" "+texts+" ", " "+name+" ") {
				one = "k"
			}
			args = strings.TrimSuffix(strings.Repeat(one+", ", f.min), ", ")
		}
		call := `"` + name + `"(` + args + ")"
		switch {
		case name == "extract":
			call = "EXTRACT(year FROM DATE '2024-01-01')"
		case name == "age":
			call = "CAST(" + call + " AS text)"
		case f.role == window:
			call += " OVER (ORDER BY m)"
		case f.role == ordered:
			call += " WITHIN GROUP (ORDER BY m)"
		}
		calls[f.role] = append(calls[f.role], call)
	}
	for _, all := range calls {
		for some := range slices.Chunk(all, 12) {
			_, err := ask(t, "SELECT "+strings.Join(some, ", ")+" FROM s")
			if err == nil {
				continue
			}
			for _, call := range some {
				if _, alone := ask(t, "SELECT "+call+" FROM s"); alone != nil {
					t.Errorf("%s: %v", call, alone)
					err = nil
				}
			}
			if err != nil {
				t.Errorf("%v run alone, and together: %v", some, err)
			}
		}
	}
}

// TestBareNames: no name alone, even in quotes, is read by DuckDB as something of the session, but
// for those that Check refuses.
func TestBareNames(t *testing.T) {
	all := functionsOfDuckDB(t)
	in, err := open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	read := func(name string) bool {
		rows, err := in.conn.QueryContext(t.Context(), "SELECT "+quote(name))
		if err == nil {
			rows.Close()
		}
		return err == nil
	}
	for _, word := range sessionWords {
		all[word] = ""
		mustRefuse(t, "SELECT "+quote(word))
		mustRefuse(t, "SELECT "+quote(strings.ToUpper(word))+" FROM r")
	}
	seen := 0
	for name := range all {
		if read(name) {
			seen++
			mustRefuse(t, "SELECT "+quote(name))
		}
	}
	if seen < 3 {
		t.Errorf("only %d names were read", seen)
	}
	for _, text := range []string{"SELECT 'now'::timestamp", "SELECT 'today'::date", "SELECT DATE 'yesterday'"} {
		if out, err := ask(t, text); err == nil {
			t.Errorf("%s: %s", text, show(out))
		}
	}
}

// TestMeaning holds statements against the answers of PostgreSQL 16.
func TestMeaning(t *testing.T) {
	for _, c := range daily.Sample(t, [][2]string{
		// numbers
		{"SELECT 7 / 2, -7 / 2, 7 % -2, -7 % 2", "3 -3 1 -1"},
		{"SELECT 7 / 2.0, 7.5 / 2", "3.5 3.75"},
		{"SELECT n / 2 FROM r WHERE n IS NOT NULL ORDER BY n", "-3 | 1 | 3"},
		{"SELECT sum(n) / count(n) FROM r WHERE k <> 'd'", "0"},
		{"SELECT sum(m) / 7 > 8.5, sum(m) FROM s", "true 60"},
		{"SELECT sum(m) / count(*) FROM s WHERE m < 30", "15"},
		{"SELECT round(m) / 4 FROM s WHERE k = 'a'", "2.5"},
		{"SELECT 2 ^ 3 ^ 2", "64"},
		{"SELECT 5 # 3, 5 & 3, 5 | 3, ~5, 1 << 4, |/ 16, @ -3", "6 1 7 -6 16 4 3"},
		{"SELECT round(2.5), round(-2.345, 2), trunc(2.567, 2), ceil(-0.5), floor(-0.5)", "3 -2.35 2.56 0 -1"},
		{"SELECT CAST(2.5 AS integer), CAST(-2.5 AS integer), 3.5::int, CAST(2.5::float8 AS int)", "3 -3 4 2"},
		{"SELECT 12.345::numeric(10, 2), 1::numeric / 4", "12.35 0.25"},
		{"SELECT 0.1 + 0.2 = 0.3, 1e3, .5, 5.", "true 1000 0.5 5.0"},
		{"SELECT log(100), log(2, 8), ln(1), sqrt(16), power(2, -1), mod(7, 3)", "2 3 0 4 0.5 1"},
		{"SELECT greatest(1, NULL, 3), least(NULL, 2), coalesce(NULL, 4), nullif(5, 5), nullif(5, 6)", "3 2 4 NULL 5"},
		{"SELECT d + 1, d * 2 FROM r WHERE k = 'd'", "100000000000000000000.99 199999999999999999999.98"},
		{"SELECT sum(d) FROM r", "100000000000000000001.24"},
		{"SELECT - -1, 1 - -1, -(-2)", "1 2 2"},
		// order and NULL
		{"SELECT k FROM r ORDER BY n", "b | d | a | c"},
		{"SELECT k FROM r ORDER BY n DESC", "c | a | d | b"},
		{"SELECT k FROM r ORDER BY n NULLS FIRST", "c | b | d | a"},
		{"SELECT k FROM r ORDER BY n DESC NULLS LAST LIMIT 2 OFFSET 1", "d | b"},
		{"SELECT k, -n AS n FROM r WHERE n IS NOT NULL ORDER BY n", "a -7 | d -3 | b 7"},
		{"SELECT k FROM r WHERE n IS NOT NULL ORDER BY 1 DESC", "d | b | a"},
		{"SELECT k FROM r LIMIT ALL OFFSET 3", "d"},
		{"SELECT NULL = NULL, NULL IS NULL, 1 IS DISTINCT FROM NULL, (NULL::bool) IS TRUE, (1 = 1) IS NOT FALSE",
			"NULL true true false true"},
		{"SELECT 1 IN (1, NULL), 2 IN (1, NULL), 2 NOT IN (1, 3), 2 = ANY(ARRAY[1, 2]), 2 > ALL(ARRAY[1, 2])", "true NULL true true false"},
		{"SELECT 5 BETWEEN 1 AND 10, 5 NOT BETWEEN 6 AND 10", "true true"},
		{"SELECT k FROM r WHERE b", "a | d"},
		{"SELECT count(*), count(n), count(DISTINCT b) FROM r", "4 3 2"},
		// texts
		{"SELECT 'a' || 'b' || 1, 'a' || NULL, concat('a', NULL, 1), concat_ws('-', 'a', NULL, 'b')", "ab1 NULL a1 a-b"},
		{`SELECT 'a%' LIKE 'a\%', 'ab' LIKE 'a\%', 'AB' ILIKE 'a_', 'a!' LIKE 'a!!' ESCAPE '!', 'ab' NOT LIKE 'b%'`,
			"true false true true true"},
		// which takes a power of the text's length where % is tried everywhere
		{"SELECT left(repeat('a', 900), 899) LIKE '%a%a%a%a%a%a%a%a%a%b', E'a\nb.c' LIKE 'a%.c', 'abc' LIKE 'a_', NULL LIKE 'a'",
			"false true false NULL"},
		{"SELECT 'abc' ~ 'b', 'abc' ~* 'B', 'abc' !~ 'B', 'abc' ~ '^b'", "true true true false"},
		{`SELECT 'a b' ~ '\mb\M', 'É' ~* 'é', E'a\nb' ~ '^a.b$', 'ab' !~* 'B', 'x' ~ ('' || 'x'), regexp_like('abc', 'c$')`,
			"true true true false true true"},
		{"SELECT 'abc' SIMILAR TO '(a|b)%', 'abc' SIMILAR TO 'b', 'a.c' NOT SIMILAR TO 'a!.c' ESCAPE '!'", "true false false"},
		{`SELECT 'a' COLLATE "C" < 'B', k FROM r ORDER BY k COLLATE "C" DESC LIMIT 1`, "false d"},
		{"SELECT substring('abc' FROM 2 FOR 1), substr('abc', 0, 2), left('abc', -1), right('abc', -1), position('c' IN 'abc')",
			"b a ab bc 3"},
		{"SELECT TRIM(BOTH 'x' FROM 'xax'), TRIM('  a '), ltrim('xxa', 'x'), lpad('a', 3) || '.', rpad('a', 3, 'x'), lpad('abc', 2)",
			"a a a   a. axx ab"},
		{"SELECT length('äb'), octet_length('äb'), upper('ä'), reverse('abc'), repeat('#', 3), replace('aba', 'a', 'xy')",
			"2 3 Ä cba ### xybxy"},
		{"SELECT split_part('a,b', ',', 2), split_part('a,b', ',', 5), translate('abc', 'ab', 'x'), md5('')",
			"b  xc d41d8cd98f00b204e9800998ecf8427e"},
		{"SELECT regexp_replace('abab', 'a', 'x'), regexp_replace('abab', '(a)', '<\\1', 'g')", "xbab <ab<ab"},
		{"SELECT 'it''s', E'\\'', U&'\\0041'", "it's ' A"},
		{"SELECT string_agg(k, ',' ORDER BY k DESC) FROM r", "d,c,b,a"},
		// dates
		{"SELECT day - DATE '2024-01-01', day + 1, day + INTERVAL '1 month' FROM r WHERE k = 'a'", "30 2024-02-01 2024-02-29 00:00:00"},
		{"SELECT EXTRACT(year FROM day), EXTRACT(dow FROM day), date_part('month', day) FROM r WHERE k = 'b'", "2024 4 2"},
		{"SELECT EXTRACT(month FROM day) / 4 FROM r WHERE k = 'b'", "0.5"},
		{"SELECT date_trunc('month', day), day > '2024-01-01', day::text FROM r WHERE k = 'a'", "2024-01-01 00:00:00 true 2024-01-31"},
		{"SELECT make_date(2024, 2, 29), DATE '2024-03-01' - INTERVAL '1 day'", "2024-02-29 2024-02-29 00:00:00"},
		{"SELECT at, at::date FROM r WHERE k = 'b'", "2024-02-29 00:00:00.5 2024-02-29"},
		// CASE
		{"SELECT k, CASE WHEN n > 5 THEN 'high' WHEN n > 0 THEN 'low' END FROM r ORDER BY k", "a high | b NULL | c NULL | d low"},
		{"SELECT CASE k WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 3 END FROM r ORDER BY k", "1 | 2 | 3 | 3"},
		// joins
		{"SELECT r.k, s.m FROM r JOIN s ON r.k = s.k ORDER BY 1", "a 10 | b 20"},
		{"SELECT k, n, m FROM r FULL JOIN s USING (k) ORDER BY k", "a 7 10 | b -7 20 | c NULL NULL | d 3 NULL | e NULL 30"},
		{"SELECT * FROM (SELECT k FROM r) AS a NATURAL JOIN s ORDER BY m DESC", "b 20 | a 10"},
		{"SELECT count(*) FROM r, s", "12"},
		{"SELECT a.k FROM r a LEFT JOIN s b ON a.k = b.k WHERE b.k IS NULL ORDER BY 1", "c | d"},
		{"SELECT s.k, l.top FROM s, LATERAL (SELECT max(n) AS top FROM r WHERE r.k <= s.k) AS l ORDER BY 1", "a 7 | b 7 | e 7"},
		// groups
		{"SELECT b, sum(n) FROM r GROUP BY b HAVING count(*) > 1", "true 10"},
		{"SELECT k, sum(m) FROM s GROUP BY ROLLUP (k) ORDER BY 1", "a 10 | b 20 | e 30 | NULL 60"},
		{"SELECT grouping(k), sum(m) FROM s GROUP BY GROUPING SETS ((k), ()) ORDER BY 1, 2", "0 10 | 0 20 | 0 30 | 1 60"},
		{"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m), percentile_disc(0.5) WITHIN GROUP (ORDER BY m DESC), mode() WITHIN " +
			"GROUP (ORDER BY m > 15) FROM s", "20 20 true"},
		{"SELECT avg(m), stddev_samp(m), var_pop(m), sum(m) FILTER (WHERE m > 10), bool_and(m > 5), every(m > 15), corr(m, m) FROM s",
			"20 10 66.66666666666667 50 true false 1"},
		{"SELECT sum(m), avg(m), max(k) FROM s WHERE FALSE", "NULL NULL NULL"},
		// windows
		{"SELECT k, sum(m) OVER (ORDER BY k), rank() OVER (ORDER BY m DESC) FROM s ORDER BY k", "a 10 3 | b 30 2 | e 60 1"},
		{"SELECT k, lag(m) OVER w, lead(m, 1, 0) OVER w, first_value(m) OVER w FROM s WINDOW w AS (ORDER BY m) ORDER BY k",
			"a NULL 20 10 | b 10 30 10 | e 20 0 10"},
		{"SELECT avg(m) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM s ORDER BY k", "15 | 20 | 25"},
		{"SELECT sum(m) OVER (ORDER BY m RANGE BETWEEN 10 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM s ORDER BY m",
			"NULL | 10 | 20"},
		{"SELECT row_number() OVER (ORDER BY n) FROM r ORDER BY k", "3 | 1 | 4 | 2"},
		{"SELECT m, m * 100.0 / sum(m) OVER () > 40 FROM s ORDER BY m", "10 false | 20 false | 30 true"},
		// sets, subqueries, WITH
		{"SELECT k FROM r UNION SELECT k FROM s ORDER BY k DESC", "e | d | c | b | a"},
		{"SELECT k FROM r INTERSECT SELECT k FROM s ORDER BY 1", "a | b"},
		{"(SELECT k FROM s EXCEPT SELECT k FROM r) UNION ALL SELECT 'z' ORDER BY 1", "e | z"},
		{"SELECT k FROM s WHERE m > (SELECT avg(m) FROM s)", "e"},
		{"SELECT k FROM s WHERE EXISTS (SELECT 1 FROM r WHERE r.k = s.k AND n > 0)", "a"},
		{"SELECT k FROM s WHERE (k, m) IN (SELECT k, 10 FROM r)", "a"},
		{"WITH t AS (SELECT k, m * 2 AS m FROM s), u(q) AS (SELECT m FROM t) SELECT sum(q), max(m) FROM u, t", "360 60"},
		{"SELECT DISTINCT ON (b) b, k FROM r ORDER BY b, k DESC", "false b | true d | NULL c"},
		{"SELECT DISTINCT b FROM r ORDER BY b", "false | true | NULL"},
		{"SELECT g FROM generate_series(1, 5, 2) AS g", "1 | 3 | 5"},
		{"SELECT g.x FROM generate_series(DATE '2024-01-30', DATE '2024-02-01', '1 day') AS g(x)",
			"2024-01-30 00:00:00 | 2024-01-31 00:00:00 | 2024-02-01 00:00:00"},
		{"SELECT g.x FROM generate_series(DATE '2024-01-30', DATE '2024-02-01', INTERVAL '1 day') AS g(x)",
			"2024-01-30 00:00:00 | 2024-01-31 00:00:00 | 2024-02-01 00:00:00"},
		{"SELECT u FROM unnest(ARRAY['x', 'y']) AS u ORDER BY u DESC", "y | x"},
		{"VALUES (1, 'a'), (2, 'b') ORDER BY column1 DESC", "2 b | 1 a"},
		{"SELECT v.q FROM (VALUES (1), (2)) AS v(q) ORDER BY q DESC", "2 | 1"},
		{`SELECT K, "k" AS "Odd ""name""" FROM R LIMIT 1`, "a a"},
	}, 20) {
		got, err := ask(t, c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
		} else if show(got) != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], show(got), c[1])
		}
	}
}

// TestDifferent has what the package comment says is not as in PostgreSQL.
func TestDifferent(t *testing.T) {
	for _, c := range [][2]string{
		{"SELECT 1 / 0, 1.5 / 0, 5 % 0", "NULL NULL NULL"},
		{"SELECT x * x FROM r WHERE k = 'd'", "NULL"}, // infinite
		{"SELECT 'nan'::float8, 'infinity'::date, 'infinity'::float8", "NULL NULL NULL"},
		{"SELECT round(2.5::float8)", "3"},
	} {
		if got, err := ask(t, c[0]); err != nil || show(got) != c[1] {
			t.Errorf("%s: %v %v", c[0], got, err)
		}
	}
}

// TestNames: columns are called as PostgreSQL calls them.
func TestNames(t *testing.T) {
	got, err := ask(t,
		`SELECT count(*), sum(m), 1, 'x', m::text, 1::int, CASE WHEN TRUE THEN 1 END, coalesce(m), max(m) + 1, (SELECT max(n) FROM r), EXTRACT(year FROM DATE '2024-01-01'), nullif(m, 1), s.m, least(1, 2), EXISTS (SELECT 1) FROM s GROUP BY m LIMIT 1`)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range got.Columns {
		all = append(all, c.Name)
	}
	if want := "[count sum ?column? ?column? m int4 case coalesce ?column? max extract nullif m least exists]"; fmt.Sprint(all) != want {
		t.Errorf("%v\n%s", all, want)
	}
}
