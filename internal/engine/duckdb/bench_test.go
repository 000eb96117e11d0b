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

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
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
					must(e.engine.Run(b.Context(), q))(b)
				}
			})
		}
		b.Run(c.name+"/plain", func(b *testing.B) {
			for b.Loop() {
				rows := must(single.now.DB.QueryContext(b.Context(), strings.Replace(c.plain, " t", " source.t", 1)))(b)
				for rows.Next() {
				}
				rows.Close()
			}
		})
	}
}

// BenchmarkLook is what a question about a PostgreSQL database that has not changed waits for
// before it runs: by itself, and among others who ask at once.
func BenchmarkLook(b *testing.B) {
	c := ownClinic(b, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader",
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

// BenchmarkFetch reads a million rows of 20 and of 100 columns, of people with one row and of
// people with several, of whom none or most are cut.
func BenchmarkFetch(b *testing.B) {
	const rows = 1_000_000
	for _, width := range []int{20, 100} {
		var stored, declared, features []string
		for i := range width {
			name := fmt.Sprintf("x%d", i)
			features = append(features, name)
			if i%4 == 3 {
				stored = append(stored, fmt.Sprintf("['a', 'b', 'c', 'other', NULL][CAST(1 + hash(i, %d) %% 5 AS BIGINT)] AS %s", i, name))
				declared = append(declared, name+": {type: text, keys: [a, b, c]}")
			} else {
				stored = append(stored, fmt.Sprintf("CAST(hash(i, %d) %% 1200 AS INTEGER) - 100 AS %s", i, name))
				declared = append(declared, name+": {type: integer, bounds: [0, 1000]}")
			}
		}
		for _, c := range []struct{ name, who, unit, limits string }{
			{"single", "i", "unique: u", ""},
			{"none cut", "i // 10", "path: u -> people.u", ", max_rows: 10, max_groups: 1"},
			{"half cut", "i // 10", "path: u -> people.u", ", max_rows: 5, max_groups: 1"},
		} {
			b.Run(fmt.Sprintf("%d columns, %s", width, c.name), func(b *testing.B) {
				folder := b.TempDir()
				owner(b, filepath.Join(folder, "d.duckdb"),
					fmt.Sprintf("CREATE TABLE visits AS SELECT CAST(%s AS INTEGER) AS u, %s FROM range(%d) AS t(i)", c.who,
						strings.Join(stored, ", "), rows),
					"CREATE TABLE people AS SELECT DISTINCT u FROM visits")
				tables := "  visits: {" + c.unit + c.limits + ", columns: {" + strings.Join(declared, ", ") + "}}\n"
				unit := "visits.u"
				if c.limits != "" {
					tables, unit = tables+"  people: {unique: u, columns: {}}\n", "people.u"
				}
				e := open(b, dataset(b, folder, "source: d.duckdb\nunit: "+unit+"\ntables:\n"+tables))
				text := "SELECT " + strings.Join(features, ", ") + " FROM visits"
				t := must(planner.PrepareTable(e.dataset, text, "x0", planner.Options{}))(b)
				for b.Loop() {
					n := 0
					must(e.Fetch(b.Context(), t, sealed.NewCollector(func([]int64) { n++ })))(b)
					if n < rows/2 {
						b.Fatal(n)
					}
				}
			})
		}
	}
}

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
					benchmarkPair(b, sum, aggregateRun(b, e, table, q.text))
				})
			}
			e.Close()
		}
	}
}

func benchmarkPair(b *testing.B, one, other func()) {
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
		t := must(planner.PrepareTable(e.dataset, "SELECT k, v FROM "+table, "v", planner.Options{}))(b)
		return func() {
			must(e.Fetch(b.Context(), t, sealed.NewCollector(func([]int64) {})))(b)
		}
	}
	q := &prepare(b, e.dataset, fmt.Sprintf(text, table)).Query
	return func() {
		if _, err := e.Run(b.Context(), q); err != nil {
			b.Fatal(runAgain(b, e, q))
		}
	}
}

func aggregateTables(b *testing.B, path, rows string) {
	b.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	mustDo(b, os.MkdirAll(filepath.Dir(path), 0o700))
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
		millions := must(strconv.Atoi(size))(b)
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
	millions := must(strconv.Atoi(cmp.Or(os.Getenv("DISCREET_BENCH_ROWS"), "1")))(b)
	folder := cmp.Or(os.Getenv("DISCREET_BENCH_FOLDER"), b.TempDir())
	benchmarkTables(b, folder, millions)
	path := benchmarkPath(folder, millions)
	ds := benchmarkDataset(b, path, "shuffled")
	ds.Tables["shuffled"].Prepared = filepath.Join(folder, fmt.Sprintf("prepared%d.duckdb", millions))
	if _, err := os.Stat(ds.Tables["shuffled"].Prepared); err != nil {
		start := time.Now()
		must(Store(b.Context(), ds, "", silent))(b)
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
	mustDo(b, os.MkdirAll(filepath.Dir(path), 0o700))
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
	connector := must(driver.NewConnector("", nil))(b)
	other := sql.OpenDB(connector)
	defer other.Close()
	for _, s := range []string{"ATTACH " + sqlgen.QuoteText(path) + " AS d (READ_ONLY)", "SET preserve_insertion_order = false"} {
		must(other.Exec(s))(b)
	}
	ask := func() time.Duration {
		start := time.Now()
		if _, err := e.Run(b.Context(), q); err != nil {
			b.Fatal(runAgain(b, e, q))
		}
		return time.Since(start)
	}
	compare := func() time.Duration {
		start := time.Now()
		rows := must(other.Query(plain))(b)
		for rows.Next() {
		}
		mustDo(b, rows.Close())
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
