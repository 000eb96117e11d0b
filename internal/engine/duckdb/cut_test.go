package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/sqlgen"
)

const visitsKeys = `
source: v.duckdb
unit: people.pid
max_fanout: 100
tables:
  people: {unique: pid, columns: {pid: {type: integer}, town: {type: text}}}
  visits: {path: pid -> people.pid, max_rows: 1000000, max_groups: 5, max_joined: 3, columns: {pid: {type: integer}, day: {type: integer, bounds: [0, 100000]}, cost: {type: integer, bounds: [0, 1000]}}}
  codes: {public: true, max_rows: 9, columns: {code: {type: integer}, kind: {type: text}}}
`

// visits opens people with some visits: person i has as many as are given, on as many days.
func visits(t testing.TB, rows ...int) *Engine {
	t.Helper()
	folder := t.TempDir()
	statements := []string{"CREATE TABLE people (pid INTEGER, town VARCHAR)",
		"CREATE TABLE visits (pid INTEGER, day INTEGER, cost INTEGER)",
		"CREATE TABLE codes AS SELECT 1 AS code, 'a' AS kind UNION ALL SELECT 1, 'b' UNION ALL SELECT 1, 'b' UNION ALL SELECT 2, 'b' " +
			"UNION ALL SELECT NULL, 'c' FROM range(50)"}
	for i, n := range rows {
		statements = append(statements, fmt.Sprintf("INSERT INTO people VALUES (%d, 'Rome')", i),
			fmt.Sprintf("INSERT INTO visits SELECT %d, range, hash(range, %d) %% 900 FROM range(%d)", i, i, n))
	}
	statements = append(statements, "INSERT INTO visits VALUES (NULL, 1, 1), (NULL, 2, 1), (NULL, 3, 1), (NULL, 4, 1)")
	owner(t, filepath.Join(folder, "v.duckdb"), statements...)
	return open(t, dataset(t, folder, visitsKeys))
}

func totals(t testing.TB, e *Engine, text string) []int64 {
	t.Helper()
	q := question(t, e, text)
	r, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatal(text, runAgain(t, e, q))
	}
	return r.Measures[0].Open()
}

// TestCut: of each person at most three rows are joined with others of the same person, on each
// side, and nobody who has fewer is cut. The limit of rows of an answer is out of reach here.
func TestCut(t *testing.T) {
	e := visits(t, 2, 3, 5, 40_000, 0)
	for text, want := range map[string]int64{
		"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = " +
			"b.pid": 4 + 9 + 9 + 9,
		"SELECT COUNT(*) FROM visits a LEFT JOIN visits b ON a.pid = " +
			"b.pid": 4 + 9 + 9 + 9,
		"SELECT COUNT(*) FROM people p LEFT JOIN (SELECT a.pid FROM visits a JOIN visits b ON a.pid = b.pid) v ON v.pid = " +
			"p.pid": 4 + 9 + 9 + 9 + 1,
		"SELECT SUM(n) FROM (SELECT a.pid, COUNT(*) AS n FROM visits a JOIN visits b ON a.pid = b.pid GROUP BY a.pid) " +
			"t": 4 + 9 + 9 + 9,
		// of the other side there are three for each
		"SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.day <= a.day + 100000)": 2 + 3 +
			5 + 96,
		"SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.day = " +
			"a.day)": 2 + 3 + 5 + 40_000,
		"SELECT COUNT(*) FROM people a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.day > a.pid)": 4,
		"SELECT COUNT(*) FROM visits a JOIN people p ON a.pid = " +
			"p.pid": 2 + 3 + 5 + 40_000,
		"SELECT COUNT(*) FROM visits a JOIN codes c ON c.code = a.day + 1": 4 + 4 + 4, // the fourth has none of these days among 96
		"SELECT COUNT(*) FROM (SELECT pid FROM visits WHERE day < 2) a JOIN (SELECT pid FROM visits WHERE day < 3) b ON a.pid = " +
			"b.pid": 4 + 6 + 6 + 6,
	} {
		if got := totals(t, e, text); got[0] != want {
			t.Errorf("%s: %d, and not %d", text, got[0], want)
		}
	}
}

// TestCutIsOnesOwn: what is kept of a person does not depend on others.
func TestCutIsOnesOwn(t *testing.T) {
	first := map[string]int64{}
	for _, others := range [][2]int{{0, 0}, {7, 9}, {50_000, 3}, {1, 20_000}} {
		e := visits(t, others[0], 30_000, others[1])
		for _, text := range []string{
			"SELECT SUM(a.cost + b.day) FROM visits a JOIN visits b ON a.pid = b.pid AND a.day <= b.day WHERE a.pid = 1",
			"SELECT SUM(a.cost) FROM visits a WHERE a.pid = 1 AND EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND a.day <= b.day)",
		} {
			got := totals(t, e, text)[0]
			if others == [2]int{} {
				first[text] = got
			}
			if got != first[text] || got == 0 {
				t.Errorf("%s: %v beside %v, and %v alone", text, got, others, first[text])
			}
		}
	}
}

