package postquery

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// TestRefused has statements that would reach something, if they ran, and more that have no print.
func TestRefused(t *testing.T) {
	natural, using, equal, joined := "", "", "SELECT 1 FROM s a, s b WHERE a.m = b.m", "SELECT 1 FROM s a JOIN s b ON a.m = b.m"
	for i := range maxEqual {
		equal += " AND a.m = b.m + " + strconv.Itoa(i)
		joined += " AND NOT (a.m <> b.m + " + strconv.Itoa(i) + ")"
	}
	for i := 1; i < maxSources-2; i++ {
		natural += " NATURAL JOIN r r" + strconv.Itoa(i)
		using += " JOIN r r" + strconv.Itoa(i) + " USING (k, n, d, x)"
	}
	for _, text := range []string{
		// time that nobody can stop
		equal,
		joined,
		// files
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM read_blob('/etc/passwd')",
		"SELECT * FROM read_csv_auto('/etc/passwd')",
		"SELECT * FROM read_csv('/etc/passwd')",
		"SELECT * FROM read_json('x.json')",
		"SELECT * FROM read_parquet('x.parquet')",
		"SELECT * FROM parquet_metadata('x.parquet')",
		"SELECT * FROM glob('/*')",
		"SELECT * FROM sniff_csv('/etc/passwd')",
		`SELECT * FROM "/etc/passwd"`,
		`SELECT * FROM "file.parquet"`,
		`SELECT * FROM "https://example.com/x.csv"`,
		`SELECT * FROM "r.csv" AS r`,
		"SELECT read_text('/etc/passwd')",
		"SELECT pg_read_file('/etc/passwd')",
		"SELECT lo_import('/etc/passwd')",
		"SELECT * FROM r, LATERAL (SELECT * FROM read_text('/etc/passwd')) AS f",
		"SELECT * FROM r, LATERAL read_text(r.k)",
		"SELECT (SELECT content FROM read_text('/etc/passwd')) FROM r",
		"SELECT * FROM r WHERE EXISTS (SELECT * FROM read_text('/etc/passwd'))",
		"SELECT * FROM r ORDER BY (SELECT count(*) FROM read_text('/etc/passwd'))",
		"SELECT * FROM r LIMIT (SELECT count(*) FROM read_text('/etc/passwd'))",
		"SELECT sum(m) OVER (PARTITION BY (SELECT 1 FROM patients)) FROM s",
		"SELECT k FROM r GROUP BY ROLLUP (k, (SELECT 1 FROM patients))",
		"SELECT sum(m) FILTER (WHERE EXISTS (SELECT 1 FROM patients)) FROM s",
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (SELECT 1 FROM patients)) FROM s",
		"WITH t AS (SELECT * FROM patients) SELECT 1",
		"SELECT 1 UNION SELECT 2 FROM patients",
		"VALUES ((SELECT 1 FROM patients))",
		"SELECT * FROM generate_series(1, (SELECT 1 FROM patients))",
		"SELECT * FROM unnest(ARRAY[(SELECT 1 FROM patients)])",
		"SELECT 1 = ANY(ARRAY[(SELECT 1 FROM patients)])",
		"SELECT CAST((SELECT 1 FROM patients) AS text)",
		"SELECT CASE WHEN TRUE THEN (SELECT 1 FROM patients) END",
		"SELECT 'a' LIKE (SELECT 'x' FROM patients) ESCAPE '!'",
		"SELECT DISTINCT ON ((SELECT 1 FROM patients)) k FROM r",
		"SELECT * FROM r JOIN s ON (SELECT TRUE FROM patients)",
		"SELECT sum(m) OVER w FROM s WINDOW w AS (ORDER BY (SELECT 1 FROM patients))",
		"SELECT sum(m) OVER (ROWS BETWEEN (SELECT 1 FROM patients) PRECEDING AND CURRENT ROW) FROM s",
		// catalog, session, settings
		"SELECT * FROM pg_catalog.pg_tables",
		"SELECT * FROM information_schema.tables",
		"SELECT * FROM pg_class",
		"SELECT * FROM sqlite_master",
		"SELECT * FROM duckdb_tables()",
		"SELECT * FROM duckdb_settings()",
		"SELECT * FROM duckdb_secrets()",
		"SELECT * FROM pragma_database_size()",
		"SELECT * FROM pragma_table_info('r')",
		"SELECT * FROM main.r",
		"SELECT * FROM memory.main.r",
		"SELECT main.r.k FROM r",
		"SELECT getenv('HOME')",
		"SELECT current_setting('memory_limit')",
		"SELECT set_config('x', 'y', false)",
		"SELECT getvariable('x')",
		"SELECT current_user, session_user",
		"SELECT current_date",
		"SELECT CURRENT_TIMESTAMP",
		"SELECT now()",
		`SELECT "current_date"`,
		`SELECT "User"`,
		"SELECT age(day) FROM r",
		"SELECT random()",
		"SELECT setseed(0.5)",
		"SELECT gen_random_uuid(), uuid()",
		"SELECT nextval('x')",
		"SELECT version()",
		"SELECT pg_sleep(100)",
		"SELECT sleep_ms(100)",
		"SELECT pg_catalog.version()",
		"SELECT system.main.version()",
		"SELECT error('x')",
		"SELECT write_log('x')",
		"SELECT k FROM r TABLESAMPLE BERNOULLI (50)",
		// text as SQL
		"SELECT * FROM query('SELECT 1')",
		"SELECT * FROM query_table('r')",
		"SELECT * FROM json_execute_serialized_sql('x')",
		"SELECT json_serialize_sql('SELECT 1')",
		"SELECT * FROM sql_auto_complete('SEL')",
		"SELECT query_to_xml('SELECT 1', true, true, '')",
		// names
		`SELECT * FROM "r` + "\u200b" + `"`,
		`SELECT * FROM "ｒ"`,
		`SELECT * FROM "R"`,
		`SELECT * FROM "r""; SELECT 1; --"`,
		`SELECT * FROM "r" AS x, x`,
		"WITH r AS (SELECT 1 AS k) SELECT * FROM r",
		`WITH "R" AS (SELECT 1 AS k) SELECT * FROM "R"`,
		"SELECT * FROM (WITH r AS (SELECT * FROM r) SELECT * FROM r) AS q",
		"WITH t AS (SELECT 1), t AS (SELECT 2) SELECT * FROM t",
		"WITH t AS (WITH t AS (SELECT 1) SELECT * FROM t) SELECT * FROM t, (WITH t AS (SELECT 1) SELECT * FROM t) u",
		"WITH t AS (SELECT * FROM u), u AS (SELECT 1) SELECT * FROM t",
		"SELECT * FROM (WITH t AS (SELECT 1) SELECT * FROM t) AS a, t",
		// forms
		"SELECT k INTO x FROM r",
		"SELECT k FROM r FOR UPDATE",
		"WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT * FROM t) SELECT * FROM t",
		"WITH t AS (DELETE FROM r RETURNING *) SELECT * FROM t",
		"WITH t AS (INSERT INTO r VALUES (1) RETURNING *) SELECT * FROM t",
		"SELECT $1",
		"SELECT generate_series(1, 10)",
		"SELECT k COLLATE \"de_DE\" FROM r",
		"SELECT 1::regclass, 'r'::regclass",
		"SELECT 'x'::json",
		"SELECT k::varchar(1) FROM r",
		"SELECT 1::numeric(99)",
		"SELECT b'101'",
		"SELECT 0x1FFFFFFFFFFFFFFFF",
		"SELECT 1 OPERATOR(pg_catalog.+) 1",
		"SELECT k -> 'a' FROM r",
		"SELECT k SIMILAR TO k FROM r",
		"SELECT xmlelement(name x)",
		"SELECT * FROM xmltable('/a' PASSING '<a/>' COLUMNS b text)",
		"SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS x",
		"SELECT * FROM generate_series(1, 2) WITH ORDINALITY",
		"SELECT columns(*) FROM r",
		"SELECT sum(*) FROM r",
		"SELECT FROM r",
		"SELECT k AT TIME ZONE 'UTC' FROM r",
		"SELECT string_agg(k, ',') OVER () FROM r",
		"SELECT repeat(k, 10) FROM r",
		"SELECT replace(k, 'a', k) FROM r",
		"SELECT replace(k, 'a', 'aaaaa') FROM r",
		"SELECT '" + strings.Repeat("x", MaxText+1) + "'",
		"SELECT k FROM r GROUP BY CUBE (k, n, d, x, b, day, at)",
		"SELECT " + strings.Repeat("1,", MaxColumns) + "1",
		"SELECT " + strings.Repeat("(", 0) + strings.Repeat("1 + ", 400) + "1",
		"SELECT " + strings.Repeat("nullif(", 40) + "1" + strings.Repeat(", 2)", 40),
		"SELECT " + strings.Repeat("split_part(", 20) + "'a'" + strings.Repeat(", 'b', 1)", 20),
		"SELECT " + strings.Repeat("CASE ", 20) + "1" + strings.Repeat(" WHEN 1 THEN 1 WHEN 2 THEN 2 END", 20),
		"SELECT " + strings.Repeat("'a' || ", 40) + "'a'",
		// columns of columns
		"WITH a AS (SELECT " + strings.Repeat("*, ", 20) + "1 AS z FROM r) SELECT 1 FROM a",
		"WITH a AS (SELECT *, s.* FROM r, s), b AS (SELECT *, a.*, x.* FROM a, a AS x), c AS (SELECT *, *, * FROM b) SELECT 1 FROM c",
		"SELECT 1 FROM (SELECT *, * FROM (SELECT *, * FROM (SELECT *, *, *, * FROM r) q) q) q",
		"SELECT q.m FROM (SELECT (SELECT count(*) FROM (SELECT s.*, s.* FROM r) q) AS m FROM s) q",
		"SELECT 1 FROM (SELECT unnamed_subquery AS z FROM (SELECT k FROM r)) q",
		"SELECT 1 FROM (VALUES ((1, 2))) q",
		"SELECT ((k, n), n) = ((k, n), n) FROM r",
		"SELECT \"\x01r\" FROM r",
		"SELECT entropy(n) OVER () FROM r",
		"SELECT count(*) FROM r" + natural + " ",
		"SELECT count(*) FROM r r0" + using,
	} {
		_, err := ask(t, text)
		var r *api.Refusal
		if !errors.As(err, &r) {
			t.Errorf("not refused: %.200s: %v", text, err)
		} else if r.Reason == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.200s: %q", text, err)
		}
	}
	for _, text := range []string{ // what is no SELECT does not get as far
		"COPY r TO '/tmp/x'", "ATTACH '/tmp/x'", "PRAGMA version", "SET threads = 4", "INSTALL httpfs", "LOAD httpfs",
		"SELECT 1; SELECT 2", "EXPORT DATABASE 'x'",
		"CREATE TABLE x (y int)", "DROP TABLE r", "EXPLAIN SELECT 1", "CALL pragma_version()",
	} {
		if _, err := ask(t, text); err == nil {
			t.Errorf("not refused: %s", text)
		}
	}
	// A comment is no part of the tree.
	if got, err := ask(t, "SELECT /* ; DROP TABLE r */ 1 -- '\n"); err != nil || show(got) != "1" {
		t.Error(got, err)
	}
	if _, err := Check(nil, nil); err == nil {
		t.Error("nothing was accepted")
	}
}

