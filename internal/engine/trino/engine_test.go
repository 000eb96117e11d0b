package trino

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// openedAlone opens a table of one column that a user reads alone, as a server does.
func openedAlone(t *testing.T, catalog, rows string) (s schema, e *Engine) {
	t.Helper()
	c := testtrino.Shared(t)
	s = schema{c, catalog, c.Alone(t, catalog)}
	s.Run(t, "CREATE TABLE "+s.table("t")+" AS SELECT * FROM (VALUES "+rows+") AS t (pid)")
	const keys = "unit: t.pid\ntables:\n  t:\n    unique: pid\n    columns: {}\n"
	e, err := Open(t.Context(), dataset(t, c.Address(s.name, catalog, s.name), keys))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return s, e
}

// counted asks how many people there are, in the state that was last looked at.
func counted(t *testing.T, e *Engine) (int64, error) {
	t.Helper()
	out, err := e.Run(t.Context(), &prepare(t, e.dataset, "SELECT COUNT(*) FROM t").Query)
	if err != nil {
		return 0, err
	}
	if out.State != e.Current().Version.Key() {
		t.Error("what was read is said to be of another state")
	}
	return out.Measures[0].Open()[0], nil
}

// TestSnapshotGone: a snapshot that is expired after it was looked at is a failure like every
// other, and the next question reads what there is.
func TestSnapshotGone(t *testing.T) {
	s, e := openedAlone(t, "iceberg", "BIGINT '1', 2")
	s.Run(t, "INSERT INTO "+s.table("t")+" VALUES 3")
	if n, err := counted(t, e); n != 2 || err != nil {
		t.Error(n, err) // as it was looked at
	}
	if _, err := s.DB(t, testtrino.Admin).Exec("ALTER TABLE "+s.table("t")+" EXECUTE expire_snapshots(retention_threshold => '0s')",
		sql.Named("X-Trino-Session", "iceberg.expire_snapshots_min_retention=0s")); err != nil {
		t.Fatal(err)
	}
	if n, err := counted(t, e); !errors.Is(err, engine.ErrRun) || err.Error() != engine.ErrRun.Error() {
		t.Error(n, err)
	}
	if _, err := e.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := counted(t, e); n != 3 || err != nil {
		t.Error(n, err)
	}
}

// TestDeltaMadeAnew: a Delta table that was made anew has the same versions, and other rows. They
// are read as what they are, and not as the version that was looked at.
func TestDeltaMadeAnew(t *testing.T) {
	s, e := openedAlone(t, "delta", "BIGINT '1', 2")
	before := e.Current().Version
	s.Run(t, "DROP TABLE "+s.table("t"), "CREATE TABLE "+s.table("t")+" AS SELECT * FROM (VALUES BIGINT '1', 2, 3) AS t (pid)")
	if n, err := counted(t, e); n != 3 || err != nil || e.Current().Version == before {
		t.Error(n, err, e.Current().Version == before)
	}
}

