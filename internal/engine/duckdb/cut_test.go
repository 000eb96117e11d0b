package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
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

// totals runs a question.
func totals(t testing.TB, e *Engine, text string) []int64 {
	t.Helper()
	q := question(t, e, text)
	r, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatal(text, why(t, e, q))
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
	for _, text := range []string{
		"SELECT SUM(a.cost + b.day) FROM visits a JOIN visits b ON a.pid = b.pid AND a.day <= b.day WHERE a.pid = 1",
		"SELECT SUM(a.cost) FROM visits a WHERE a.pid = 1 AND EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND a.day <= b.day)",
	} {
		var first []int64
		for _, others := range [][2]int{{0, 0}, {7, 9}, {50_000, 3}, {1, 20_000}} {
			got := totals(t, visits(t, others[0], 30_000, others[1]), text)
			if first == nil {
				first = got
			}
			if got[0] != first[0] || got[0] == 0 {
				t.Errorf("%s: %v beside %v, and %v alone", text, got, others, first)
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
		_, err := plan.Prepare(e.dataset, text, plan.Options{Public: public{t.Context(), e}})
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

// TestPolicyOfWork: the defaults.
func TestPolicyOfWork(t *testing.T) {
	if (&policy.Dataset{}).Fanout() != 1000 || (&policy.Table{}).Joined() != 200 {
		t.Error("other defaults than the docs have")
	}
}