// TestPositions: a refusal points at what it is about.
func TestPositions(t *testing.T) {
	for text, at := range map[string]int{"SELECT k FROM patients": 14, "SELECT k, random() FROM r": 10, "SELECT 1, current_date": 10} {
		_, err := ask(t, text)
		var r *api.Refusal
		if !errors.As(err, &r) || r.Position != at || r.Instead == "" {
			t.Errorf("%s: %#v", text, err)
		}
	}
}

// TestBehindCheck gives Run what Check would refuse: DuckDB itself has nothing to reach, and keeps
// nothing.
func TestBehindCheck(t *testing.T) {
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret.csv")
	if err := os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	q := func(name string) string { return "'" + filepath.Join(folder, name) + "'" }
	for _, text := range []string{
		"SELECT * FROM read_text(" + q("secret.csv") + ")", "SELECT * FROM read_csv_auto(" + q("secret.csv") + ")",
		"SELECT * FROM " + q("secret.csv"),
		"SELECT * FROM glob(" + q("*") + ")", "SELECT * FROM sniff_csv(" + q("secret.csv") + ")",
		"SELECT * FROM read_duckdb(" + q("x") + ")",
		"COPY (SELECT 1) TO " + q("out.csv"), "COPY r TO " + q("out.csv"), "ATTACH " + q("new.duckdb"), "EXPORT DATABASE " + q("out"),
		"CREATE TABLE kept (x INT)",
		"SET enable_external_access = true", "SET disabled_filesystems = ''", "SET lock_configuration = false",
		"SET memory_limit = '100GB'",
		"SET temp_directory = " + q("tmp"), "RESET memory_limit", "PRAGMA threads = 8", "INSTALL httpfs", "LOAD httpfs",
		"CALL enable_logging()",
		"SELECT * FROM query('SELECT * FROM read_text(' || chr(39) || " + q("secret.csv") + " || chr(39) || ')')",
	} {
		if out, err := Run(t.Context(), text, released()); err == nil {
			t.Errorf("this ran: %s: %s", text, show(out))
		} else if strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	if out, err := Run(t.Context(), "SELECT table_name FROM duckdb_tables() ORDER BY 1", released()); err != nil ||
		show(out) != "answer | r | s" {
		t.Errorf("%v %v", out, err)
	}
}

// resident is the memory of this process in MB, where the system says.
func resident(t *testing.T, field string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("the system does not say how much memory is used")
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kb >> 10
		}
	}
	t.Fatal("no " + field)
	return 0
}

