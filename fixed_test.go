package discreet_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// BenchmarkFixed measures what every question takes whatever the size of the data: a thousand rows,
// and a ledger in memory, where an fsync takes no time. Medians: of new questions, of one that was
// asked before, and of the plain query in the same DuckDB.
func BenchmarkFixed(b *testing.B) {
	dir, err := os.MkdirTemp("/dev/shm", "discreet")
	if err != nil {
		b.Skip("there is no folder in memory: ", err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	plain(b, filepath.Join(dir, "data.duckdb"),
		"CREATE TABLE people AS SELECT i AS pid, 'key' || (i % 100) AS k, CAST(i AS INTEGER) AS v FROM range(1000) r(i)")
	for _, unit := range []string{"row", "unique"} {
		b.Run("unit="+unit, func(b *testing.B) { benchmarkFixed(b, dir, unit) })
	}
}

func benchmarkFixed(b *testing.B, dir, unit string) {
	ledger, err := os.MkdirTemp(dir, "ledger")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(ledger, "bench.yaml")
	if err := os.WriteFile(path, []byte(benchmarkPolicy(unit, "people", filepath.Join(dir, "data.duckdb"))), 0o600); err != nil {
		b.Fatal(err)
	}
	db, err := discreet.Open(context.Background(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	other := attached(b, dir)
	question := api.Question{Analyst: "ana", SQL: "SELECT k, COUNT(*), SUM(v) FROM people GROUP BY k", Epsilon: dp.One / 1000}
	ask := func(free bool) func() {
		return func() {
			if !free {
				question.Epsilon += 2 // a new question each time
			}
			a, err := db.Ask(context.Background(), question)
			if err != nil || a.Receipt.Free != free {
				b.Fatal(free, a, err)
			}
		}
	}
	ways := []struct {
		name string
		run  func()
	}{{"new", ask(false)}, {"remembered", ask(true)},
		{"plain", func() { query(b, other, "SELECT k, COUNT(*), SUM(v) FROM d.people GROUP BY k") }}}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, w := range ways {
			begin := time.Now()
			w.run()
			took[w.name] = append(took[w.name], time.Since(begin))
		}
	}
	median := func(name string) float64 {
		return float64(slices.Sorted(slices.Values(took[name]))[len(took[name])/2].Microseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op")
	for _, w := range ways {
		b.ReportMetric(median(w.name), "ms-"+w.name)
	}
	b.ReportMetric(median("new")-median("plain"), "ms-fixed")
}