// TestMost: how often values are there in a public table, and in no other.
func TestMost(t *testing.T) {
	e := visits(t, 1)
	for columns, want := range map[string]int64{"": 54, "code": 3, "kind": 50, "code kind": 2, "kind code": 2, "kind kind": 50} {
		for range 2 {
			if n, err := e.Most(t.Context(), "codes", strings.Fields(columns)); err != nil || n != want {
				t.Errorf("%q: %d %v, and not %d", columns, n, err, want)
			}
		}
	}
	for table, column := range map[string]string{"visits": "day", "people": "town", "nothing": "x", "codes": "absent"} {
		if n, err := e.Most(t.Context(), table, []string{column}); err == nil {
			t.Errorf("%s.%s: %d", table, column, n)
		}
	}
	if _, err := e.Most(t.Context(), "visits", nil); err == nil {
		t.Error("the rows of a private table are counted")
	}
}

// TestFanoutOfData: what is refused follows from the rows of public tables.
func TestFanoutOfData(t *testing.T) {
	e := visits(t, 1)
	for text, refused := range map[string]bool{
		// 27
		"SELECT COUNT(*) FROM people p JOIN codes a ON a.code = p.pid JOIN codes b ON b.code = p.pid JOIN codes c ON c.code = p.pid": false,
		"SELECT COUNT(*) FROM people p JOIN codes a ON a.code = p.pid JOIN codes b ON b.code = p.pid JOIN codes c ON c.code = p.pid JOIN " +
			"codes d ON d.kind = p.town": true,
		"SELECT COUNT(*) FROM people p JOIN codes a ON a.kind = " +
			"p.town": false,
		"SELECT COUNT(*) FROM people p JOIN codes a ON a.kind = p.town JOIN codes b ON b.kind = p.town AND b.code = p.pid": false, // 100
		"SELECT COUNT(*) FROM people p JOIN codes a ON a.kind = p.town JOIN codes b ON b.code = " +
			"p.pid": true,
		"SELECT COUNT(*) FROM people p JOIN codes a ON a.code <> p.pid JOIN codes b ON b.code <> " +
			"p.pid": true,
	} {
		_, err := planner.Prepare(e.dataset, text, planner.Options{Public: engine.PublicTables(t.Context(), e)})
		if (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPublicJoinedOnce: public relations are joined with each other before private rows come.
func TestPublicJoinedOnce(t *testing.T) {
	e := visits(t, 3, 4)
	const text = "SELECT COUNT(*) FROM visits v JOIN (SELECT a.code, b.kind FROM codes a JOIN codes b ON a.code = b.code) c ON c.code = " +
		"v.day"
	plan := explained(t, e, text)
	if !strings.Contains(plan, "CTE") {
		t.Errorf("joined with private rows first:\n%s", plan)
	}
	if got := totals(t, e, text); got[0] != 2*9+2*1 {
		t.Error(got)
	}
}

// TestLeftJoinByHashes: the condition of a LEFT JOIN does not make DuckDB look at all pairs of
// rows.
func TestLeftJoinByHashes(t *testing.T) {
	e := visits(t, 3, 5, 2)
	for text, want := range map[string]int64{
		"SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.pid AND p.pid = 1":                         1 + 5 + 1,
		"SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.pid AND (p.pid = 1 OR v.day = 0)":          1 + 5 + 1,
		"SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.pid AND v.day > p.pid":                     2 + 3 + 1,
		"SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.pid AND v.day > 1":                         1 + 3 + 1,
		"SELECT COUNT(*) FROM people p LEFT JOIN codes c ON c.code = p.pid AND (c.kind = 'b' OR p.town = 'Bonn')": 1 + 2 + 1,
	} {
		if plan := explained(t, e, text); strings.Contains(plan, "BLOCKWISE") || strings.Contains(plan, "NESTED_LOOP") {
			t.Errorf("%s:\n%s", text, plan)
		}
		if got := totals(t, e, text); got[0] != want {
			t.Errorf("%s: %d, and not %d", text, got[0], want)
		}
	}
}

const turnedKeys = `
source: d.duckdb
unit: p.u
tables:
  p: {unique: u, columns: {w: {type: integer, bounds: [0, 6]}}}
  a: {path: u -> p.u, max_rows: 100, max_groups: 9, columns: {v: {type: integer, bounds: [0, 6]}, s: {type: text, keys: [x, y, z]}}}
  b: {path: u -> p.u, max_rows: 100, max_groups: 9, columns: {v: {type: integer, bounds: [0, 6]}, s: {type: text, keys: [x, y, z]}}}
  c: {public: true, max_rows: 60, columns: {k: {type: integer}, x: {type: integer}, s: {type: text, keys: [x, y, z]}}}
`

// conditions are what an outer join can ask beside the person.
var conditions = []string{
	"t.v > 3", "t.v > q.v", "t.v IS NULL", "q.v > 2", "t.s = q.s", "t.v = q.v", "t.v <> q.v", "t.v + 1 = q.v", "coalesce(t.v, 0) = 0",
	"q.v + t.v > 5", "NOT (t.v > 3)", "t.v IN (1, 2)", "(t.v > 3 OR t.v IS NULL)", "t.v IS NOT DISTINCT FROM q.v",
	"t.v IS DISTINCT FROM q.v", "t.v >= q.v AND t.s > q.s", "t.s LIKE '%x%'", "1 = 1", "1 = 0", "coalesce(t.v, 1) = coalesce(q.v, 1)",
	"q.s IS NULL", "t.v NOT IN (1, NULL)", "t.s = 'y'", "t.v BETWEEN 2 AND q.v", "EXISTS (SELECT 1 FROM c WHERE c.k = t.v)",
	"t.v IN (SELECT c.k FROM c WHERE c.x > 2)", "EXISTS (SELECT 1 FROM c WHERE c.k = q.v AND c.x > t.v)",
}

// drawTurned draws a question with a join, and what surrounds it.
func drawTurned(r *rand.Rand) string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	join := pick(" JOIN ", " LEFT JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ")
	first := pick("a AS q", "b AS q", "(SELECT u, w AS v, 'x' AS s FROM p) AS q", "(SELECT u, v, s FROM b WHERE s = 'y') AS q")
	second := pick("b AS t", "a AS t", "(SELECT u, v, s FROM b WHERE v > 1 OR s = 'x') AS t",
		"(SELECT u, max(v) AS v, max(s) AS s FROM b GROUP BY u) AS t",
		"(SELECT p.u, b.v, b.s FROM p LEFT JOIN b ON p.u = b.u AND b.v > 2) AS t",
		"(SELECT u, v, s FROM a UNION ALL SELECT u, v, s FROM b) AS t",
		"(SELECT u, v, s, row_number() OVER (PARTITION BY u ORDER BY v, s) AS n FROM b) AS t")
	from, columns := first+join+second+" ON q.u = t.u", []string{"q.v", "t.v", "q.s", "t.s"}
	if join != " FULL JOIN " {
		for range r.IntN(3) {
			from += " AND " + pick(conditions...)
		}
	}
	switch r.IntN(4) {
	case 0:
		from = "(" + from + ")" + pick(" LEFT JOIN ", " JOIN ", " LEFT JOIN ") + "c ON " + pick("c.k = t.v", "c.k = q.v", "c.k < q.v",
			"c.k > t.v", "c.s = t.s", "c.k = q.v AND c.x > t.v", "c.k = q.v AND c.x > 2", "c.x > 2 AND c.s = q.s",
			"c.k < q.v AND c.x > t.v")
		columns = append(columns, "c.k", "c.x")
	case 1:
		from = pick("a", "b") + " AS q LEFT JOIN c ON " + pick("c.k = q.v", "c.k < q.v", "c.k = q.v AND c.x > 1",
			"c.s = q.s AND c.x IS NULL", "c.x > 3", "c.k = q.v AND q.s = 'x'")
		columns = []string{"q.v", "q.s", "c.k", "c.x"}
	}
	what := pick("COUNT(*)", "COUNT(*)", "COUNT("+pick(columns...)+")", "SUM(coalesce(q.v, 5))", "COUNT(DISTINCT q.u)")
	for i := range r.IntN(3) {
		from += []string{" WHERE ", " AND "}[i] + pick(columns...) + pick(" IS NULL", " IS NOT NULL")
	}
	if r.IntN(4) == 0 {
		return "SELECT q.s, " + what + " FROM " + from + " GROUP BY q.s"
	}
	return "SELECT " + what + " FROM " + from
}

// openTurned opens tables in which there are rows of nobody, and values that are not there.
func openTurned(t *testing.T, r *rand.Rand) *Engine {
	folder := t.TempDir()
	rows := func(name string, n int) string {
		salt := r.IntN(1_000_000)
		return fmt.Sprintf("CREATE TABLE %s AS SELECT nullif(CAST(hash(i, %[2]d) %% 30 AS BIGINT), 7) AS u, "+
			"nullif(CAST(hash(i, %[2]d, 1) %% 7 AS BIGINT), 5) AS v, "+
			"['x', 'y', 'z', NULL][1 + CAST(hash(i, %[2]d, 2) %% 4 AS BIGINT)] AS s FROM range(%d) r(i)", name, salt, n)
	}
	owner(t, filepath.Join(folder, "d.duckdb"), rows("a", 20+r.IntN(60)), rows("b", 20+r.IntN(300)),
		"CREATE TABLE p AS SELECT i AS u, i % 7 AS w FROM range(25) r(i)",
		"CREATE TABLE c AS SELECT i % 7 AS k, nullif(i % 5, 3) AS x, ['x', 'y', NULL][1 + i % 3] AS s FROM range(40) r(i)")
	return open(t, dataset(t, folder, turnedKeys))
}

// TestTurnedJoins: which side of a join is printed last is no part of what it means.
func TestTurnedJoins(t *testing.T) {
	asked := 0
	for _, seed := range seeds(t, 1, 5) {
		r := rand.New(rand.NewPCG(seed, 77))
		e := openTurned(t, r)
		own := map[string]int64{}
		for name, table := range e.now.tables {
			own[name] = table.Rows
		}
		ways := []func(name string) int64{
			func(name string) int64 { return own[name] },
			func(string) int64 { return 0 }, // nothing is turned
			func(name string) int64 { return 2000 - own[name] },
		}
		for range rounds(22, 120) {
			text := drawTurned(r)
			st, err := planner.Prepare(e.dataset, text, planner.Options{Public: engine.PublicTables(t.Context(), e)})
			if err != nil {
				continue
			}
			asked++
			q := &st.Plans[0].Query
			var got []string
			for _, way := range ways {
				for name, table := range e.now.tables {
					table.Rows = way(name)
				}
				result, err := e.Run(t.Context(), q)
				if err != nil {
					t.Fatalf("%s: %v", text, runAgain(t, e, q))
				}
				got = append(got, opened(result))
			}
			if got[0] != got[1] || got[2] != got[1] {
				t.Errorf("%s: %.300v", text, got)
			}
		}
	}
	if asked < rounds(7, 100) {
		t.Errorf("only %d questions were asked", asked)
	}
}

// TestErrRun interrupts a question at different moments. Whatever happens, the
// text is the same: it must not tell how far the engine came.
func TestErrRun(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT range % 1000 AS u, range % 7 AS i FROM range(200000)")
	e := open(t, dataset(t, folder, `
source: t.duckdb
unit: t.u
tables: {t: {max_rows: 5, max_groups: 3, columns: {i: {type: integer, bounds: [0, 6]}}}}
`))
	q := &prepare(t, e.dataset, "SELECT i, COUNT(*), SUM(i * i * i * 7 % 5) FROM t WHERE i * 3 % 7 <> 6 GROUP BY i").Query
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	interrupted := 0
	for _, wait := range []time.Duration{0, time.Millisecond, 4 * time.Millisecond, 10 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		if wait == 0 {
			ctx = cancelled
		}
		got, err := e.Run(ctx, q)
		cancel()
		if err == nil {
			continue // it was faster than that
		}
		interrupted++
		if !errors.Is(err, engine.ErrRun) || err.Error() != engine.ErrRun.Error() || engine.EndingOf(err) != engine.Stopped || got != nil {
			t.Errorf("after %v: %v, %v", wait, got, err)
		}
	}
	if interrupted == 0 {
		t.Error("nothing was interrupted")
	}
	if _, err := e.Run(t.Context(), q); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	const text = "the engine could not run this question, and the charge stays; ask the owner to run 'discreet check'"
	if engine.ErrRun.Error() != text || errors.Unwrap(engine.ErrRun) != nil {
		t.Errorf("the text is %q", engine.ErrRun)
	}
}

// TestErrRunHidesTheCause: a file that is destroyed while it is open makes the
// engine fail, with the same text and without the file's name.
func TestErrRunHidesTheCause(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "t.parquet")
	owner(t, "", "COPY (SELECT range AS i FROM range(10)) TO "+sqlgen.QuoteText(path))
	e := open(t, dataset(t, folder, "source: t.parquet\nunit: row\ntables: {t: {columns: {i: {type: integer, bounds: [0, 6]}}}}"))
	q := &prepare(t, e.dataset, "SELECT SUM(i) FROM t").Query
	write(t, folder, "t.parquet", "PAR1 this is not Parquet any more PAR1")
	if got, err := e.Run(t.Context(), q); err != engine.ErrRun {
		t.Errorf("%v, %v", got, err)
	}
}
