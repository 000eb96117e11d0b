package duckdb

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
)

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
	for seed := range uint64(3) {
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
		for range 120 {
			text := drawTurned(r)
			st, err := plan.Prepare(e.dataset, text, plan.Options{Public: public{t.Context(), e}})
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
					t.Fatalf("%s: %v", text, why(t, e, q))
				}
				got = append(got, opened(result))
			}
			if got[0] != got[1] || got[2] != got[1] {
				t.Errorf("%s: %.300v", text, got)
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d questions were asked", asked)
	}
}
