package duckdb

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
)

// secret is a value of the data. No error may quote it.
const secret = "Xanthippe"

// TestBrokenSources opens what is not what the policy says. The owner gets an
// error that names the table or the file and no value, and nothing is left behind.
func TestBrokenSources(t *testing.T) {
	const table = "\nunit: row\ntables: {t: {columns: {i: {type: integer}, s: {type: text}}}}"
	const unit = "\nunit: t.u\ntables: {t: {unique: u, columns: {i: {type: integer}}}}"
	row := "SELECT 1 AS i, '" + secret + "' AS s"
	parquet := func(t *testing.T, folder, query string) string {
		path := filepath.Join(folder, "t.parquet")
		owner(t, "", "COPY ("+query+") TO "+sqlgen.QuoteText(path))
		return path
	}
	broken := map[string]struct {
		keys  string
		want  string // part of the error
		setup func(t *testing.T, folder string)
	}{
		"no file":     {"source: t.csv" + table, "does not exist; correct 'source'", func(*testing.T, string) {}},
		"no folder":   {"source: data" + table, "does not exist; correct 'source'", func(*testing.T, string) {}},
		"no database": {"source: t.duckdb" + table, "t.duckdb", func(*testing.T, string) {}},
		"folder as CSV": {"source: t.csv" + table, "t.csv", func(t *testing.T, f string) {
			mustDo(t, os.Mkdir(filepath.Join(f, "t.csv"), 0o777))
		}},
		"folder as Parquet": {"source: t.parquet" + table, "t.parquet", func(t *testing.T, f string) {
			mustDo(t, os.Mkdir(filepath.Join(f, "t.parquet"), 0o777))
		}},
		"folder as database": {"source: t.duckdb" + table, "t.duckdb", func(t *testing.T, f string) {
			mustDo(t, os.Mkdir(filepath.Join(f, "t.duckdb"), 0o777))
		}},
		"unreadable": {"source: t.csv" + table, "t.csv", func(t *testing.T, f string) {
			if os.Getuid() == 0 {
				t.Skip("root reads everything")
			}
			mustDo(t, os.Chmod(write(t, f, "t.csv", "i,s\n1,"+secret+"\n"), 0))
		}},
		"dangling link": {"source: t.csv" + table, "does not exist; correct 'source'", func(t *testing.T, f string) {
			mustDo(t, os.Symlink(filepath.Join(f, "nowhere"), filepath.Join(f, "t.csv")))
		}},
		"no column in CSV": {"source: t.csv" + table, "there is no column i",
			func(t *testing.T, f string) { write(t, f, "t.csv", "j,s\n1,"+secret+"\n") }},
		"no column in Parquet": {"source: t.parquet" + table, "there is no column i",
			func(t *testing.T, f string) { parquet(t, f, "SELECT 1 AS j, '"+secret+"' AS s") }},
		"no column in database": {"source: t.duckdb" + table, "there is no column s", func(t *testing.T, f string) {
			owner(t, filepath.Join(f, "t.duckdb"), "CREATE TABLE t AS SELECT 1 AS i")
		}},
		"no unit": {"source: t.csv" + unit, "there is no column u",
			func(t *testing.T, f string) { write(t, f, "t.csv", "i,s\n1,"+secret+"\n") }},
		"no table": {"source: t.duckdb" + table, "cannot read the schema",
			func(t *testing.T, f string) { owner(t, filepath.Join(f, "t.duckdb"), "CREATE TABLE other AS "+row) }},
		"other type in Parquet": {"source: t.parquet" + table, "column i is integer, but",
			func(t *testing.T, f string) { parquet(t, f, "SELECT 1.5::DOUBLE AS i, '"+secret+"' AS s") }},
		"a list of decimals": {strings.Replace("source: t.parquet"+table, "{type: integer}", "{type: decimal}", 1),
			"column i is decimal, but", func(t *testing.T, f string) {
				parquet(t, f, "SELECT [1.5::DECIMAL(18,3)] AS i, '"+secret+"' AS s")
			}},
		"truncated Parquet": {"source: t.parquet" + table, "cannot read the schema", func(t *testing.T, f string) {
			mustDo(t, os.Truncate(parquet(t, f, row), 100))
		}},
		"empty Parquet": {"source: t.parquet" + table, "cannot read the schema",
			func(t *testing.T, f string) { write(t, f, "t.parquet", "") }},
		"CSV as Parquet": {"source: t.parquet" + table, "cannot read the schema",
			func(t *testing.T, f string) { write(t, f, "t.parquet", "i,s\n1,"+secret+"\n") }},
		"CSV as database": {"source: t.duckdb" + table, "not a DuckDB file",
			func(t *testing.T, f string) { write(t, f, "t.duckdb", "i,s\n1,"+strings.Repeat(secret+"\n2,", 2000)) }},
		"Parquet as database": {"source: t.duckdb" + table, "not a DuckDB file", func(t *testing.T, f string) {
			mustDo(t, os.Rename(parquet(t, f, row), filepath.Join(f, "t.duckdb")))
		}},
		"Parquet as CSV": {"source: t.csv" + table, "t.csv", func(t *testing.T, f string) {
			mustDo(t, os.Rename(parquet(t, f, row), filepath.Join(f, "t.csv")))
		}},
		"CSV as gzip": {"source: t.csv.gz" + table, "not a gzip file",
			func(t *testing.T, f string) { write(t, f, "t.csv.gz", "i,s\n1,"+secret+"\n") }},
		"empty CSV": {"source: t.csv" + table, "is empty; the first line", func(t *testing.T, f string) { write(t, f, "t.csv", "") }},
		"header not ended": {"source: t.csv" + table, "not a CSV header",
			func(t *testing.T, f string) { write(t, f, "t.csv", "i,\"s\n1,"+secret+"\n") }},
		"no header": {"source: t.csv" + table, "there is no column i",
			func(t *testing.T, f string) { write(t, f, "t.csv", "1,2\n3,4\n") }},
		"column without a name": {"source: t.csv" + table, "column 2 has no name", func(t *testing.T, f string) {
			write(t, f, "t.csv", "i,,s\n1,2,"+secret+"\n")
		}},
		"two columns of one name": {"source: t.csv" + table, "the name of another",
			func(t *testing.T, f string) { write(t, f, "t.csv", "i,s,I\n1,"+secret+",3\n") }},
		"old line ends": {"source: t.csv" + table, "line ends",
			func(t *testing.T, f string) { write(t, f, "t.csv", "i,s\r1,"+secret+"\r") }},
		"other delimiter": {"source: t.csv" + table, "there is no column i",
			func(t *testing.T, f string) { write(t, f, "t.csv", "i;s\n1;"+secret+"\n") }},
		"locked database": {"source: t.duckdb" + table, "another process is writing", func(t *testing.T, f string) {
			path := filepath.Join(f, "t.duckdb")
			owner(t, path, "CREATE TABLE t AS "+row)
			holdLock(t, path)
		}},
	}
	for _, name := range daily.Sample(t, slices.Sorted(maps.Keys(broken)), 12) {
		c := broken[name]
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			c.setup(t, folder)
			ds := dataset(t, folder, c.keys)
			nothingLeft := watchSpills(t)
			e, err := Open(t.Context(), ds)
			if err == nil {
				e.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("the error is %q, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "goroutine") || strings.Contains(err.Error(), "Error:") || len(err.Error()) > 500 {
				t.Errorf("this is not for an owner: %v", err)
			}
			if _, err := check(t, ds); err == nil {
				t.Error("the check found nothing")
			}
			nothingLeft()
		})
	}
}

