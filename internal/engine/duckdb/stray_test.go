package duckdb

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestOneRowOutOfOrder: a table that is stored by person stays one where few rows are out of order,
// and is read once; the integers are those of a table in no order.
func TestOneRowOutOfOrder(t *testing.T) {
	const one = "INSERT INTO t SELECT u, k FROM t WHERE u = "
	for name, more := range map[string]string{
		"in order":       "SELECT 1",
		"one row behind": one + "37 LIMIT 1",
		"one beyond all": "INSERT INTO t SELECT 999999999, 'a' UNION ALL SELECT 12, 'a'",
		"ten behind":     "INSERT INTO t SELECT i * 9901, 'b' FROM range(10) r(i)",
		"a thousand":     "INSERT INTO t SELECT hash(i) % 30000, 'b' FROM range(1000) r(i)",
		"one in front":   "CREATE OR REPLACE TABLE t AS SELECT 299990 AS u, 'a' AS k UNION ALL FROM t",
		"one in between": "CREATE OR REPLACE TABLE t AS SELECT * EXCLUDE i FROM (SELECT *, rowid AS i FROM t UNION ALL " +
			"SELECT 3, 'a', 150000) ORDER BY i",
	} {
		for _, unit := range []string{"u", "lpad(CAST(u AS VARCHAR), 12, '0')"} {
			folder := t.TempDir()
			owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT i // 10 AS u, chr(CAST(97 + hash(i) % 3 AS "+
				"INTEGER)) AS k FROM range(300000) r(i)", more, "CREATE OR REPLACE TABLE t AS SELECT * REPLACE ("+unit+
				" AS u) FROM t")
			ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 2\n    columns: {k: "+
				"{type: text, keys: [a, b, c]}}\n")
			answers := map[string]string{}
			for _, threads := range []int{1, 2, 4} {
				e, err := OpenWith(t.Context(), ds, Limits{Threads: threads})
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range []string{"SELECT k, COUNT(*) FROM t GROUP BY k",
					"SELECT k, COUNT(*) FROM t WHERE length(upper(k)) = 1 GROUP BY k"} {
					b, err := e.now.newBounded(bothOf(prepare(t, ds, text)))
					if err != nil {
						t.Fatal(err)
					}
					passes := 0
					got, err := b.runWith(t.Context(), e.now.source, func() { passes++ })
					if err != nil || passes != 1 || b.spec.Unordered {
						t.Errorf("%s, %d threads: read %d times, in no order: %v (%v)", name, threads, passes, b.spec.Unordered, err)
					}
					b.spec.Unordered = true
					want, err := b.run(t.Context(), e.now.source)
					if answers[text] == "" {
						answers[text] = fmt.Sprint(want)
					}
					if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || answers[text] != fmt.Sprint(want) {
						t.Errorf("%s: %v in order, %v in none, %s elsewhere (%v)", name, got, want, answers[text], err)
					}
					b.close()
				}
				e.Close()
			}
		}
	}
}

// TestFewPass: rows that pass a condition come in the chunks in which they are stored, however few
// they are. Put together with those of other chunks they would be in another order, and be read
// again.
func TestFewPass(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT i // 10 AS u, CAST(hash(i) % 1000 AS INTEGER) AS v FROM "+
		"range(2000000) r(i)")
	ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {v: "+
		"{type: integer, bounds: [0, 1000]}}\n")
	for _, threads := range []int{1, 2, 4} {
		e, err := OpenWith(t.Context(), ds, Limits{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"SELECT COUNT(*) FROM t WHERE v % 100 = 3", "SELECT COUNT(*) FROM t WHERE v % 10 < 9"} {
			b, err := e.now.newBounded(bothOf(prepare(t, ds, text)))
			if err != nil {
				t.Fatal(err)
			}
			passes := 0
			if _, err := b.runWith(t.Context(), e.now.source, func() { passes++ }); err != nil || passes != 1 {
				t.Errorf("%s, %d threads: read %d times (%v)", text, threads, passes, err)
			}
			b.close()
		}
		e.Close()
	}
}

// TestPassesArePublic: how often rows are read follows from the size of the table and the memory,
// and not from which rows pass a condition: the last one that does not fit is no switch.
func TestPassesArePublic(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT CAST(hash(i) % 100000 AS BIGINT) AS u, CAST(hash(i + 7) % 1000 "+
		"AS INTEGER) AS v, 'k' || (hash(i * 31) % 10) AS k FROM range(1000000) r(i)")
	ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 6\n    columns: {v: "+
		"{type: integer, bounds: [0, 1000]}, k: {type: text, keys: [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9]}}\n")
	e := open(t, ds)
	for _, memory := range []int64{6 << 20, 12 << 20, 64 << 20} {
		e.now.memory = memory
		seen := map[int][]int{}
		for _, most := range []int{10, 300, 600, 800, 1000} {
			b, err := e.now.newBounded(bothOf(prepare(t, ds, fmt.Sprintf("SELECT k, COUNT(*), SUM(v) FROM t WHERE v <= %d GROUP BY k",
				most))))
			if err != nil {
				t.Fatal(err)
			}
			passes := 0
			if _, err := b.runWith(t.Context(), e.now.source, func() { passes++ }); err != nil {
				t.Fatal(err)
			}
			seen[passes] = append(seen[passes], most)
			b.close()
		}
		if len(seen) > 1 || memory < 12<<20 && seen[1] != nil {
			t.Errorf("%d bytes: read so often, by what passes: %v", memory, seen)
		}
		t.Logf("%d bytes: %v", memory, seen)
	}
}
