package duckdb

import (
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkRun compares private questions with the same in plain SQL, on a million rows in a
// database file.
func BenchmarkRun(b *testing.B) {
	folder := b.TempDir()
	path := filepath.Join(folder, "t.duckdb")
	owner(b, path,
		`CREATE TABLE t AS SELECT range AS u, range % 200000 AS v, (range * 7919) % 91 AS age, (range * 104729) % 1000 AS pay, ['a', 'b', 'c', 'd'][(range * 31) % 4 + 1] AS s FROM range(1000000)`)
	const columns = `columns: {age: {type: integer, bounds: [0, 110]}, pay: {type: integer, bounds: [0, 1000]}, s: {type: text, keys: [a, b, c, d, e]}}`
	single := open(b, dataset(b, folder, "source: t.duckdb\nunit: t.u\ntables: {t: {unique: u, "+columns+"}}"))
	many := open(b, dataset(b, folder, "source: t.duckdb\nunit: t.v\ntables: {t: {max_rows: 5, max_groups: 2, "+columns+"}}"))
	for _, c := range []struct{ name, private, plain string }{
		{"count", "SELECT COUNT(*) FROM t WHERE age > 40", "SELECT count(*) FROM t WHERE age > 40"},
		{"sum", "SELECT COUNT(*), SUM(pay) FROM t WHERE age > 40", "SELECT count(*), sum(pay) FROM t WHERE age > 40"},
		{"groups", "SELECT s, COUNT(*), SUM(pay) FROM t GROUP BY s", "SELECT s, count(*), sum(pay) FROM t GROUP BY s"},
		{"fine", "SELECT s, age, COUNT(*), SUM(pay) FROM t GROUP BY s, age", "SELECT s, age, count(*), sum(pay) FROM t GROUP BY s, age"},
	} {
		for _, e := range []struct {
			name   string
			engine *Engine
		}{{"single", single}, {"many", many}} {
			q := &prepare(b, e.engine.dataset, c.private).Query
			b.Run(c.name+"/"+e.name, func(b *testing.B) {
				for b.Loop() {
					if _, err := e.engine.Run(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(c.name+"/plain", func(b *testing.B) {
			for b.Loop() {
				rows, err := single.now.DB.QueryContext(b.Context(), strings.Replace(c.plain, " t", " source.t", 1))
				if err != nil {
					b.Fatal(err)
				}
				for rows.Next() {
				}
				rows.Close()
			}
		})
	}
}
