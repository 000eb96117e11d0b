package verify_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/plan/verify"
)

const townPolicy = `datasets:
  d:
    engine: duckdb
    source: x.duckdb
    unit: people.pid
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {a: {}}
    tables:
      people:
        unique: pid
        columns: {age: {type: integer, bounds: [0, 100]}, sex: {type: text, keys: [F, M]}, town: {type: text}, big: {type: integer}}
      visits:
        path: pid -> people.pid
        max_rows: 5
        max_groups: 3
        columns: {day: {type: date, bounds: [2024-01-01, 2024-12-31]}, kind: {type: text}, cost: {type: decimal, bounds: [0, 100], granularity: 0.01}, num: {type: integer, bounds: [0, 9]}, code: {type: integer}}
`

// TestHoles: questions that once were holes. Package plan may refuse them, or build something that is right; what it builds is never
// accepted here where it is not. With every mending in package plan taken away, this is the only defence left.
func TestHoles(t *testing.T) {
	ds := parsed(t, townPolicy)
	const w9 = "round(CASE WHEN town = 'Zz9' THEN 9 ELSE 0 END * 1000000000000, -12)"
	const w5 = "round(CASE WHEN town = 'Zz9' THEN 5 ELSE 0 END * 1000000000000, -12)"
	for _, text := range []string{
		// Fields of two relations mixed up.
		"SELECT COUNT(*) FROM people p WHERE (SELECT MAX(v.num) FROM visits v WHERE v.pid = p.pid) IN (SELECT w.a FROM (SELECT age AS a, CASE WHEN town = 'Zz9' THEN 'abc' ELSE '1' END AS b, pid FROM people) w WHERE w.pid = p.pid)",
		"SELECT COUNT(*) FROM people p WHERE (SELECT MAX(v.num) FROM visits v WHERE v.pid = p.pid) NOT IN (SELECT w.a FROM (SELECT age AS a, age AS b, pid FROM people) w WHERE w.pid = p.pid)",
		"SELECT COUNT(*) FILTER (WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) IN (SELECT age FROM people q WHERE q.pid = p.pid)) FROM people p",
		"SELECT SUM(CASE WHEN (SELECT MAX(v.num) FROM visits v WHERE v.pid = p.pid) IN (SELECT num FROM visits q WHERE q.pid = p.pid) THEN 1 ELSE 0 END) FROM people p",
		// A number overflows on its way to a text.
		"SELECT COUNT(*) FROM (SELECT " + w9 + " AS w FROM people) t WHERE CAST(w*w*w AS text) = 'a'",
		"SELECT COUNT(*) FROM (SELECT round(big, -12) AS w FROM people) t WHERE CAST(w*w*w AS text) = 'a'",
		// And has more characters than it claims.
		"SELECT SUM(g*g*g*g) FROM (SELECT greatest(0, length(CAST(w*w*w AS text)) - 21) AS g FROM (SELECT " + w5 + " AS w FROM people) t) u",
		"SELECT AVG(g) FROM (SELECT length(CAST(w*w*w AS text)) AS g FROM (SELECT " + w5 + " AS w FROM people) t) u",
		// Constants that overflow when they are put together.
		"SELECT SUM(age % 1 * 4000000000 * 4000000000 + age) FROM people WHERE town = 'Zz9'",
		"SELECT COUNT(*) FROM people WHERE width_bucket(trunc(age, -11), 0, 1e-12, 1000000) = 3 AND town = 'Zz9'",
	} {
		st, err := plan.Prepare(ds, text, plan.Options{})
		if err != nil {
			t.Logf("refused by package plan: %v\n%s", err, text)
			continue
		}
		for _, p := range st.Plans {
			if err := verify.Query(ds, &p.Query); err != nil {
				t.Logf("%v\n%s", err, text)
			} else if q := p.Query.Format(); strings.Contains(q, "(text (*") || strings.Contains(q, "inside") || strings.Contains(q, "4000000000 ") || strings.Contains(q, "(floor") {
				t.Errorf("accepted: %s\n%s", text, q)
			}
		}
	}
}
