package planner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/policy"
)

// The question about people's rows is one of theirs: it can be asked, one person is in one group of
// it with one row, and it counts the rows that the other one counts.
func TestSpread(t *testing.T) {
	ds := hospital(t)
	for _, c := range [][2]string{
		{"SELECT COUNT(*) FROM visits", "SELECT visits.pid AS person, dp_rows() AS n FROM visits GROUP BY 1)"},
		{"SELECT AVG(v.cost) FROM visits v WHERE ward = 'a'", "dp_rows() AS n FROM visits v WHERE ward = 'a' GROUP BY 1)"},
		{"SELECT SUM(cost) AS s FROM visits", "SELECT width_bucket(abs(n), ARRAY[78.125, 156.25, 234.375,"},
		{"SELECT SUM(cost), COUNT(*) FROM visits", "dp_rows() AS n"},
		{"SELECT ward w, COUNT(*) FROM visits GROUP BY w", "ward AS key1, dp_rows() AS n FROM visits GROUP BY 1, 2"},
		{"SELECT 1 + COUNT(*), kind FROM orders GROUP BY 2", "orders.customer AS person, kind AS key1"},
		{"SELECT ward, SUM(cost) FROM visits GROUP BY ward",
			"MAX(abs(n)) AS n FROM (SELECT visits.pid AS person, ward AS key1, dp_sum(cost)"},
		{"WITH v AS (SELECT pid FROM visits) SELECT COUNT(*) FROM v", "WITH v AS (SELECT pid FROM visits) SELECT width_bucket(n,"},
		{"SELECT COUNT(*) FROM patients JOIN visits USING (pid)", "FROM patients JOIN visits USING (pid)"},
		{"SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.pid = p.pid", "SELECT p.pid AS person"},
		{"SELECT COUNT(*) FROM (SELECT ward, pid FROM visits) AS x", "SELECT x.pid AS person"},
		{"SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM orders WHERE customer = visits.pid)", "EXISTS (SELECT 1"},
	} {
		text, want := c[0], c[1]
		read := syntax.Open(text, nil)
		st, err := planner.PrepareText(ds, read, planner.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		s, err := planner.SpreadOf(ds, read, st, planner.Options{})
		if err != nil {
			t.Error(text, err)
			continue
		}
		if !strings.Contains(strings.ToLower(s.SQL), strings.ToLower(want)) {
			t.Errorf("%s\nasks %s\nwant %s", text, s.SQL, want)
		}
		about, err := planner.Prepare(ds, s.SQL, planner.Options{})
		if err != nil {
			t.Errorf("%s\nasks %s\nwhich is refused: %v", text, s.SQL, err)
			continue
		}
		q := &about.Plans[0].Query
		if q.MaxRows() != 1 || q.MaxGroups() != 1 || q.Bounded() || len(q.Keys) != 1+map[bool]int{true: 1}[s.Groups] {
			t.Errorf("%s: one person is in %d groups with %d rows, of %d keys", text, q.MaxGroups(), q.MaxRows(), len(q.Keys))
		}
		for _, edges := range [][]int64{s.Rows, s.Persons} {
			for i := 1; i < len(edges); i++ {
				if edges[i] <= edges[i-1] {
					t.Errorf("%s: cells begin at %v", text, edges)
				}
			}
		}
		if err := verify.Query(ds, q); err != nil {
			t.Error(text, err)
		}
	}
	for text, want := range map[string]string{
		"SELECT * FROM (SELECT COUNT(*) FROM visits) a, (SELECT 1) b":                                "by itself",
		"SELECT ward, kind, COUNT(*) FROM visits JOIN orders ON pid = customer GROUP BY CUBE (1, 2)": "by itself",
		"SELECT COUNT(*) FROM (SELECT ward FROM visits) AS x":                                        "names the person",
	} {
		read := syntax.Open(text, nil)
		st, err := planner.PrepareText(ds, read, planner.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		if _, err := planner.SpreadOf(ds, read, st, planner.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whoever hangs up while it is made stops the work on it, and nothing else.
func TestSpreadIsStopped(t *testing.T) {
	ds := hospital(t)
	read := syntax.Open("SELECT ward, SUM(cost) FROM visits WHERE cost > 10 GROUP BY ward", nil)
	st, err := planner.PrepareText(ds, read, planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := planner.SpreadOf(ds, read, st, planner.Options{Meter: meter.New(ctx)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Numbers that are read in different ways have different names, though they have the same bounds:
// an answer about one says nothing of the other.
func TestReadingIsNamed(t *testing.T) {
	names := map[string]string{}
	for _, kind := range []string{"type: integer, bounds: [0, 9]", "type: decimal, granularity: 1, bounds: [0, 9]",
		"type: decimal, granularity: 0.5, bounds: [0, 9]", "type: integer, bounds: [0, 8]"} {
		p, err := policy.Parse("p.yaml", []byte(`datasets:
  d: {engine: duckdb, source: d, unit: row, budget: {epsilon: 1, per_query: {default: 0.1}}, analysts: {ana: {}},
    tables: {t: {columns: {x: {`+kind+`}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"SELECT COUNT(x) FROM t", "SELECT SUM(x) FROM t WHERE x > 3"} {
			st, err := planner.Prepare(p.Datasets["d"], text, planner.Options{})
			if err != nil {
				t.Fatal(kind, err)
			}
			hash := st.Plans[0].Query.Hash()
			if other := names[hash]; other != "" {
				t.Errorf("%s: %s and %s have one name", text, kind, other)
			}
			names[hash] = kind
		}
	}
}

// Fewer rows of a person can count than the policy allows, and no more.
func TestMaxRows(t *testing.T) {
	ds := hospital(t)
	for text, allowed := range map[string]int64{"SELECT COUNT(*) FROM visits": 50, "SELECT SUM(cost) FROM visits GROUP BY ward": 50,
		"SELECT COUNT(*) FROM patients": 1} {
		for rows, want := range map[int64]int64{0: allowed, 1: 1, 7: min(7, allowed), 50: allowed} {
			st, err := planner.Prepare(ds, text, planner.Options{MaxRows: rows})
			if err != nil {
				t.Fatal(text, err)
			}
			if got := st.Plans[0].Query.MaxRows(); got != want {
				t.Errorf("%s with %d: %d rows count, want %d", text, rows, got, want)
			}
			if err := verify.Query(ds, &st.Plans[0].Query); err != nil {
				t.Error(text, err)
			}
		}
		if _, err := planner.Prepare(ds, text, planner.Options{MaxRows: 51}); (err != nil) != (allowed > 1) {
			t.Errorf("%s with 51 rows: %v", text, err)
		}
	}
}
