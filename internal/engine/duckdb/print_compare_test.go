package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompareAtBounds compares a column with every number around its bounds, from both sides and in
// every type of an integer. What is outside counts as the bound, whether the clamp is printed or
// not.
func TestCompareAtBounds(t *testing.T) {
	const lo, hi = 3, 6
	for _, typ := range []string{"BIGINT", "INTEGER", "UTINYINT", "HUGEINT"} {
		folder := t.TempDir()
		owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT range AS u, CAST(nullif(range, 10) AS "+typ+") AS x FROM "+
			"range(11)")
		e := open(t, dataset(t, folder, fmt.Sprintf("source: t.duckdb\nunit: t.u\ntables: {t: {unique: u, columns: {x: {type: integer, "+
			"bounds: [%d, %d]}}}}", lo, hi)))
		loose := 0
		for n := lo - 3; n <= hi+3; n++ {
			for op, holds := range map[string]func(x int) bool{
				"=": func(x int) bool { return x == n }, "<>": func(x int) bool { return x != n },
				"<": func(x int) bool { return x < n }, "<=": func(x int) bool { return x <= n },
				">": func(x int) bool { return x > n }, ">=": func(x int) bool { return x >= n },
			} {
				turned := strings.NewReplacer("<>", "<>", "<", ">", ">", "<").Replace(op)
				for _, where := range []string{fmt.Sprintf("x %s %d", op, n), fmt.Sprintf("%d %s x", n, turned)} {
					var want int64
					for x := range 10 { // the eleventh is NULL
						if holds(min(max(x, lo), hi)) {
							want++
						}
					}
					q := &prepare(t, e.dataset, "SELECT COUNT(*) FROM t WHERE "+where).Query
					if strings.Contains(e.now.Statements(q)[0].Text, ".r") {
						loose++
					}
					r, err := e.Run(t.Context(), q)
					if err != nil {
						t.Fatal(why(t, e, q))
					}
					if got := r.Measures[0].Open()[0]; got != want {
						t.Errorf("%s: %s holds for %d rows, and should for %d", typ, where, got, want)
					}
				}
			}
		}
		if loose == 0 {
			t.Error("no comparison was printed without the clamp")
		}
	}
}
