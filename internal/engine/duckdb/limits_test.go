package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/discreet-dp/discreet/internal/sqlgen"
)

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "100B": 100, "64MB": 64_000_000, "64MiB": 64 << 20, "1.5GiB": 3 << 29, "4GB": 4_000_000_000, "2 TB": 2_000_000_000_000,
		"0.5KB": 500,
	} {
		if got, err := ParseMemory(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"4", "4gb", "-1GB", "GB", "1e9B", "4GB; SELECT 1", "9999999999TB", "999999999999999TB", "1.0001GB",
		"80%", " 4GB", "4PB"} {
		if got, err := ParseMemory(text); err == nil {
			t.Errorf("%q is %d bytes", text, got)
		}
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for _, l := range []Limits{{Memory: 1}, {Memory: MinMemory - 1}, {Memory: -1}, {Memory: 1 << 60}, {Threads: -1}, {Threads: 5000}} {
		if _, err := OpenWith(t.Context(), nil, l); err == nil {
			t.Errorf("%+v", l)
		}
	}
}

// TestLimits looks at the settings in every DuckDB of an engine: where questions run, after the
// data has changed too, and where the version query does.
func TestLimits(t *testing.T) {
	path, keys := loaded(t, "SELECT current_setting('threads') || ' ' || current_setting('memory_limit')")
	e := must(OpenWith(t.Context(), dataset(t, filepath.Dir(path), keys), Limits{Memory: 100 << 20, Threads: 3}))(t)
	defer e.Close()
	const want = "3 100.0 MiB"
	check := func() {
		t.Helper()
		if got := version(t, e).Name; got != want {
			t.Errorf("the version query has %s", got)
		}
		var got string
		if err := e.now.DB.QueryRow("SELECT current_setting('threads') || ' ' || " +
			"current_setting('memory_limit')").Scan(&got); err != nil || got != want {
			t.Errorf("questions have %s, %v", got, err)
		}
		if e.now.memory != 25<<20 {
			t.Errorf("package contribution has %d", e.now.memory)
		}
		if _, err := e.now.DB.Exec("SET threads = 8"); err == nil {
			t.Error("the limits can be changed")
		}
		if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[2] [3]]" {
			t.Error(got)
		}
	}
	check()
	before := e.now
	mustDo(t, e.reload(t))
	if e.now == before {
		t.Fatal("the data was not opened anew")
	}
	check()
}

// reload has the engine believe that its files have changed.
func (e *Engine) reload(t *testing.T) error {
	e.now.state.files[0].size++
	_, err := e.Version(t.Context())
	return err
}

// The least that can be asked for is enough for DuckDB to answer.
func TestLeastMemory(t *testing.T) {
	least := must(ParseMemory("64MB"))(t)
	path, keys := loaded(t, "SELECT 1")
	e := must(OpenWith(t.Context(), dataset(t, filepath.Dir(path), keys), Limits{Memory: least, Threads: 1}))(t)
	defer e.Close()
	if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[2] [3]]" {
		t.Error(got)
	}
}