// TestStoredTypes names the stored types that each of the policy's can be read from.
func TestStoredTypes(t *testing.T) {
	for stored, want := range map[string]policy.Type{
		"BIGINT": policy.Integer, "HUGEINT": policy.Integer, "UTINYINT": policy.Integer, "DOUBLE": policy.Decimal,
		"DECIMAL(18,3)": policy.Decimal, "FLOAT": policy.Decimal,
		"BOOLEAN": policy.Boolean, "DATE": policy.Date, "TIMESTAMP": policy.Date, "TIMESTAMP_NS": policy.Date, "UUID": policy.Text,
		"ENUM('a', 'b')":  policy.Text,
		"DECIMAL(18,3)[]": 0, "ENUM('a')[]": 0, "BIGINT[]": 0, "FLOAT[3]": 0, "STRUCT(a INTEGER)": 0, "MAP(INTEGER, INTEGER)": 0,
		"BLOB": 0, "TIMESTAMP WITH TIME ZONE": policy.Timestamp, "INTERVAL": 0, "TIME": 0, "JSON": 0,
	} {
		for _, typ := range policy.Types() {
			ok := typ == want || typ == policy.Decimal && want == policy.Integer || typ == policy.Timestamp &&
				strings.HasPrefix(stored, "TIMESTAMP")
			if readable(typ, stored) != ok {
				t.Errorf("%v from %s: %v", typ, stored, !ok)
			}
		}
	}
}

// holdLock keeps a database open for writing in another process until the test
// ends. Locks of files are between processes, so this one cannot do it itself.
func holdLock(t *testing.T, path string) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestHolder$")
	c.Env = append(os.Environ(), "DISCREET_TEST_HOLD="+path)
	in := must(c.StdinPipe())(t)
	out := must(c.StdoutPipe())(t)
	mustDo(t, c.Start())
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
}

