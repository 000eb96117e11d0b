package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/store"
)

func version(t testing.TB, e *Engine) store.Version {
	t.Helper()
	v, err := e.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const counted = "unit: row\ntables: {t: {columns: {i: {type: integer, bounds: [0, 100]}}}}"

// later changes a file's time, because a test can be faster than a clock.
func later(t testing.TB, path string) {
	when := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
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
			func() { owner(t, "", "COPY (SELECT 1 AS i UNION ALL SELECT 2) TO "+dialect.QuoteText(parquet)) },
			func() {
				owner(t, "", "COPY (SELECT unnest([1, 2, 50]) AS i) TO "+dialect.QuoteText(parquet))
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
	owner(t, other, "PRAGMA disable_checkpoint_on_shutdown", "INSERT INTO t VALUES (50)")
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
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestVanished: a source that goes away while it is open gives an error to the
// owner, keeps what was open, and leaves nothing behind.
func TestVanished(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "t.csv", "i\n1\n")
	nothingLeft := watchSpills(t)
	e := open(t, dataset(t, folder, "source: t.csv\n"+counted))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
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