// TestBombs has statements that Check lets through and that would take all memory or all time. The
// time is shorter here than Time, so that the test is.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for many statements to be stopped")
	}
	// These may end by themselves.
	harmless := []string{"regexp", "nested regexp", "clique", "correlated", "window", "copied arrays"}
	endless := []string{"series", "product", "doubling WITH", "offset", "window", "wide concat", "regexp"} // these take time and no memory
	var cte strings.Builder
	cte.WriteString("WITH t0 AS (SELECT 1 AS x)")
	for i := range 18 {
		cte.WriteString(", t" + strconv.Itoa(i+1) + " AS (SELECT a.x FROM t" + strconv.Itoa(i) + " a, t" + strconv.Itoa(i) + " b)")
	}
	var wide strings.Builder
	for i := range 30 {
		if i > 0 {
			wide.WriteString(", ")
		}
		wide.WriteString("lpad(g::text, 1000, 'ä')")
	}
	clique, nested := "SELECT count(*) FROM s t0", "SELECT max(m) FROM s"
	for i := 1; i <= maxEqual/2; i++ {
		clique += " JOIN s t" + strconv.Itoa(i) + " ON t" + strconv.Itoa(i) + ".m = t0.m AND t" + strconv.Itoa(i) + ".m >= t" +
			strconv.Itoa(i-1) + ".m"
	}
	for i := range 12 {
		nested = "SELECT max(m) FROM s q" + strconv.Itoa(i) + " WHERE q" + strconv.Itoa(i) + ".m >= (" + nested + " WHERE q" +
			strconv.Itoa(i) + ".k <= 'z')"
		nested = strings.Replace(nested, " WHERE q"+strconv.Itoa(i-1)+".m >= ",
			" WHERE q"+strconv.Itoa(i)+".m > 0 AND q"+strconv.Itoa(i-1)+".m >= ", 1)
		nested = strings.Replace(nested, ") WHERE", ") AND", 1)
	}
	doubling := "WITH t0 AS (SELECT json_build_array('x') AS j)"
	for i := 1; i < 25; i++ {
		doubling += ", t" + strconv.Itoa(i) + " AS (SELECT json_build_array(j, j, j) AS j FROM t" + strconv.Itoa(i-1) + ")"
	}
	doubling += " SELECT j"
	million := "generate_series(1, 1000000)"
	var percentiles []string
	for i := 10; i < 99; i++ {
		percentiles = append(percentiles, "percentile_cont(0."+strconv.Itoa(i)+") WITHIN GROUP (ORDER BY a)")
	}
	t.Cleanup(func() {
		if most := resident(t, "VmHWM"); most > 700 {
			t.Errorf("%d MB of memory were used", most)
		}
	})
	bombs := map[string]string{
		"series":   "SELECT count(*) FROM generate_series(1, 1000000000000) AS g WHERE g % 3 = 1",
		"all rows": "SELECT g FROM generate_series(1, 1000000000000) AS g",
		"product":  "SELECT count(*) FROM " + million + " a, " + million + " b, " + million + " c WHERE a + b + c = 0",
		"sort": "SELECT max(q) FROM (SELECT a * b % 1000003 AS q, row_number() OVER (ORDER BY a * b % 1000003) AS z FROM " +
			million + " a, generate_series(1, 100) b) t WHERE z > 3",
		"groups":       "SELECT count(*) FROM (SELECT a, b FROM " + million + " a, " + million + " b GROUP BY a, b) t",
		"texts":        "SELECT count(DISTINCT lpad(a::text, 1000, 'x')) FROM " + million + " a",
		"one text":     "SELECT length(string_agg(lpad(a::text, 1000, 'x'), ',')) FROM " + million + " a",
		"wide texts":   "SELECT " + wide.String() + " FROM generate_series(1, 100000) AS g",
		"wide concat":  "SELECT max(length(concat(" + wide.String() + "))) FROM " + million + " AS g",
		"large answer": "SELECT lpad(g::text, 900, 'x') FROM generate_series(1, 100000) AS g",
		"window": "SELECT sum(z) FROM (SELECT median(a) OVER (ORDER BY a % 1000 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) " +
			"AS z FROM " + million + " a) t",
		"regexp":         "SELECT count(*) FROM " + million + " a WHERE repeat('a', 1000) || a ~ '(a*)*(a|aa)*((a*)*b)*c$'",
		"doubling WITH":  cte.String() + " SELECT count(*) FROM t18, generate_series(1, 1000000000000) AS g",
		"median":         "SELECT median(a) FROM generate_series(1, 1000000000) AS a",
		"mad":            "SELECT mad(a::numeric(38, 2)) FROM generate_series(1, 1000000000) AS a",
		"percentiles":    "SELECT " + strings.Join(percentiles, ", ") + " FROM generate_series(1, 1000000000) AS a",
		"entropy":        "SELECT entropy(a) FROM generate_series(1, 1000000000) AS a",
		"outer median":   "SELECT (SELECT median(a)) FROM generate_series(1, 1000000000) AS a",
		"huge":           "SELECT factorial(1000000)",
		"offset":         "SELECT g FROM generate_series(1, 1000000000000) AS g OFFSET 999999999999",
		"clique":         clique,
		"correlated":     nested,
		"json of texts":  "SELECT json_agg(lpad(a::text, 1000, 'x')) FROM " + million + " a",
		"array of texts": "SELECT array_agg(lpad(a::text, 1000, 'x')) FROM " + million + " a",
		"json of rows":   "SELECT json_agg(a) FROM (SELECT a, a AS b, a AS c FROM " + million + " a) a",
		"long array":     "SELECT array_agg(a) FROM generate_series(1, 1000000000) AS a",
		"doubling json":  doubling + " FROM t24",
		"copied json": "SELECT json_agg(json_build_array(j, j, j, j)) FROM (SELECT json_agg(lpad(a::text, 1000, 'x')) AS j FROM " +
			"generate_series(1, 9000) a) t, " + million + " b",
		"copied answer": "SELECT j FROM (SELECT json_agg(lpad(a::text, 1000, 'x')) AS j FROM generate_series(1, 9000) a) t, " +
			"generate_series(1, 99000) b",
		"long texts": "SELECT array_agg(lpad(a::text, 1000, 'x')), json_agg(lpad(a::text, 1000, 'y')) FROM generate_series(1, 90000) AS a",
		"copied arrays": "SELECT count(*) FROM (SELECT array_agg(a) AS j FROM generate_series(1, 90000) a) t, " + million +
			" b WHERE b = ANY(j)",
		"many looks": "SELECT max(j -> b ->> 0) FROM (SELECT json_agg(lpad(a::text, 1000, 'x')) AS j FROM generate_series(1, 9000) a) t, " +
			million + " b",
		"wide numbers":  "SELECT j::jsonb FROM (SELECT json_agg('1e131000'::json) AS j FROM generate_series(1, 90000) a) t",
		"nested regexp": "SELECT 'a' ~ ('' || '((((a{1,100}){1,100}){1,100}){1,100}){1,100}')",
	}
	for _, name := range daily.Sample(t, slices.Sorted(maps.Keys(bombs)), 3) {
		text := bombs[name]
		t.Run(name, func(t *testing.T) {
			limit := 1500 * time.Millisecond // enough to come to a limit of memory or of the answer
			if slices.Contains(endless, name) {
				limit = 400 * time.Millisecond
				t.Parallel()
			}
			stmt, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			sql, err := Check(stmt, names(released()))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Describe(t.Context(), sql, released()); err != nil {
				t.Logf("Describe: %v", err)
			}
			before := resident(t, "VmRSS")
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			out, err := Run(ctx, sql, released())
			if err == nil && !slices.Contains(harmless, name) {
				t.Error("it was not stopped")
			} else if err == nil {
				t.Logf("%d rows in %v", len(out.Rows), time.Since(began))
			} else {
				t.Logf("%v: %v, %d MB, %d MB at most", time.Since(began), err, resident(t, "VmRSS")-before, resident(t, "VmHWM"))
			}
			// No test of time, but of being stopped at all: a minute is not what a busy machine
			// adds.
			if time.Since(began) > time.Minute {
				t.Error("it was not stopped")
			}
		})
	}
}

