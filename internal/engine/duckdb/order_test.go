package duckdb

import (
	"path/filepath"
	"testing"
)

// TestOrderOfOne: rows that are chosen to be in the order of people but for those of one person are
// read as often with that person as without.
func TestOrderOfOne(t *testing.T) {
	const mine = "INSERT INTO t SELECT -1, 'mine' UNION ALL SELECT 2000000, 'mine'"
	for _, c := range []struct{ order, question string }{
		{"", "SELECT COUNT(*) FROM t WHERE k = 'mine' OR k = 'theirs'"},
		{"", "SELECT k, COUNT(*) FROM t GROUP BY k"},
		{" ORDER BY u", "SELECT COUNT(*) FROM t JOIN p ON t.k = p.k"},
		{" ORDER BY u", "SELECT COUNT(*) FROM t LEFT JOIN p ON t.k = p.k"},
		{" ORDER BY u", "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.k = t.k)"},
	} {
		for _, target := range []string{"SELECT 1", "INSERT INTO t SELECT 37, 'theirs'"} {
			folder := t.TempDir()
			owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT CAST(hash(i) % 1000000 AS BIGINT) AS u, 'a' AS k FROM "+
				"range(300000) r(i)"+c.order, "CREATE TABLE p AS SELECT 'mine' AS k UNION ALL SELECT 'theirs'", mine, target)
			ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {k: "+
				"{type: text, keys: [mine, theirs]}}\n  p:\n    public: true\n    columns: {k: {type: text}}\n")
			e := open(t, ds)
			b, err := e.now.newBounded(bothOf(prepare(t, ds, c.question)))
			if err != nil {
				t.Fatal(err)
			}
			passes := 0
			if _, err = b.runWith(t.Context(), e.now.source, func() { passes++ }); err != nil || passes != 1 {
				t.Errorf("%s with %q: read %d times (%v)", c.question, target, passes, err)
			}
			b.close()
		}
	}
}