// TestLate: what processors of a cluster worked for a question is what Trino says of it in the end,
// and a question that is late by its own work has failed. One that has waited has not.
func TestLate(t *testing.T) {
	c := testtrino.Shared(t)
	s := newSchema(t, "iceberg")
	s.Run(t, "CREATE TABLE "+s.table("t")+" AS SELECT orderkey AS pid, comment AS note FROM tpch.tiny.orders")
	const keys = "unit: t.pid\ntables:\n  t:\n    unique: pid\n    columns: {note: {type: text}}\n"
	ds := s.dataset(t, keys)
	d, err := trinotables.Of(ds)
	if err != nil {
		t.Fatal(err)
	}
	e := openWith(t, ds, d.DB())
	q := &prepare(t, e.dataset, "SELECT COUNT(*) FROM t WHERE note ~ '([a-z]+ )+[0-9]+ ([a-z]+ )+x' OR upper(note) LIKE '%Q%Z%'").Query

	ctx, work := releaseclock.CountWork(t.Context())
	if _, err := e.Run(ctx, q); err != nil {
		t.Fatal(err)
	}
	worked := work.Done()
	var said time.Duration
	for _, r := range c.Rows(t, testtrino.Admin, "SELECT CAST(sum(split_cpu_time_ms) AS varchar) || 'ms' FROM system.runtime.tasks t JOIN "+
		"system.runtime.queries q ON q.query_id = t.query_id WHERE q.query LIKE '%"+s.name+"%regexp_extract_all%' AND "+
		"q.query NOT LIKE '%runtime%'") {
		if said, err = time.ParseDuration(r[0]); err != nil {
			t.Fatal(err)
		}
	}
	if worked < 20*time.Millisecond || worked < said*8/10 || worked > said*12/10+100*time.Millisecond {
		t.Errorf("%v were counted, and its tasks worked for %v", worked, said)
	}

	var all sync.WaitGroup // one waits for longer than the others work
	for name, c := range map[string]struct {
		public, waits time.Duration
		late          bool
	}{
		"it works for longer than is public": {worked / 8, 0, true},
		"it works and waits":                 {worked / 8, worked / 4, true},
		"it waits":                           {6 * worked, 7 * worked, false},
		"it is in time":                      {time.Minute, 0, false},
	} {
		all.Go(func() {
			ended := make(chan struct{})
			defer close(ended)
			p := releaseclock.New(func() {})
			p.SetSchedule(releaseclock.NewSchedule(ended), 10*time.Minute, nil)
			err := releaseclock.RunElsewhere(p.WithClock(t.Context()), c.public, func(ctx context.Context) error {
				time.Sleep(c.waits)
				_, err := e.Run(ctx, q)
				return err
			})
			if errors.Is(err, releaseclock.ErrLate) != c.late || !c.late && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
}

// alone is a schema of Hive's that one user may read who may read nothing else, and one beside it.
type alone struct {
	schema
	beside schema
}

func newAlone(t *testing.T) alone {
	t.Helper()
	c := testtrino.Shared(t)
	return alone{schema{c, "hive", c.Alone(t, "hive")}, newSchema(t, "hive")}
}

// open opens a table of people, as a server does: rights and versions are looked at.
func (a alone) open(t *testing.T, table string) (*Engine, error) {
	t.Helper()
	keys := "unit: " + table + ".pid\ntables:\n  " + table + ":\n    unique: pid\n    trusted: true\n    columns:\n" +
		"      v: {type: integer, bounds: [-10, 1000]}\n"
	e, err := Open(t.Context(), dataset(t, a.Address(a.name, "hive", a.name), keys))
	if err == nil {
		t.Cleanup(func() { e.Close() })
	}
	return e, err
}

func (s schema) folder(t *testing.T, table string) string {
	t.Helper()
	return s.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+s.table(table)+" LIMIT 1")[0][0]
}

// outage is what analysts are told where the tables cannot be looked at, whatever the reason is.
const outage = "the Trino cluster of the dataset d cannot be asked; ask the owner to run 'discreet check', which says why"

// TestHiveFiles: files whose columns have narrower types than the table's are read; those of which
// nothing can be read end a question as everything does that goes wrong while it runs, and files
// and partitions that are none are an outage, before anything is charged, in words that say nothing
// of them.
func TestHiveFiles(t *testing.T) {
	a := newAlone(t)
	a.beside.Run(t, "CREATE TABLE "+a.beside.table("narrow")+" AS SELECT * FROM (VALUES (INTEGER '1', SMALLINT '-7'), (2, 500), (3, "+
		"NULL)) AS t (pid, v)",
		"CREATE TABLE "+a.beside.table("texts")+" AS SELECT * FROM (VALUES (BIGINT '1', 'seven')) AS t (pid, v)")
	a.Run(t, fmt.Sprintf("CREATE TABLE %s (pid bigint, v bigint) WITH (external_location = '%s')", a.table("t"),
		a.beside.folder(t, "narrow")))
	e, err := a.open(t, "t")
	if err != nil {
		t.Fatal(err)
	}
	q := &prepare(t, e.dataset, "SELECT COUNT(*), SUM(v) FROM t").Query
	out, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatal(runAgain(t, e, q))
	}
	if got := []int64{out.Measures[0].Open()[0], out.Measures[1].Open()[0]}; !slices.Equal(got, []int64{3, 493}) {
		t.Error(got)
	}

	a.Run(t, "DROP TABLE "+a.table("t"), fmt.Sprintf("CREATE TABLE %s (pid bigint, v bigint) WITH (external_location = '%s')",
		a.table("t"), a.beside.folder(t, "texts")))
	if _, err := e.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), q); !errors.Is(err, engine.ErrRun) || err.Error() != engine.ErrRun.Error() {
		t.Error(err)
	}

	// Somebody puts a file there that is no Parquet.
	a.beside.Run(t, fmt.Sprintf("CREATE TABLE %s (line varchar) WITH (format = 'TEXTFILE', external_location = '%s')",
		a.beside.table("lines"), a.beside.folder(t, "texts")), "INSERT INTO "+a.beside.table("lines")+" VALUES 'no Parquet'")
	if _, err := e.Version(t.Context()); err == nil || err.Error() != outage {
		t.Error(err)
	}
}

