package duckdb

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

func version(t testing.TB, e *Engine) store.Version {
	t.Helper()
	v := must(e.Version(t.Context()))(t)
	return v
}

const counted = "unit: row\ntables: {t: {columns: {i: {type: integer, bounds: [0, 100]}}}}"

// later changes a file's time, because a test can be faster than a clock.
func later(t testing.TB, path string) {
	when := time.Now().Add(time.Hour)
	mustDo(t, os.Chtimes(path, when, when))
}

// TestVersionIsTheContents: the same contents have the same version wherever and
// whenever they were written, and other contents another.
func TestVersionIsTheContents(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"i\n1\n", "i\n2\n", "i\n1\n2\n", "i\n2\n1\n"} {
		var versions []string
		for range 2 {
			folder := t.TempDir()
			later(t, write(t, folder, "t.csv", text))
			versions = append(versions, version(t, open(t, dataset(t, folder, "source: t.csv\n"+counted))).Key())
		}
		if versions[0] != versions[1] || len(versions[0]) != 64 {
			t.Errorf("%q has the versions %v", text, versions)
		}
		if other, ok := seen[versions[0]]; ok {
			t.Errorf("%q and %q have one version", text, other)
		}
		seen[versions[0]] = text
	}
}

// TestChange changes each kind of source while it is open. The change is noticed,
// and the new data is what questions then see.
func TestChange(t *testing.T) {
	folder := t.TempDir()
	csv, parquet, database := filepath.Join(folder, "t.csv"), filepath.Join(folder, "t.parquet"), filepath.Join(folder, "t.duckdb")
	for name, c := range map[string]struct{ first, second func() }{
		"t.csv": {func() { write(t, folder, "t.csv", "i\n1\n2\n") }, func() { write(t, folder, "t.csv", "i\n1\n2\n50\n"); later(t, csv) }},
		"t.parquet": {
			func() { owner(t, "", "COPY (SELECT 1 AS i UNION ALL SELECT 2) TO "+sqlgen.QuoteText(parquet)) },
			func() {
				owner(t, "", "COPY (SELECT unnest([1, 2, 50]) AS i) TO "+sqlgen.QuoteText(parquet))
				later(t, parquet)
			},
		},
		"t.duckdb": {
			func() { owner(t, database, "CREATE TABLE t AS SELECT unnest([1, 2]) AS i") },
			func() { owner(t, database, "INSERT INTO t VALUES (50)"); later(t, database) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.first()
			nothingLeft := watchSpills(t)
			e := open(t, dataset(t, folder, "source: "+name+"\n"+counted))
			first := version(t, e)
			if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[2] [3]]" || version(t, e) != first {
				t.Fatal(got)
			}
			if name == "t.duckdb" { // as a file copied over it would be: our handle locks writers of this process out
				e.now.DB.Close()
			}
			c.second()
			if version(t, e) == first {
				t.Error("the change was not noticed")
			}
			if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[3] [53]]" {
				t.Errorf("the new data was not used: %v", got)
			}
			e.Close()
			nothingLeft()
		})
	}
}

// TestWriteAheadLog: rows that another process has written but not yet moved into the
// database's file are part of its contents.
func TestWriteAheadLog(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "t.duckdb")
	owner(t, path, "CREATE TABLE t AS SELECT unnest([1, 2]) AS i")
	first := version(t, open(t, dataset(t, folder, "source: t.duckdb\n"+counted)))
	// A copy made while the log is there is what a crash leaves.
	crashed := t.TempDir()
	other := filepath.Join(crashed, "t.duckdb")
	copyFile(t, path, other)
	writer := must(sql.Open("duckdb", other))(t)
	must(writer.Exec("PRAGMA disable_checkpoint_on_shutdown"))(t)
	must(writer.Exec("INSERT INTO t VALUES (50)"))(t)
	mustDo(t, writer.Close())
	if _, err := os.Stat(other + ".wal"); err != nil {
		t.Fatal("there is no log to test", err)
	}
	e := open(t, dataset(t, crashed, "source: t.duckdb\n"+counted))
	if version(t, e) == first {
		t.Error("the log is not part of the version")
	}
	if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[3] [53]]" {
		t.Errorf("the log is not part of the data: %v", got)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data := must(os.ReadFile(from))(t)
	mustDo(t, os.WriteFile(to, data, 0o666))
}