// TestHolder is the other process of holdLock, and nothing otherwise.
func TestHolder(t *testing.T) {
	path := os.Getenv("DISCREET_TEST_HOLD")
	if path == "" {
		t.Skip("this is the other process of another test")
	}
	connector := must(driver.NewConnector(path, nil))(t)
	db := sql.OpenDB(connector)
	defer db.Close()
	mustDo(t, db.Ping())
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
}

// A view whose expression fails on a row is not opened: a question that failed over that row would
// tell where it is.
func TestViewThatFails(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE rows AS SELECT 1 AS pid, '5' AS s UNION ALL SELECT 37, 'x'",
		"CREATE VIEW bad AS SELECT pid, CAST(s AS BIGINT) AS v FROM rows",
		"CREATE VIEW good AS SELECT pid, TRY_CAST(s AS BIGINT) AS v FROM rows")
	for view, ok := range map[string]bool{"good": true, "bad": false} {
		e, err := Open(t.Context(), dataset(t, folder, "source: t.duckdb\nunit: row\ntables: {"+view+": {columns: {v: {type: integer}}}}"))
		if ok != (err == nil) {
			t.Errorf("%s: %v", view, err)
		}
		if err == nil {
			e.Close()
		} else if strings.Contains(err.Error(), "'x'") {
			t.Errorf("it quotes a value: %v", err)
		}
	}
}

// TestRenewal: while data is opened anew questions run on what there was, and who stops waiting for
// it, or never had the time, does not end it for others.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "people.csv")
	write := func(text string) {
		t.Helper()
		mustDo(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("pid,age\n1,2\n")
	ds := dataset(t, dir, "source: "+dir+"\nunit: people.pid\ntables: {people: {unique: pid, columns: "+
		"{pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}\n")
	e := open(t, ds)
	gate, opened := make(chan struct{}), atomic.Int32{}
	e.GuardReopening(func() error {
		opened.Add(1)
		<-gate
		return nil
	})
	first := version(t, e)
	write("pid,age\n1,2\n2,33\n")
	for range 3 {
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if v, err := e.Version(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", v, err)
		}
		stop()
	}
	if n, err := e.Magnitude(t.Context()); err != nil || n != 0 || opened.Load() != 1 {
		t.Errorf("meanwhile %d, %v, and it was begun %d times", n, err, opened.Load())
	}
	close(gate)
	if now := version(t, e); now == first || opened.Load() != 1 {
		t.Errorf("%+v, begun %d times", now, opened.Load())
	}
	// It ends with the engine.
	gate = make(chan struct{})
	write("pid,age\n1,2\n2,33\n3,4\n")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := e.Version(ctx); err == nil {
		t.Error("it was opened")
	}
	close(gate)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestRenewalBesideARun: when data was opened anew nobody waits for a question that still runs on
// what there was: how long it does can depend on the data. It reads what it began with, and that is
// closed after it.
func TestRenewalBesideARun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "people.csv")
	mustDo(t, os.WriteFile(file, []byte("pid,age\n1,2\n"), 0o600))
	ds := dataset(t, dir, "source: "+dir+"\nunit: people.pid\ntables: {people: {unique: pid, columns: "+
		"{pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}\n")
	e := open(t, ds)
	first := version(t, e)
	table := must(planner.PrepareTable(ds, "SELECT age, age > 50 AS old FROM people", "old", planner.Options{}))(t)
	runs, gate, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	rows := 0
	go func() {
		_, err := e.Fetch(context.Background(), table, sealed.NewCollector(func([]int64) {
			if rows++; rows == 1 {
				close(runs)
				<-gate
			}
		}))
		ended <- err
	}()
	<-runs
	mustDo(t, os.WriteFile(file, []byte("pid,age\n1,2\n2,33\n"), 0o600))
	seen := make(chan bool, 1)
	go func() {
		now, err := e.Version(context.Background())
		_, sized := e.Sizes(context.Background())
		seen <- err == nil && sized == nil && now != first
	}()
	select {
	case ok := <-seen:
		if !ok {
			t.Error("the data was not opened anew")
		}
	case <-time.After(20 * time.Second):
		t.Error("others wait for the one that runs")
	}
	close(gate)
	if err := <-ended; err != nil || rows != 1 {
		t.Errorf("it has read %d rows: %v", rows, err)
	}
}

// TestMachineOfWhoHasGone: how fast the machine is does not follow from whether somebody waits.
func TestMachineOfWhoHasGone(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, os.WriteFile(filepath.Join(dir, "people.csv"), []byte("pid,age\n1,2\n"), 0o600))
	ds := dataset(t, dir, "source: "+dir+"\nunit: people.pid\ntables: {people: {unique: pid, columns: "+
		"{pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}\n")
	e := must(OpenWith(t.Context(), ds, Limits{Threads: 1}))(t)
	defer e.Close()
	gone, stop := context.WithCancel(t.Context())
	stop()
	if n := e.Machine(gone).Threads; n != 1 {
		t.Errorf("%d threads", n)
	}
}