// TestHivePartitions: a value of a partition that is no number, where the column is one, is an
// outage too.
func TestHivePartitions(t *testing.T) {
	a := newAlone(t)
	// Partitions of somebody else's may not be inside of what Hive keeps itself.
	at := "local:///outside/" + a.beside.name
	a.beside.Run(t, fmt.Sprintf("CREATE TABLE %s WITH (partitioned_by = ARRAY['v'], external_location = '%s') AS "+
		"SELECT * FROM (VALUES (BIGINT '1', '5'), (2, 'seven')) AS t (pid, v)", a.beside.table("raw"), at))
	a.Run(t, fmt.Sprintf("CREATE TABLE %s (pid bigint, v bigint) WITH (partitioned_by = ARRAY['v'], external_location = '%s')",
		a.table("t"), at), fmt.Sprintf("CALL hive.system.sync_partition_metadata('%s', 't', 'FULL')", a.name))
	if _, err := a.open(t, "t"); err == nil || err.Error() != outage {
		t.Error(err)
	}
}

var (
	measured = flag.Int64("measure", 0, "how many people there are where questions are run and their processor time is measured; 0 "+
		"for no such run")
	record = flag.Bool("record", false, "whether what was measured is written to testdata of package publictime")
	every  = flag.Int("every", 1, "which of the questions are measured: each of so many")
)

// madeUp spells a number below n that is made of a row's number.
func madeUp(seed, n int64) string {
	return fmt.Sprintf("(abs(from_big_endian_64(xxhash64(to_big_endian_64(x * 1000 + %d)))) %% %d)", seed, n)
}

// hospitalRows and trialRows make the tables of the planner's tests, as the tests of package
// publictime do for DuckDB.
func hospitalRows(people int64) map[string]string {
	from := func(n int64) string { return fmt.Sprintf(" FROM TABLE(sequence(0, %d)) AS t(x)", n-1) }
	h := madeUp
	day := func(first string, seed, n int64) string {
		return fmt.Sprintf("date_add('day', %s, DATE '%s')", h(seed, n), first)
	}
	return map[string]string{
		"patients": "SELECT x AS pid, CAST(" + h(1, 111) + " AS integer) AS age, element_at(ARRAY['F', 'M', 'X', NULL], " +
			"CAST(1 + " + h(2, 4) +
			" AS integer)) AS sex, '1' || lpad(CAST(" + h(3, 1000) + " AS varchar), 4, '0') AS zip, 'diagnosis ' || CAST(" + h(4, 40) +
			" AS varchar) AS diagnosis, CAST(CAST(" + h(5, 5000000) + " AS decimal(18,2)) / 100 AS decimal(12,2)) AS cost, " + h(6, 3) +
			" = 0 AS smoker, " + day("2024-01-01", 7, 3) + " AS admitted, " + day("1930-01-01", 8, 30000) + " AS born, CAST(" + h(9, 1500) +
			" AS double) / 10 AS weight, " + h(10, 100000) + " - 50000 AS balance, " + h(11, 9) + " * 500 - 1000 AS income, " +
			h(12, 1000000000) + " AS wealth" + from(people),
		"visits": fmt.Sprintf("SELECT CAST(floor(%d * power(CAST(%s AS double) / 1000003, 1.7)) AS bigint) AS pid, ", people,
			h(21, 1000003)) +
			"chr(97 + " + h(22, 8) + ") AS ward, " + day("2023-01-01", 23, 700) + " AS day, CAST(CAST(" + h(24, 500000) +
			" AS decimal(18,2)) / 100 AS decimal(10,2)) AS cost" + from(3*people),
		"orders": "SELECT x AS oid, " + h(31, people) + " AS customer, " + day("2024-01-01", 32, 366) +
			" AS day, element_at(ARRAY['meal', 'drug'], CAST(1 + " + h(33, 2) + " AS integer)) AS kind" + from(2*people),
		"items": "SELECT " + h(41, 2*people) + " AS oid, CAST(CAST(" + h(42, 100000) + " AS decimal(18,2)) / 100 AS decimal(10,2)) AS " +
			"price, CAST(" + h(43, 21) + " AS integer) AS quantity, 'region ' || CAST(" + h(44, 30) + " AS varchar) AS " +
			"region" + from(4*people),
		"wards": "SELECT chr(97 + x) AS ward, 'region ' || CAST(x % 5 AS varchar) AS region, CAST(x * 3 AS integer) AS beds" + from(25),
		"tags":  "SELECT chr(97 + x % 9) AS ward, 't' || CAST(x % 5 AS varchar) AS tag, CAST(x * 8 AS integer) AS low" + from(25),
	}
}

