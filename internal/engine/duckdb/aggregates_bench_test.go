package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan"
)

// aggregates are questions about people with ten rows each, of which all but the first do more than
// add up. Of k, the keys are public, and of p, which is the same, they are private.
var aggregates = []struct{ name, text string }{
	{"sum", "SELECT k, COUNT(*), SUM(v) FROM %s GROUP BY k"},
	{"distinct", "SELECT k, COUNT(DISTINCT v) FROM %s GROUP BY k"},
	{"distinct text", "SELECT k, COUNT(DISTINCT p) FROM %s GROUP BY k"},
	{"distinct of all", "SELECT COUNT(DISTINCT v) FROM %s"},
	{"median", "SELECT k, MEDIAN(v) FROM %s GROUP BY k"},
	{"ends", "SELECT k, MIN(v), MAX(v) FROM %s GROUP BY k"},
	{"private keys", "SELECT p, COUNT(*), SUM(v) FROM %s GROUP BY p"},
	{"private number", "SELECT w, COUNT(*) FROM %s GROUP BY w"},
	{"several", "SELECT k, COUNT(*), SUM(v), COUNT(DISTINCT v), MEDIAN(v) FROM %s GROUP BY k"},
	{"train", ""},
}

// BenchmarkAggregates measures every aggregate against COUNT and SUM of the same people, one after
// the other in one run; and how much longer they take where one person has a million rows more.
// DISCREET_BENCH_ROWS and DISCREET_BENCH_FOLDER are those of BenchmarkBound.
func BenchmarkAggregates(b *testing.B) {
	sizes := os.Getenv("DISCREET_BENCH_ROWS")
	if sizes == "" {
		sizes = "1"
	}
	for _, size := range strings.Split(sizes, ",") {
		folder := os.Getenv("DISCREET_BENCH_FOLDER")
		if folder == "" {
			folder = b.TempDir()
		}
		path := filepath.Join(folder, "a"+size+".duckdb")
		aggregateTables(b, path, size+"000000")
		for _, table := range []string{"clustered", "shuffled", "outlier"} {
			e := openAggregates(b, path, table)
			sum := aggregateRun(b, e, table, aggregates[0].text)
			for _, q := range aggregates[1:] {
				b.Run(fmt.Sprintf("rows=%sM/%s/%s", size, table, q.name), func(b *testing.B) {
					compare(b, sum, aggregateRun(b, e, table, q.text))
				})
			}
			e.Close()
		}
	}
}

// compare measures a run beside another.
func compare(b *testing.B, one, other func()) {
	one()
	other()
	var base, took time.Duration
	for b.Loop() {
		start := time.Now()
		one()
		middle := time.Now()
		other()
		base, took = base+middle.Sub(start), took+time.Since(middle)
	}
	n := time.Duration(b.N)
	b.ReportMetric(float64(took)/float64(base), "x-sum")
	b.ReportMetric(float64((took/n).Microseconds())/1000, "ms")
	b.ReportMetric(float64((base/n).Microseconds())/1000, "ms-sum")
	b.ReportMetric(float64(peakMemory())/1e9, "peak-GB")
	b.ReportMetric(0, "ns/op")
}

// aggregateRun returns what asks a question, or reads rows to train on where there is no text.
func aggregateRun(b *testing.B, e *Engine, table, text string) func() {
	if text == "" {
		t, err := plan.PrepareTable(e.dataset, "SELECT k, v FROM "+table, "v", plan.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return func() {
			if _, err := e.Fetch(b.Context(), t, exact.NewCollector(func([]int64) {})); err != nil {
				b.Fatal(err)
			}
		}
	}
	q := &prepare(b, e.dataset, fmt.Sprintf(text, table)).Query
	return func() {
		if _, err := e.Run(b.Context(), q); err != nil {
			b.Fatal(why(b, e, q))
		}
	}
}

func aggregateTables(b *testing.B, path, rows string) {
	b.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	owner(b, path,
		"CREATE TABLE shuffled AS SELECT CAST(hash(i) % ("+rows+" // 10) AS BIGINT) AS pid, 'key' || (hash(i * 31) % 1000) AS k, k AS p, "+
			"CAST(hash(i + 7) % 100000 AS INTEGER) AS v, CAST(hash(i + 7) % 100000 AS INTEGER) AS w FROM range("+rows+") r(i)",
		"CREATE TABLE clustered AS SELECT * FROM shuffled ORDER BY pid",
		// And one person with a million rows, who has each private key once.
		"CREATE TABLE outlier AS SELECT * FROM shuffled UNION ALL SELECT -1, 'key' || (hash(i) % 1000), 'mine' || i, i % 100000, "+
			"i % 100000 FROM range(1000000) r(i)")
}

func openAggregates(b *testing.B, path, table string) *Engine {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("key%d", i)
	}
	return open(b, datasetWith(b, filepath.Dir(path), "{epsilon: 1, delta: 1e-6}", fmt.Sprintf(`
source: %s
unit: %s.pid
tables:
  %s:
    max_rows: 5
    max_groups: 5
    columns:
      k: {type: text, keys: [%s]}
      p: {type: text, keys: private}
      v: {type: integer, bounds: [0, 100000]}
      w: {type: integer, bounds: [0, 100000], keys: private}
`, filepath.Base(path), table, table, strings.Join(keys, ", "))))
}
