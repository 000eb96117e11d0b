package duckdb

import (
	"fmt"
	"path/filepath"
	"testing"
)

const togetherKeys = `
source: v.duckdb
unit: people.pid
tables:
  people: {unique: pid, columns: {}}
  visits:
    path: pid -> people.pid
    max_rows: 20
    max_groups: 3
    columns: {day: {type: integer, bounds: [0, 9]}, cost: {type: integer, bounds: [0, 9]}}
`

// TestWindowsTogether: two windows put equal rows of a person into one order, wherever and beside
// whatever rows they are stored. A database that sorts twice would put them into two, of which
// other people's rows decide.
func TestWindowsTogether(t *testing.T) {
	const rows = "SELECT range // 10 AS pid, hash(range) % 3 AS day, hash(range, 1) % 2 AS cost FROM range(3000)"
	var stored []*Engine
	for _, visits := range []string{rows, "SELECT * FROM (" + rows + ") ORDER BY hash(pid), day DESC",
		"SELECT pid, day, cost FROM (SELECT *, random() AS r FROM (" + rows + ")) ORDER BY r"} {
		folder := t.TempDir()
		owner(t, filepath.Join(folder, "v.duckdb"), "CREATE TABLE people AS SELECT range AS pid FROM range(300)",
			"CREATE TABLE visits AS "+visits)
		stored = append(stored, open(t, dataset(t, folder, togetherKeys)))
	}
	number := "row_number() OVER (PARTITION BY pid ORDER BY cost)"
	for _, other := range []string{"row_number() OVER (PARTITION BY pid ORDER BY cost DESC)", "row_number() OVER (PARTITION BY pid, day)",
		"ntile(5) OVER (PARTITION BY pid ORDER BY cost DESC)", "row_number() OVER (PARTITION BY pid, day ORDER BY cost)"} {
		q := question(t, stored[0], "SELECT COUNT(*) FROM (SELECT "+number+" AS a, "+other+" AS b FROM visits) t WHERE a = b")
		seen := map[string]bool{}
		for _, e := range stored {
			for range 3 {
				r, err := e.Run(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				seen[fmt.Sprint(r.Measures[0].Open())] = true
			}
		}
		if len(seen) != 1 {
			t.Errorf("%s beside %s: of one table there are the counts %v", other, number, seen)
		}
	}
}