func trialRows(people int64) map[string]string {
	from := func(n int64) string { return fmt.Sprintf(" FROM TABLE(sequence(0, %d)) AS t(x)", n-1) }
	h := madeUp
	row := "CAST(" + h(1, 4) + " AS varchar) AS predicted, CAST(" + h(2, 4) + " AS varchar) AS outcome, CAST(" + h(3, 111) +
		" AS integer) AS age, CAST(CAST(" + h(4, 101) + " AS decimal(18,2)) / 100 AS decimal(4,2)) AS risk, " + h(5, 2) + " = 0 AS ill"
	return map[string]string{
		"rows":   "SELECT x AS pid, " + row + from(people),
		"train":  "SELECT " + row + from(people/10),
		"visits": "SELECT " + h(6, people) + " AS pid, 'w' || CAST(x % 7 AS varchar) AS ward" + from(people),
		"more":   "SELECT x AS pid, CAST(x % 2 AS integer) AS x" + from(people),
	}
}

// TestTook runs the questions of the corpora, and prints and records the processor time that Trino
// says: TestRecordedCluster of package publictime compares it with what is public.
func TestTook(t *testing.T) {
	if *measured == 0 {
		t.Skip("this is measured with -measure and a number of people")
	}
	rows := map[string]func(int64) map[string]string{"hospital": hospitalRows, "trial": trialRows}
	for _, c := range corpora(t) {
		e := openCorpus(t, c.Dataset, rows[c.Dataset.Name](*measured))
		sizes, err := e.Sizes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		head, err := json.Marshal(sizes)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", e.Machine(t.Context()))
		out, seen := string(head)+"\n", map[string]bool{}
		for i, a := range c.Asked {
			name := hashOf(a)
			if i%*every != 0 || a.Query != nil && a.Query.ListsKeys() || seen[name] {
				continue
			}
			seen[name] = true
			ctx, work := releaseclock.CountWork(t.Context())
			began := time.Now()
			if a.Query != nil {
				_, err = e.Run(ctx, a.Query)
			} else {
				_, err = e.Fetch(ctx, a.Table, sealed.NewCollector(func([]int64) {}))
			}
			if err != nil {
				t.Errorf("%s %d: %v", a.Of, a.Number, err)
				continue
			}
			line := fmt.Sprintf("%s %d %d\n", name[:16], work.Done().Microseconds(), time.Since(began).Microseconds())
			t.Logf("%s %d %s", a.Of, a.Number, line)
			out += line
		}
		if *record {
			path := fmt.Sprintf("../publictime/testdata/trino-%s-%d.txt", c.Dataset.Name, *measured)
			if err := os.WriteFile(path, []byte(out), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// openCorpus stores tables, and opens them as a server does.
func openCorpus(t *testing.T, ds *policy.Dataset, tables map[string]string) *Engine {
	t.Helper()
	c := testtrino.Shared(t)
	in := schema{c, "iceberg", c.Alone(t, "iceberg")}
	for name, rows := range tables {
		in.Run(t, "CREATE TABLE "+in.table(name)+" AS "+rows)
	}
	ds.Source = c.Address(in.name, in.catalog, in.name)
	for name, table := range ds.Tables {
		table.Relation = in.catalog + "." + in.name + "." + name
	}
	e, err := Open(t.Context(), ds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func hashOf(a generate.Asked) string {
	if a.Query != nil {
		return a.Query.Hash()
	}
	return a.Table.Hash()
}
