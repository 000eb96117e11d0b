package duckdb

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// BenchmarkBound measures questions about people with ten rows each against the same plain GROUP
// BY, one after the other in one run: 1000 groups, at most 5 of them a person. DISCREET_BENCH_ROWS
// says how many million rows, DISCREET_BENCH_EACH how many a person has instead of ten, and
// DISCREET_BENCH_FOLDER where the data is kept for another run.
//
//	DISCREET_BENCH_ROWS=30,100 DISCREET_BENCH_FOLDER=/tmp/bench go test -run xxx -bench Bound -benchtime 3x ./internal/engine/duckdb
func BenchmarkBound(b *testing.B) {
	sizes := os.Getenv("DISCREET_BENCH_ROWS")
	if sizes == "" {
		sizes = "1"
	}
	for _, size := range strings.Split(sizes, ",") {
		millions, err := strconv.Atoi(size)
		if err != nil {
			b.Fatal(err)
		}
		folder := os.Getenv("DISCREET_BENCH_FOLDER")
		if folder == "" {
			folder = b.TempDir()
		}
		benchmarkTables(b, folder, millions)
		for _, table := range []string{"clustered", "shuffled"} {
			for _, q := range []struct{ name, private, plain string }{
				{"sum", "SELECT k, COUNT(*), SUM(v) FROM %s GROUP BY k", ""},
				{"count", "SELECT k, COUNT(*) FROM %s GROUP BY k", ""},
				{"people", "SELECT COUNT(*) FROM %s", "SELECT COUNT(DISTINCT pid) FROM %s"},
			} {
				b.Run(fmt.Sprintf("rows=%dM/%s/%s", millions, table, q.name), func(b *testing.B) {
					if q.plain == "" {
						q.plain = q.private
					}
					path := benchmarkPath(folder, millions)
					benchmarkQuestion(b, path, table, fmt.Sprintf(q.private, table), fmt.Sprintf(q.plain, "d."+table))
				})
			}
		}
	}
}

// BenchmarkPrepared measures questions about a table that is stored by person, by discreet prepare,
// against the plain GROUP BY on the table as it was, in no order. The data is BenchmarkBound's.
func BenchmarkPrepared(b *testing.B) {
	millions, err := strconv.Atoi(cmp.Or(os.Getenv("DISCREET_BENCH_ROWS"), "1"))
	if err != nil {
		b.Fatal(err)
	}
	folder := cmp.Or(os.Getenv("DISCREET_BENCH_FOLDER"), b.TempDir())
	benchmarkTables(b, folder, millions)
	path := benchmarkPath(folder, millions)
	ds := benchmarkDataset(b, path, "shuffled")
	ds.Tables["shuffled"].Prepared = filepath.Join(folder, fmt.Sprintf("prepared%d.duckdb", millions))
	if _, err := os.Stat(ds.Tables["shuffled"].Prepared); err != nil {
		start := time.Now()
		if _, err := Store(b.Context(), ds, "", silent); err != nil {
			b.Fatal(err)
		}
		b.Logf("prepared in %v", time.Since(start))
	}
	for _, q := range []struct{ name, text string }{{"sum", "SELECT k, COUNT(*), SUM(v) FROM %s GROUP BY k"},
		{"count", "SELECT k, COUNT(*) FROM %s GROUP BY k"}} {
		b.Run(fmt.Sprintf("rows=%dM/%s", millions, q.name), func(b *testing.B) {
			benchmarkDatasetQuestion(b, ds, path, fmt.Sprintf(q.text, "shuffled"), fmt.Sprintf(q.text, "d.shuffled"))
		})
	}
}

// benchmarkEach is how many rows a person has.
func benchmarkEach() int {
	if n, err := strconv.Atoi(os.Getenv("DISCREET_BENCH_EACH")); err == nil && n > 0 {
		return n
	}
	return 10
}

func benchmarkPath(folder string, millions int) string {
	name := fmt.Sprintf("t%d.duckdb", millions)
	if n := benchmarkEach(); n != 10 {
		name = fmt.Sprintf("t%dx%d.duckdb", millions, n)
	}
	return filepath.Join(folder, name)
}

// benchmarkTables makes the same rows in two orders.
func benchmarkTables(b *testing.B, folder string, millions int) {
	b.Helper()
	path := benchmarkPath(folder, millions)
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	rows := millions * 1_000_000
	owner(b, path,
		fmt.Sprintf("CREATE TABLE shuffled AS SELECT CAST(hash(i) %% %d AS BIGINT) AS pid, 'key' || (hash(i * 31) %% 1000) AS k, "+
			"CAST(hash(i + 7) %% 100000 AS INTEGER) AS v FROM range(%d) r(i)", rows/benchmarkEach(), rows),
		"CREATE TABLE clustered AS SELECT * FROM shuffled ORDER BY pid")
}

func benchmarkQuestion(b *testing.B, path, table, private, plain string) {
	benchmarkDatasetQuestion(b, benchmarkDataset(b, path, table), path, private, plain)
}

func benchmarkDataset(b *testing.B, path, table string) *policy.Dataset {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("key%d", i)
	}
	return dataset(b, filepath.Dir(path), fmt.Sprintf(`
source: %s
unit: %s.pid
tables:
  %s:
    max_rows: 10
    max_groups: 5
    columns:
      k: {type: text, keys: [%s]}
      v: {type: integer, bounds: [0, 100000]}
`, filepath.Base(path), table, table, strings.Join(keys, ", ")))
}

func benchmarkDatasetQuestion(b *testing.B, ds *policy.Dataset, path, private, plain string) {
	e := open(b, ds)
	q := &prepare(b, ds, private).Query
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		b.Fatal(err)
	}
	other := sql.OpenDB(connector)
	defer other.Close()
	for _, s := range []string{"ATTACH " + dialect.QuoteText(path) + " AS d (READ_ONLY)", "SET preserve_insertion_order = false"} {
		if _, err := other.Exec(s); err != nil {
			b.Fatal(err)
		}
	}
	ask := func() time.Duration {
		start := time.Now()
		if _, err := e.Run(b.Context(), q); err != nil {
			b.Fatal(why(b, e, q))
		}
		return time.Since(start)
	}
	compare := func() time.Duration {
		start := time.Now()
		rows, err := other.Query(plain)
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
		}
		if err := rows.Close(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	compare() // warm
	ask()
	var bounded, open []time.Duration
	for b.Loop() {
		open, bounded = append(open, compare()), append(bounded, ask())
	}
	// The middle ones: a machine that others use as well disturbs some.
	slices.Sort(bounded)
	slices.Sort(open)
	x, y := bounded[len(bounded)/2], open[len(open)/2]
	b.ReportMetric(float64(x)/float64(y), "x-plain")
	b.ReportMetric(float64(bounded[0])/float64(open[0]), "x-least")
	b.ReportMetric(float64(x.Microseconds())/1000, "ms-bounded")
	b.ReportMetric(float64(y.Microseconds())/1000, "ms-plain")
	b.ReportMetric(float64(peakMemory())/1e9, "peak-GB")
	b.ReportMetric(0, "ns/op")
}

// peakMemory reads the largest size that this process has had so far.
func peakMemory() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb * 1024
		}
	}
	return 0
}