// TestVanished: a source that goes away while it is open gives an error to the
// owner, keeps what was open, and leaves nothing behind.
func TestVanished(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "t.csv", "i\n1\n")
	nothingLeft := watchSpills(t)
	e := open(t, dataset(t, folder, "source: t.csv\n"+counted))
	mustDo(t, os.Remove(path))
	if v, err := e.Version(t.Context()); err == nil {
		t.Errorf("version %v", v)
	}
	write(t, folder, "t.csv", "i\n1\n5\n")
	version(t, e)
	if got := fmt.Sprint(ask(t, e, "SELECT SUM(i) FROM t")); got != "[[6]]" {
		t.Error(got)
	}
	e.Close()
	nothingLeft()
}

// TestConcurrent asks and changes at the same time, for the race detector.
func TestConcurrent(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "i\n1\n2\n")
	e := open(t, dataset(t, folder, "source: t.csv\n"+counted))
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for k := range 15 {
				if w == 0 {
					write(t, folder, "t.csv", "i\n1\n2\n"[:4+2*(k%2)])
					if _, err := e.Version(t.Context()); err != nil {
						t.Error(err)
					}
				} else if got := ask(t, e, "SELECT COUNT(*) FROM t"); got[0][0] < 1 || got[0][0] > 2 {
					t.Error(got)
				}
			}
		})
	}
	all.Wait()
}

// TestVersionOfTables: the same files are other data when they are other tables, or are read in
// another way.
func TestVersionOfTables(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "x.csv", "i\n1\n")
	write(t, folder, "y.csv", "i\n2\n")
	of := func(a, b, delimiter string) store.Version {
		return version(t, open(t, dataset(t, folder, fmt.Sprintf("unit: row\ntables: {a: {source: %s, delimiter: %q, columns: {i: {type: "+
			"integer, bounds: [0, 100]}}}, b: {source: %s, columns: {i: {type: integer, bounds: [0, 100]}}}}", a, delimiter, b))))
	}
	first := of("x.csv", "y.csv", ",")
	if again := of("x.csv", "y.csv", ","); again != first {
		t.Error("the same is another version")
	}
	if of("y.csv", "x.csv", ",") == first {
		t.Error("tables that changed places have the same version")
	}
	if of("x.csv", "y.csv", ";") == first {
		t.Error("another delimiter has the same version")
	}
}

// loaded makes a database with a log of its loads, and a policy that asks the query.
func loaded(t *testing.T, query string) (path, keys string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "t.duckdb")
	owner(t, path, "CREATE TABLE t AS SELECT unnest([1, 2]) AS i",
		"CREATE TABLE load_log AS SELECT TIMESTAMP '2026-11-01 08:00:00' AS loaded_at, 'mallory' AS who",
		"CREATE SCHEMA meta", "CREATE TABLE meta.loads AS SELECT 7 AS n")
	return path, fmt.Sprintf("source: t.duckdb\nversion: %q\n%s", query, counted)
}

func TestVersionQuery(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT max(loaded_at) FROM load_log":                      "2026-11-01 08:00:00",
		"SELECT max(loaded_at) FROM source.main.load_log;\n":       "2026-11-01 08:00:00",
		"SELECT n FROM meta.loads -- how often":                    "7",
		"FROM meta.loads":                                          "7",
		"WITH l AS (SELECT 1 AS x) SELECT x + 0.5 FROM l":          "1.5",
		"SELECT 'a | b é'":                                         "a | b é",
		"SELECT repeat('x', 200)":                                  strings.Repeat("x", 200),
		"SELECT TIMESTAMPTZ '2026-11-01 08:00:00+02' AS loaded_at": "2026-11-01 06:00:00+00",
	} {
		path, keys := loaded(t, query)
		e := open(t, dataset(t, filepath.Dir(path), keys))
		if got := version(t, e).Name; got != want {
			t.Errorf("%s: %q", query, got)
		}
		if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[2] [3]]" {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// TestBadVersionQuery: the owner is told what is wrong, analysts one text, and nothing is written.
