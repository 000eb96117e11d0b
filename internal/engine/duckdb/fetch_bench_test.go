package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan"
)

// BenchmarkFetch reads a million rows of 20 and of 100 columns, of people with one row and of
// people with several, of whom none or most are cut.
func BenchmarkFetch(b *testing.B) {
	const rows = 1_000_000
	for _, width := range []int{20, 100} {
		var stored, declared, features []string
		for i := range width {
			name := fmt.Sprintf("x%d", i)
			features = append(features, name)
			if i%4 == 3 {
				stored = append(stored, fmt.Sprintf("['a', 'b', 'c', 'other', NULL][CAST(1 + hash(i, %d) %% 5 AS BIGINT)] AS %s", i, name))
				declared = append(declared, name+": {type: text, keys: [a, b, c]}")
			} else {
				stored = append(stored, fmt.Sprintf("CAST(hash(i, %d) %% 1200 AS INTEGER) - 100 AS %s", i, name))
				declared = append(declared, name+": {type: integer, bounds: [0, 1000]}")
			}
		}
		for _, c := range []struct{ name, who, unit, limits string }{
			{"single", "i", "unique: u", ""},
			{"none cut", "i // 10", "path: u -> people.u", ", max_rows: 10, max_groups: 1"},
			{"half cut", "i // 10", "path: u -> people.u", ", max_rows: 5, max_groups: 1"},
		} {
			b.Run(fmt.Sprintf("%d columns, %s", width, c.name), func(b *testing.B) {
				folder := b.TempDir()
				owner(b, filepath.Join(folder, "d.duckdb"),
					fmt.Sprintf("CREATE TABLE visits AS SELECT CAST(%s AS INTEGER) AS u, %s FROM range(%d) AS t(i)", c.who,
						strings.Join(stored, ", "), rows),
					"CREATE TABLE people AS SELECT DISTINCT u FROM visits")
				tables := "  visits: {" + c.unit + c.limits + ", columns: {" + strings.Join(declared, ", ") + "}}\n"
				unit := "visits.u"
				if c.limits != "" {
					tables, unit = tables+"  people: {unique: u, columns: {}}\n", "people.u"
				}
				e := open(b, dataset(b, folder, "source: d.duckdb\nunit: "+unit+"\ntables:\n"+tables))
				t, err := plan.PrepareTable(e.dataset, "SELECT "+strings.Join(features, ", ")+" FROM visits", "x0", plan.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					n := 0
					if _, err := e.Fetch(b.Context(), t, exact.NewCollector(func([]int64) { n++ })); err != nil {
						b.Fatal(err)
					}
					if n < rows/2 {
						b.Fatal(n)
					}
				}
			})
		}
	}
}