// TestLeaks: calls leave no goroutine and no open file behind, whatever becomes of them.
func TestLeaks(t *testing.T) {
	handles := func() int { l, _ := os.ReadDir("/proc/self/fd"); return len(l) }
	late := func() { // half a second, most of it asleep in the driver
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		Run(ctx, "SELECT count(*) FROM generate_series(1, 1000000000000)", released())
	}
	call := func() {
		Run(t.Context(), "SELECT nonsense", released())
		Run(t.Context(), "SELECT CAST(k AS INTEGER) FROM r", released())
		Describe(t.Context(), "SELECT k FROM r", released())
		if _, err := Run(t.Context(), "SELECT k FROM r", released()); err != nil {
			t.Error(err)
		}
		Run(t.Context(), "SELECT 1", []Table{{Name: "x"}})
	}
	late()
	call()
	goroutines, files := runtime.NumGoroutine(), handles()
	for i := range 4 {
		if i%3 == 0 {
			late()
		}
		call()
	}
	for range 100 { // closing takes a moment
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if n := handles(); n > files {
		t.Errorf("%d open files, %d before", n, files)
	}
	if len(turns) != 0 {
		t.Errorf("%d turns were not given back", len(turns))
	}
}

// TestLocked says to the instance itself what Run would not even pass on.
func TestLocked(t *testing.T) {
	in, err := open(t.Context(), released())
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	for _, text := range []string{
		"SET memory_limit = '100GB'", "SET enable_external_access = true", "SET threads = 8", "RESET memory_limit",
		"SET temp_directory = 'x'",
		"SET lock_configuration = false", "SET integer_division = false", "ATTACH 'x.duckdb'", "COPY r TO 'x.csv'", "LOAD httpfs",
	} {
		if _, err := in.conn.ExecContext(t.Context(), text); err == nil {
			t.Errorf("this ran: %s", text)
		}
	}
}