func TestBadVersionQuery(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "out.csv")
	secret := write(t, t.TempDir(), "secret.csv", "i\n1\n")
	bad := map[string]string{
		"SELECT i FROM t":                           "several rows",
		"SELECT i FROM t WHERE i > 5":               "no row",
		"SELECT max(i) FROM t WHERE i > 5":          "is NULL",
		"SELECT 1, 2":                               "has 2 columns",
		"SELECT ''":                                 "an empty text",
		"SELECT '  '":                               "an empty text",
		"SELECT repeat('x', 201)":                   "201 bytes long",
		"SELECT repeat('x', 10000000)":              "10000000 bytes long",
		"SELECT 'a' || chr(10) || 'b'":              "cannot be printed",
		"SELECT chr(27) || '[2J'":                   "cannot be printed",
		"SELECT CAST(who AS INTEGER) FROM load_log": "mallory",
		"SELECT nothing FROM load_log":              "cannot be run",
		"SELECT max(x) FROM nowhere":                "cannot be run",
		"not SQL":                                   "cannot be run",
		";":                                         "cannot be run",
		"SELECT 1; SELECT 2":                        "cannot be run",
		"INSERT INTO t VALUES (50)":                 "cannot be run",
		"DELETE FROM t":                             "cannot be run",
		"UPDATE t SET i = 0":                        "cannot be run",
		"CREATE TABLE x AS SELECT 1":                "cannot be run",
		"COPY t TO " + sqlgen.QuoteText(outside):    "cannot be run",
		"SELECT count(*) FROM read_csv(" + sqlgen.QuoteText(secret) + ")":                 "cannot be run",
		"SELECT 1); DELETE FROM t; SELECT * FROM (SELECT 2":                               "read-only",
		"SELECT 1); SET enable_external_access = true; SELECT * FROM (SELECT 2":           "locked",
		"SELECT 1); COPY t TO " + sqlgen.QuoteText(outside) + "; SELECT * FROM (SELECT 2": "disabled",
	}
	for _, query := range daily.Sample(t, slices.Sorted(maps.Keys(bad)), 6) {
		want := bad[query]
		path, keys := loaded(t, query)
		before := must(os.ReadFile(path))(t)
		ds := dataset(t, filepath.Dir(path), keys)
		_, err := Open(t.Context(), ds)
		var bad *policy.VersionError
		if !errors.As(err, &bad) || err.Error() != (&policy.VersionError{Dataset: ds.Name}).Error() {
			t.Errorf("%s: analysts are told %v", query, err)
			continue
		}
		if text := bad.Explain(); !strings.Contains(text, want) {
			t.Errorf("%s: the owner is told %s", query, text)
		}
		if _, err := DescribeVersion(t.Context(), ds); err == nil || err.Error() != bad.Explain() {
			t.Errorf("%s: check says %v", query, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the database was written to", query)
		}
		if _, err := os.Stat(outside); err == nil {
			t.Fatalf("%s: a file was written", query)
		}
	}
}

// TestVersionQueryDecides: with a query it alone names the database, and it is asked again when the
// file has changed.
func TestVersionQueryDecides(t *testing.T) {
	path, keys := loaded(t, "SELECT max(loaded_at) FROM load_log")
	folder := filepath.Dir(path)
	e := open(t, dataset(t, folder, keys))
	first := version(t, e)
	e.now.DB.Close() // as a file copied over it would be
	owner(t, path, "INSERT INTO t VALUES (50)")
	later(t, path)
	if version(t, e) != first {
		t.Error("another version, though the query says the same")
	}
	if got := fmt.Sprint(ask(t, e, "SELECT SUM(i) FROM t")); got != "[[53]]" {
		t.Errorf("the new data is not used: %v", got)
	}
	e.now.DB.Close()
	owner(t, path, "INSERT INTO load_log VALUES (TIMESTAMP '2026-11-02 08:00:00', 'mallory')")
	if got := version(t, e).Name; got != "2026-11-02 08:00:00" {
		t.Errorf("the new version is %q", got)
	}
	// A query that fails later keeps what was open, and works again when it does.
	e.now.DB.Close()
	owner(t, path, "ALTER TABLE load_log RENAME TO loads")
	if v, err := e.Version(t.Context()); err == nil {
		t.Errorf("version %v", v)
	}
	owner(t, path, "ALTER TABLE loads RENAME TO load_log")
	if got := version(t, e).Name; got != "2026-11-02 08:00:00" {
		t.Errorf("the version is %q", got)
	}
}

