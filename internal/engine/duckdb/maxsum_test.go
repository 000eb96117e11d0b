package duckdb

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// TestMaxSum: the sum of a person's rows in a group is clamped, after it was added up, by every way
// to add: few groups and many, people who are numbers and texts, in Go and in SQL, short sums and
// long ones, together with other measures, and rows of people who have one.
func TestMaxSum(t *testing.T) {
	const rows = 3000
	for unit, person := range map[string]string{"integer": "BIGINT", "text": "VARCHAR", "sql": "DOUBLE"} {
		t.Run(unit, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "d.duckdb")
			// A person has 30 rows in three of 90 groups, some of them negative and some NULL.
			owner(t, path, fmt.Sprintf("CREATE TABLE items AS SELECT (i %% 100)::%s AS who, "+
				"(i %% 100 %% 30 * 3 + i // 100 %% 3)::INT AS g, "+
				"CASE WHEN i %% 11 <> 0 THEN (i * 7919 %% 61) - 20 END::INT AS x FROM range(%d) AS r(i)", person, rows),
				fmt.Sprintf("CREATE TABLE people AS SELECT i::%s AS who, (i * 7 %% 50) - 10 AS x FROM range(100) AS r(i)", person))
			e := open(t, dataset(t, folder, `source: d.duckdb
unit: people.who
tables:
  people: {unique: who, columns: {x: {type: integer, bounds: [-10, 40], max_sum: 15}}}
  items:
    path: who -> people.who
    max_rows: 30
    max_groups: 3
    columns:
      g: {type: integer, bounds: [0, 89]}
      x: {type: integer, bounds: [-20, 40], max_sum: 25}
`))
			value := func(i int) (int64, bool) { return int64(i*7919%61 - 20), i%11 != 0 }
			totals := func(groups int, of func(i int) int, scale int64) string {
				out := make([]int64, groups)
				partials := map[[2]int]int64{}
				for i := range rows {
					if v, ok := value(i); ok {
						partials[[2]int{i % 100, of(i)}] += v * scale
					}
				}
				for at, v := range partials {
					out[at[1]] += min(max(v, -25*scale), 25*scale)
				}
				return fmt.Sprint(out)
			}
			group := func(i int) int { return i%100%30*3 + i/100%3 }
			all, short := totals(1, func(int) int { return 0 }, 1), totals(3, func(i int) int { return group(i) % 3 }, 1)
			single := int64(0)
			for i := range 100 {
				single += min(max(int64(i*7%50-10), -15), 15)
			}
			for text, want := range map[string]string{
				"SELECT SUM(x) FROM items":                                   all,
				"SELECT SUM(x), MEDIAN(x) FROM items":                        all,
				"SELECT g % 3, SUM(x) FROM items GROUP BY g % 3":             short,
				"SELECT g, SUM(x) FROM items GROUP BY g":                     totals(90, group, 1),
				"SELECT g, SUM(x) FROM items WHERE g >= 0 GROUP BY g":        totals(90, group, 1),
				"SELECT SUM(x) FROM people":                                  fmt.Sprintf("[%d]", single),
				"SELECT SUM(CASE WHEN x IS NOT NULL THEN x END) FROM people": fmt.Sprintf("[%d]", single),
				"SELECT SUM(p.x) FROM people AS p WHERE p.x > -100":          fmt.Sprintf("[%d]", single),
			} {
				q := question(t, e, text)
				at := len(q.Measures) - 1
				m := q.Measures[at]
				if m.Most == nil || q.Sensitivity(m, dp.L1).L1().Int64() != q.MaxGroups()*m.Most.Int64() {
					t.Fatalf("%s: %s", text, q.Format())
				}
				r, err := e.Run(t.Context(), q)
				if err != nil {
					t.Fatal(why(t, e, q))
				}
				if got := fmt.Sprint(r.Measures[at].Open()); got != want {
					t.Errorf("%s: %s, want %s", text, got, want)
				}
			}
		})
	}
}
