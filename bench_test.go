package discreet_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	_ "github.com/duckdb/duckdb-go/v2"
)

// BenchmarkAsk measures a private question against the same plain question in the
// same version of DuckDB, one after the other in one run. The private time
// includes planning, the durable charge, the noise, and storing the answer. The metric
// "x-plain" is the ratio of their medians, which is what compares across machines. With TMPDIR in
// memory an fsync takes no time.
func BenchmarkAsk(b *testing.B) {
	for _, rows := range []int{1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			dir := b.TempDir()
			for _, s := range []string{
				fmt.Sprintf("CREATE TABLE people AS SELECT i AS pid, 'key' || (hash(i) %% 100) AS k, CAST(hash(i + 7) %% 100000 AS "+
					"INTEGER) AS v FROM range(%d) r(i)", rows),
				// Ten rows a person, in no order.
				fmt.Sprintf("CREATE TABLE events AS SELECT hash(i) %% %d AS pid, 'key' || (hash(i * 31) %% 100) AS k, CAST(hash(i + 7) "+
					"%% 100000 AS INTEGER) AS v FROM range(%d) r(i)", rows/10, rows),
			} {
				plain(b, filepath.Join(dir, "data.duckdb"), s)
			}
			for _, unit := range []string{"row", "unique", "many"} {
				b.Run("unit="+unit, func(b *testing.B) { benchmarkUnit(b, dir, unit) })
			}
		})
	}
}

func benchmarkUnit(b *testing.B, dir, unit string) {
	table := "people"
	if unit == "many" {
		table = "events"
	}
	// A new policy has a new ledger. The budget of the last run's is another's.
	path := filepath.Join(b.TempDir(), "bench.yaml")
	if err := os.WriteFile(path, []byte(benchmarkPolicy(unit, table, filepath.Join(dir, "data.duckdb"))), 0o600); err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	db, err := discreet.Open(ctx, path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	other := attached(b, dir)
	question := "SELECT k, COUNT(*), SUM(v) FROM " + table + " GROUP BY k"
	epsilon := dp.One / 1000
	ask := func() time.Duration {
		// A new question each time, or it would be free: a little more for each of its two numbers.
		epsilon += 2
		start := time.Now()
		a, err := db.Ask(ctx, api.Question{Analyst: "ana", SQL: question, Epsilon: epsilon})
		took := time.Since(start)
		if err != nil {
			b.Fatal(err)
		}
		if a.Receipt.Free {
			b.Fatal("the answer was free, so nothing was measured")
		}
		return took
	}
	compare := func() time.Duration {
		start := time.Now()
		query(b, other, "SELECT k, COUNT(*), SUM(v) FROM d."+table+" GROUP BY k")
		return time.Since(start)
	}
	ask() // warm
	compare()
	var private, open []time.Duration
	for b.Loop() {
		private, open = append(private, ask()), append(open, compare())
	}
	median := func(all []time.Duration) float64 {
		return float64(slices.Sorted(slices.Values(all))[len(all)/2].Microseconds()) / 1000
	}
	b.ReportMetric(median(private)/median(open), "x-plain")
	b.ReportMetric(median(private), "ms-private")
	b.ReportMetric(median(open), "ms-plain")
	b.ReportMetric(0, "ns/op")
}

// attached is a DuckDB beside the engine's, with the same file.
func attached(b *testing.B, dir string) *sql.DB {
	other, err := sql.Open("duckdb", "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { other.Close() })
	for _, s := range []string{
		"ATTACH '" + filepath.Join(dir, "data.duckdb") + "' AS d (READ_ONLY)",
		"SET preserve_insertion_order = false", // as the engine has it
	} {
		if _, err := other.Exec(s); err != nil {
			b.Fatal(err)
		}
	}
	return other
}

// query reads all rows of a plain query.
func query(b *testing.B, db *sql.DB, text string) {
	rows, err := db.Query(text)
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Close(); err != nil {
		b.Fatal(err)
	}
}

func benchmarkPolicy(unit, table, source string) string {
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprintf("key%d", i)
	}
	about, bounds := "row", ""
	switch unit {
	case "unique":
		about, bounds = table+".pid", "unique: pid"
	case "many":
		about, bounds = table+".pid", "max_rows: 10\n        max_groups: 5"
	}
	return fmt.Sprintf(`datasets:
  bench:
    engine: duckdb
    source: %q
    unit: %s
    budget: {epsilon: 100}
    analysts: {ana: {}}
    tables:
      %s:
        %s
        columns:
          k: {type: text, keys: [%s]}
          v: {type: integer, bounds: [0, 100000]}
`, source, about, table, bounds, strings.Join(keys, ", "))
}

// plain runs one statement in a DuckDB file without protection.
func plain(tb testing.TB, file, statement string) {
	tb.Helper()
	db, err := sql.Open("duckdb", file)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		tb.Fatal(err)
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
}