// What a process that was killed has left behind goes when the next one starts, and what is in use
// stays.
func TestSpillIsSwept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no flock")
	}
	t.Setenv("TMPDIR", t.TempDir())
	used := must(newSpill())(t)
	left := must(newSpill())(t)
	mustDo(t, os.WriteFile(filepath.Join(left.folder, "rows"), []byte("private"), 0o600))
	left.lock.Close() // as the kernel does when a process dies
	next := must(newSpill())(t)
	if exists(left.folder) || !exists(used.folder) || !exists(next.folder) {
		t.Errorf("left %v, used %v, next %v", exists(left.folder), exists(used.folder), exists(next.folder))
	}
	if info, err := os.Stat(used.folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, s := range []spill{used, next} {
		if err := s.remove(); err != nil || exists(s.folder) {
			t.Errorf("%v", err)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sources makes one dataset for each kind of source, all with the same three
// people, beside files that the policy does not name.
func sources(t *testing.T) map[string]*Engine {
	folder := t.TempDir()
	const rows = "SELECT * FROM (VALUES (1, 10), (2, 20), (3, NULL)) AS p(pid, age)"
	write(t, folder, "people.csv", "pid,age\n1,10\n2,20\n3,\n")
	write(t, folder, "secret.csv", "pid,age\n4,40\n")
	write(t, folder, "secret.txt", "secret")
	owner(t, "", "COPY ("+rows+") TO "+sqlgen.QuoteText(filepath.Join(folder, "people.parquet")),
		"COPY ("+rows+") TO "+sqlgen.QuoteText(filepath.Join(folder, "secret.parquet")))
	owner(t, filepath.Join(folder, "people.duckdb"), "CREATE TABLE people AS "+rows)
	owner(t, filepath.Join(folder, "secret.duckdb"), "CREATE TABLE people AS "+rows)
	out := map[string]*Engine{}
	for _, kind := range []string{"csv", "parquet", "duckdb"} {
		out[kind] = open(t, dataset(t, folder, `
source: people.`+kind+`
unit: people.pid
tables:
  people: {unique: pid, columns: {age: {type: integer, bounds: [0, 100]}}}
`))
	}
	return out
}

// TestLocked tries, through the engine's own connection, everything that would
// leave it. No question can say any of this; the lock is for the day when one
// of our own mistakes can.
func TestLocked(t *testing.T) {
	for kind, e := range sources(t) {
		t.Run(kind, func(t *testing.T) {
			folder := filepath.Dir(e.dataset.Source)
			file := func(name string) string { return sqlgen.QuoteText(filepath.Join(folder, name)) }
			for _, statement := range []string{
				"SELECT * FROM read_text('/etc/hostname')",
				"SELECT * FROM read_text(" + file("secret.txt") + ")",
				"SELECT * FROM read_blob(" + file("secret.txt") + ")",
				"SELECT * FROM read_csv(" + file("secret.csv") + ")",
				"SELECT * FROM read_csv_auto('/etc/passwd')",
				"SELECT * FROM read_json('/etc/passwd')",
				"SELECT * FROM read_parquet(" + file("secret.parquet") + ")",
				"SELECT * FROM " + file("secret.csv"),
				"SELECT * FROM glob('/etc/*')",
				"SELECT * FROM glob(" + file("*") + ")",
				"SELECT * FROM sniff_csv(" + file("secret.csv") + ")",
				"COPY (SELECT 1) TO " + file("out.csv"),
				"COPY (SELECT 1) TO '/dev/stdout'",
				"COPY (SELECT 1) TO '/dev/shm/discreet-lock-test.csv'",
				"EXPORT DATABASE " + file("out"),
				"ATTACH " + file("secret.duckdb") + " AS secret",
				"ATTACH " + file("secret.duckdb") + " AS secret (READ_ONLY)",
				"ATTACH " + file("new.duckdb") + " AS new",
				"INSTALL httpfs",
				"LOAD httpfs",
				"LOAD " + file("x.duckdb_extension"),
				"SET enable_external_access = true",
				"SET lock_configuration = false",
				"SET allowed_paths = ['/etc/passwd']",
				"SET allowed_directories = ['/']",
				"SET temp_directory = '/dev/shm'",
				"SET autoinstall_known_extensions = true",
				"SET threads = 1",
				"SET SESSION memory_limit = '1GB'",
				"SET log_query_path = " + file("log"),
				"RESET enable_external_access",
				"PRAGMA profiling_output = " + file("profile"),
				"PRAGMA threads = 1",
				"SELECT getenv('HOME')",
				"SELECT * FROM read_csv('https://example.com/x.csv')",
				"CREATE SECRET (TYPE s3)",
				"INSERT INTO source.people VALUES (4, 40)",
				"UPDATE source.people SET age = 1",
				"DELETE FROM source.people",
				"DROP TABLE source.people",
				"CREATE TABLE source.other (x INTEGER)",
				"ALTER TABLE source.people ADD COLUMN x INTEGER",
			} {
				if err := run(t.Context(), e, statement); err == nil {
					t.Errorf("this ran: %s", statement)
				}
			}
			for _, name := range []string{"out.csv", "out", "new.duckdb", "log", "profile"} {
				if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
					t.Errorf("%s was written", name)
				}
			}
			// Everything that the policy names still works.
			if got := ask(t, e, "SELECT COUNT(*), SUM(age) FROM people"); fmt.Sprint(got) != "[[3] [30]]" {
				t.Errorf("%v", got)
			}
		})
	}
}

// run reads all rows, because some statements fail only then.
func run(ctx context.Context, e *Engine, statement string) error {
	rows, err := e.now.DB.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// TestUnlocked shows that the statements fail because of the lock: in a
// DuckDB of the owner's they run.
func TestUnlocked(t *testing.T) {
	folder := t.TempDir()
	secret := sqlgen.QuoteText(write(t, folder, "secret.csv", "pid,age\n4,40\n"))
	owner(t, "", "SELECT * FROM read_csv("+secret+")", "SELECT * FROM read_text("+secret+")", "SET threads = 1",
		"COPY (SELECT 1) TO "+sqlgen.QuoteText(filepath.Join(folder, "out.csv")), "SELECT * FROM glob("+secret+")")
}
