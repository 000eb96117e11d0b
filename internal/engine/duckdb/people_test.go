package duckdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// everything spells a result: combinations of private keys, people, sums and values.
func everything(r *engine.Result) string {
	var values [][][]int64
	for _, groups := range r.Values {
		var all [][]int64
		for _, v := range groups {
			all = append(all, v.Open())
		}
		values = append(values, all)
	}
	places := make([]int, r.Persons.Len())
	for i := range places {
		places[i] = i
	}
	var members [][]int32
	r.Members.Each(func(own []int32) { members = append(members, own) })
	return fmt.Sprint(r.Combos.Pick(places), r.Persons.Open(), members, opened(r), values)
}

// TestPeopleAsInSQL asks for every aggregate of people with many rows through package bound, with
// memory and without, and as SQL with windows. Where nobody is cut they are the same; where
// somebody is, the ways through bound are.
func TestPeopleAsInSQL(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), `CREATE TABLE t AS SELECT hash(i) % 900 AS u,
		CASE hash(i, 1) % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'b' WHEN 2 THEN 'no key' END AS k,
		['x', 'y', '', 'a text of more than twelve bytes', NULL][CAST(1 + hash(i, 2) % 5 AS BIGINT)] AS p,
		CASE WHEN hash(i, 3) % 9 > 0 THEN CAST(hash(i, 4) % 70 AS BIGINT) - 10 END AS w,
		CASE WHEN hash(i, 5) % 7 > 0 THEN CAST(hash(i, 6) % 4 AS BIGINT) * 3000000000000 END AS far,
		DATE '2024-01-01' + CAST(hash(i, 7) % 5 AS INTEGER) AS d, hash(i, 8) % 2 = 0 AS b FROM range(9000) r(i)`)
	for _, limits := range []struct {
		text string
		cut  bool
	}{{"max_rows: 100, max_groups: 200", false}, {"max_rows: 2, max_groups: 2", true}} {
		e := open(t, datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", `
source: d.duckdb
unit: t.u
tables:
  t:
    `+strings.ReplaceAll(limits.text, ", ", "\n    ")+`
    columns:
      k: {type: text, keys: [a, b, c, null]}
      p: {type: text, keys: private}
      w: {type: integer, bounds: [0, 50], keys: private}
      far: {type: integer, bounds: [0, 9000000000000]}
      d: {type: date, bounds: [2024-01-01, 2024-01-04]}
      b: {type: boolean}
`))
		for _, text := range []string{
			"SELECT COUNT(DISTINCT w) FROM t", "SELECT k, COUNT(DISTINCT p) FROM t GROUP BY k",
			"SELECT k, COUNT(DISTINCT far) FROM t GROUP BY k",
			"SELECT COUNT(DISTINCT b), COUNT(DISTINCT d), COUNT(DISTINCT w + 1) FROM t WHERE w > 3",
			"SELECT k, MEDIAN(w), MIN(far), MAX(far) FROM t GROUP BY k", "SELECT k, MEDIAN(d), COUNT(*), SUM(w) FROM t GROUP BY k",
			"SELECT p, COUNT(*) FROM t GROUP BY p", "SELECT w, p, COUNT(*), SUM(far), COUNT(DISTINCT w) FROM t GROUP BY w, p",
			"SELECT p, k, b, COUNT(*), MEDIAN(w) FROM t GROUP BY p, k, b", "SELECT p, COUNT(*) FROM t WHERE w > 1000 GROUP BY p",
		} {
			q := &prepare(t, e.dataset, text).Query
			inSQL, err := e.now.Run(t.Context(), q, e.now.Statements(q))
			if err != nil {
				t.Fatalf("%s: %v", text, why(t, e, q))
			}
			want := everything(inSQL)
			checkMembers(t, q, inSQL)
			for _, memory := range []int64{1 << 30, 1 << 21} {
				e.now.memory = memory
				known, err := e.now.runPeople(t.Context(), q)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				got, err := e.now.Finish(t.Context(), q, known, nil)
				if err == nil {
					checkMembers(t, q, got)
				}
				switch {
				case err != nil:
					t.Fatal(err)
				case limits.cut && memory == 1<<30:
					want = everything(got)
				case everything(got) != want:
					t.Errorf("%s, %s, %d bytes:\n%.2000s\nand not\n%.2000s", text, limits.text, memory, everything(got), want)
				}
			}
		}
	}
}

// checkMembers counts the people of each combination, who are weighed, once more.
func checkMembers(t *testing.T, q *tree.Query, r *engine.Result) {
	t.Helper()
	counts, some := make([]int64, r.Persons.Len()), false
	r.Members.Each(func(own []int32) {
		some = true
		if int64(len(own)) > q.MaxGroups() || !slices.IsSorted(own) || len(slices.Compact(slices.Clone(own))) != len(own) {
			t.Errorf("somebody is in %v, of %d", own, q.MaxGroups())
		}
		for _, c := range own {
			counts[c]++
		}
	})
	if want := q.Weighs() && len(counts) > 0; some != want || want && !slices.Equal(counts, r.Persons.Open()) {
		t.Errorf("%v are weighed, and %v are there", counts, r.Persons.Open())
	}
}

// TestNobodyIsReadToo: rows are read as often where nobody has a group of private keys as where
// somebody has: all is computed, about no groups.
func TestNobodyIsReadToo(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT i % 9 AS u, 'p' || i AS p, i AS w FROM range(50) r(i)")
	e := open(t, datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", "\nsource: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n"+
		"    max_groups: 2\n    columns:\n      p: {type: text, keys: private}\n      w: {type: integer, bounds: [0, 50]}\n"))
	for where, combos := range map[string]int{"w = 50": 0, "w = 49": 1} {
		q := &prepare(t, e.dataset, "SELECT p, COUNT(*), MEDIAN(w), COUNT(DISTINCT w) FROM t WHERE "+where+" GROUP BY p").Query
		known, err := e.now.runPeople(t.Context(), q)
		if err != nil || len(known.Combos) != combos || len(known.Persons) != combos ||
			len(known.Sums)+len(known.Values) != len(q.Measures) {
			t.Errorf("%s: %v (%v)", where, known, err)
			continue
		}
		for m, sums := range known.Sums {
			if len(sums) != combos {
				t.Errorf("%s: measure %d has %v", where, m, sums)
			}
		}
		inSQL, err1 := e.now.Run(t.Context(), q, e.now.Statements(q))
		got, err2 := e.now.Finish(t.Context(), q, known, nil)
		if err1 != nil || err2 != nil || everything(got) != everything(inSQL) {
			t.Errorf("%s: %v, %v", where, err1, err2)
		}
	}
}
