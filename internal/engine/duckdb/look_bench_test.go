package duckdb

import "testing"

// BenchmarkLook is what a question about a PostgreSQL database that has not changed waits for
// before it runs: by itself, and among others who ask at once.
func BenchmarkLook(b *testing.B) {
	c := newClinic(b, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader",
		"INSERT INTO people SELECT i, 'a' FROM generate_series(1, 1000) i", "SELECT pg_stat_force_next_flush()")
	e := open(b, dataset(b, b.TempDir(), c.peopleOf("", "")))
	defer e.Close()
	look := func(b *testing.B) {
		if _, err := e.Version(b.Context()); err != nil {
			b.Error(err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			look(b)
		}
	})
	b.Run("16 at once", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				look(b)
			}
		})
	})
}
