package duckdb

import (
	"path/filepath"
	"testing"
)

// Sizes are rounded up and follow the data, and small ones are not told.
func TestSizes(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"),
		"CREATE TABLE a AS SELECT range % 2000 AS pid, repeat('x', 20 + CAST(range % 5 AS INTEGER)) AS n, 'k' || range % 3 AS k, "+
			"CASE WHEN range % 100 = 0 THEN repeat('y', 16000) ELSE NULL END AS r FROM range(5000)",
		"CREATE TABLE p AS SELECT range AS x, range % 10 AS y FROM range(100)")
	e := open(t, datasetWith(t, folder, "{epsilon: 1, delta: 1e-6}", `
source: d.duckdb
unit: a.pid
tables:
  a: {max_rows: 3, max_groups: 2, columns: {n: {type: text}, r: {type: text}, k: {type: text, keys: private}}}
  p: {public: true, columns: {x: {type: integer}, y: {type: integer}}}`))
	got, err := e.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, p := got.Tables["a"], got.Tables["p"]
	// Of a hundred texts 99 are NULL, and the other one has 16,000 bytes.
	if a.Rows != 5793 || a.Lengths["n"] != 23 || a.Lengths["k"] != 8 || a.Lengths["r"] != 182 || a.Values["k"] != 1024 || got.People < 2048 || got.People > 2897 {
		t.Errorf("%+v, %d people", a, got.People)
	}
	if p.Rows != 128 || p.Most["x"] != 1 || p.Most["y"] != 12 {
		t.Errorf("%+v", p)
	}
	if m := e.Machine(t.Context()); m.Threads < 1 || m.Factor < 0.5 || m.Memory <= 0 || m.Cluster || m.SQL {
		t.Errorf("%+v", m)
	}
}
