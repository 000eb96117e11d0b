package duckdb

import (
	"path/filepath"
	"testing"
)

// How large the data is is told as a power of ten, and the same before and after it is opened for
// questions.
func TestMagnitude(t *testing.T) {
	for _, c := range []struct {
		rows string
		want int
	}{{"0", 1}, {"8", 1}, {"9", 2}, {"98", 2}, {"99", 3}} { // with two tables of one row each
		folder := t.TempDir()
		owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE a AS SELECT range AS pid, 1 AS n FROM range("+c.rows+")",
			"CREATE TABLE p AS SELECT 1 AS x", "CREATE TABLE q AS SELECT 1 AS x")
		ds := dataset(t, folder, `
source: d.duckdb
unit: a.pid
tables:
  a: {unique: pid, columns: {n: {type: integer, bounds: [0, 9]}}}
  p: {public: true, columns: {x: {type: integer}}}
  q: {public: true, columns: {x: {type: integer}}}`)
		got, err := open(t, ds).Magnitude(t.Context())
		if _, checked, err := Inspect(t.Context(), ds); err != nil || checked != got {
			t.Errorf("%s rows: %d, and %d when checked: %v", c.rows, got, checked, err)
		}
		if err != nil || got != c.want {
			t.Errorf("%s rows: %d, %v", c.rows, got, err)
		}
	}
}
