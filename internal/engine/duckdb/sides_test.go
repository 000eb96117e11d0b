package duckdb

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSidesArePublic: which side of a join is put into the hash table is the smaller table, by
// numbers that are public. One row more of one of them does not turn the join round.
func TestSidesArePublic(t *testing.T) {
	questions := []string{
		"SELECT COUNT(*) FROM a JOIN b ON a.u = b.u",
		"SELECT COUNT(*) FROM b JOIN a ON a.u = b.u",
		"SELECT COUNT(*) FROM a LEFT JOIN b ON a.u = b.u",
		"SELECT COUNT(*) FROM a LEFT JOIN b ON a.u = b.u AND b.v > 3",
		"SELECT COUNT(*) FROM a LEFT JOIN b ON a.u = b.u AND b.v > 3 AND b.v > a.v",
		"SELECT COUNT(*) FROM a FULL JOIN b ON a.u = b.u",
		"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.u = b.u AND b.v > 3)",
		"SELECT COUNT(*) FROM a WHERE u NOT IN (SELECT u FROM b WHERE b.v > 3)",
	}
	plans := func(a, b int) (out [][]string) {
		folder := t.TempDir()
		rows := "CREATE TABLE %s AS SELECT CAST(hash(i) %% 9000 AS BIGINT) AS u, i %% 7 AS v FROM range(%d) r(i)"
		owner(t, filepath.Join(folder, "d.duckdb"), fmt.Sprintf(rows, "a", a), fmt.Sprintf(rows, "b", b),
			"CREATE TABLE p AS SELECT i AS u, i % 7 AS w FROM range(9000) r(i)")
		ds := dataset(t, folder, "source: d.duckdb\nunit: p.u\ntables:\n  p:\n    unique: u\n    columns: {w: {type: integer, "+
			"bounds: [0, 6]}}\n  a:\n    path: u -> p.u\n    max_rows: 2\n    max_groups: 1\n    columns: {v: {type: integer, "+
			"bounds: [0, 6]}}\n  b:\n    path: u -> p.u\n    max_rows: 2\n    max_groups: 1\n    columns: {v: {type: integer, "+
			"bounds: [0, 6]}}\n")
		e := open(t, ds)
		for _, text := range questions {
			q, err := e.now.newBounded(bothOf(prepare(t, ds, text)))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			var name, plan string
			if err := e.now.DB.QueryRowContext(t.Context(), "EXPLAIN (FORMAT json) SELECT "+strings.Join(q.query.Columns, ", ")+" FROM "+
				q.query.From, q.query.Args...).Scan(&name, &plan); err != nil {
				t.Fatal(err)
			}
			q.close()
			var nodes []planNode
			if err := json.Unmarshal([]byte(plan), &nodes); err != nil {
				t.Fatal(err)
			}
			out = append(out, nodes[0].scans())
		}
		return out
	}
	even := plans(10_000, 10_000)
	for _, sizes := range [][2]int{{10_001, 10_000}, {10_000, 10_001}, {9_000, 11_000}} {
		for i, got := range plans(sizes[0], sizes[1]) {
			if !slices.Equal(got, even[i]) {
				t.Errorf("%s: with %v rows the tables are read %v, and %v with as many", questions[i], sizes, got, even[i])
			}
		}
	}
	for want, got := range map[string][][]string{"a": plans(3_000, 100_000)[:6], "b": plans(100_000, 3_000)[:6]} {
		for i, tables := range got {
			if last := tables[len(tables)-1]; last != want {
				t.Errorf("%s: %s is put into the hash table, and %s is smaller", questions[i], last, want)
			}
		}
	}
}

// planNode is an operator of DuckDB's.
type planNode struct {
	Name     string         `json:"name"`
	Children []planNode     `json:"children"`
	Extra    map[string]any `json:"extra_info"`
}

// scans are the tables below, those that are put into a hash table last.
func (n planNode) scans() (out []string) {
	if table, ok := n.Extra["Table"].(string); ok {
		out = append(out, table[strings.LastIndex(table, ".")+1:])
	}
	for _, c := range n.Children {
		out = append(out, c.scans()...)
	}
	return out
}