// TestVersionQueryAndFiles: tables in files of their own still count with their contents.
func TestVersionQueryAndFiles(t *testing.T) {
	path, _ := loaded(t, "")
	folder := filepath.Dir(path)
	write(t, folder, "u.csv", "i\n1\n")
	ds := dataset(t, folder, "source: t.duckdb\nversion: SELECT 1\n"+strings.Replace(counted, "tables: {",
		"tables: {u: {source: u.csv, columns: {i: {type: integer, bounds: [0, 100]}}}, ", 1))
	e := open(t, ds)
	first := version(t, e)
	write(t, folder, "u.csv", "i\n1\n2\n")
	if second := version(t, e); second == first || second.Name != "1" {
		t.Errorf("%v after %v", second, first)
	}
}

func TestDescribeVersion(t *testing.T) {
	path, keys := loaded(t, "SELECT max(loaded_at) FROM load_log")
	for keys, want := range map[string]string{
		keys:                           `"2026-11-01 08:00:00", by the version query; analysts see it`,
		"source: t.duckdb\n" + counted: "the contents of the file",
	} {
		if got, err := DescribeVersion(t.Context(), dataset(t, filepath.Dir(path), keys)); err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func hashed(t *testing.T, path string, limit int64) string {
	t.Helper()
	h := must(stateOf(path).hash(limit))(t)
	return string(h)
}

// put writes bytes into a file at a place and keeps its time of modification, as a program would
// that wants to hide it.
func put(t *testing.T, path string, at int64, text string) {
	t.Helper()
	info := must(os.Stat(path))(t)
	f := must(os.OpenFile(path, os.O_WRONLY, 0))(t)
	must(f.WriteAt([]byte(text), at))(t)
	mustDo(t, f.Close())
	mustDo(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// TestTouched: the same contents are the same version, whatever happened to the file; but all of it
// is looked at anew.
func TestTouched(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "t.csv", "i\n1\n2\n")
	e := open(t, dataset(t, folder, "source: t.csv\n"+counted))
	first := version(t, e)
	for name, touch := range map[string]func(){
		"touched": func() { later(t, path) },
		"replaced": func() {
			other := write(t, t.TempDir(), "t.csv", "i\n1\n2\n")
			mustDo(t, os.Rename(other, path))
		},
		"written anew": func() { write(t, folder, "t.csv", "i\n1\n2\n") },
	} {
		touch()
		if !e.now.state.changed() {
			t.Errorf("%s: not noticed", name)
		}
		if version(t, e) != first {
			t.Errorf("%s: another version of the same contents", name)
		}
		if e.now.state.changed() {
			t.Errorf("%s: noticed twice", name)
		}
	}
}

// TestTimeKept: other contents of the same size under the same time of modification are noticed,
// where the system tells when the inode changed.
func TestTimeKept(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "t.csv", "i\n1\n2\n")
	if stateOf(path).node == (fileNode{}) {
		t.Skip("this system does not tell")
	}
	e := open(t, dataset(t, folder, "source: t.csv\n"+counted))
	first := version(t, e)
	for before := stateOf(path); stateOf(path).node == before.node; { // the clock of the file system is coarse
		put(t, path, 4, "9")
	}
	if version(t, e) == first {
		t.Error("a change in place was not noticed")
	}
	if got := ask(t, e, "SELECT SUM(i) FROM t"); got[0][0] != 10 {
		t.Error(got)
	}
}

// TestSamples: of a large file the ends and blocks between them are read, and its identity counts.
func TestSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.parquet")
	f := must(os.Create(path))(t)
	const size = maxHashedBytes + 12345 // it has holes, and takes no room
	mustDo(t, f.Truncate(size))
	f.Close()
	s := stateOf(path)
	// With the identity as it was, only the samples can tell.
	sampled := func() string {
		h := must(s.hash(maxHashedBytes))(t)
		return string(h)
	}
	seen := map[string]bool{sampled(): true}
	last := int64(size/(sampleBlocks+1)*sampleBlocks + blockBytes - 1)
	for _, at := range []int64{0, edgeBytes - 1, size / (sampleBlocks + 1), last, size - edgeBytes, size - 1} {
		put(t, path, at, "x")
		if h := sampled(); seen[h] {
			t.Errorf("a change at %d was not noticed", at)
		} else {
			seen[h] = true
		}
	}
	// Between the samples the identity tells: one that is missing would be a stale answer.
	before := sampled()
	put(t, path, edgeBytes+blockBytes, "x")
	if sampled() != before {
		t.Error("there are more samples than the comment says")
	}
	later(t, path)
	if now := hashed(t, path, maxHashedBytes); now == before {
		t.Error("a change between the samples was not noticed")
	}
	// A copy under the name is another file, even with its times.
	if s = stateOf(path); s.node != (fileNode{}) {
		before, other := hashed(t, path, maxHashedBytes), s
		other.node.inode++
		if h, _ := other.hash(maxHashedBytes); bytes.Equal(h, []byte(before)) {
			t.Error("the inode does not count")
		}
		other = s
		other.node.changed++
		if h, _ := other.hash(maxHashedBytes); bytes.Equal(h, []byte(before)) {
			t.Error("the time of the inode does not count")
		}
	}
	// Up to the limit, all bytes count and nothing else does.
	small := write(t, t.TempDir(), "small.csv", "i\n1\n")
	before = hashed(t, small, 4)
	later(t, small)
	if hashed(t, small, 4) != before || hashed(t, small, 3) == before {
		t.Error("the limit is not where it is said to be")
	}
}

// TestReadMeanwhile: where a file is another one for as long as it takes to read it, and is back
// then, what was read is not said to be of the version that is there before and after.
func TestReadMeanwhile(t *testing.T) {
	folder := t.TempDir()
	at, a, b := filepath.Join(folder, "t.parquet"), filepath.Join(folder, "a.parquet"), filepath.Join(folder, "b.parquet")
	owner(t, "", "COPY (SELECT unnest([1, 1]) AS i) TO "+sqlgen.QuoteText(at))
	owner(t, "", "COPY (SELECT unnest([7, 7]) AS i) TO "+sqlgen.QuoteText(b))
	when := time.Now().Add(-time.Hour)
	for _, path := range []string{at, b} {
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	e := open(t, dataset(t, folder, "source: t.parquet\n"+counted))
	before := version(t, e)
	q := question(t, e, "SELECT SUM(i) FROM t")
	run := func() engine.ReadFrom {
		t.Helper()
		r, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r.ReadFrom
	}
	if read := run(); read.State != before.Key() {
		t.Errorf("read from %+v, which has not changed", read)
	}
	move(at, a)
	move(b, at)
	meanwhile := run()
	move(at, b)
	move(a, at)
	back := run()
	if after := version(t, e); after != before {
		t.Errorf("it is back, and is %v and was %v", after, before)
	}
	if meanwhile.State == before.Key() || back.State == before.Key() {
		t.Errorf("read from %+v and from %+v while the file was renamed", meanwhile, back)
	}
	if read := run(); read.State != before.Key() {
		t.Errorf("read from %+v, which is back", read)
	}
	var once sync.Once
	rows := sealed.NewCollector(func([]int64) { once.Do(func() { move(at, a); move(a, at) }) })
	read, err := e.Fetch(t.Context(), training(t, e, "SELECT i, i + 1 AS k FROM t", "k"), rows)
	if err != nil || read.State == before.Key() {
		t.Errorf("rows are from %+v while the file was renamed: %v", read, err)
	}
}
