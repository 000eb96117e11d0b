package duckdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// clinic is a PostgreSQL server with a role that may read what it is granted.
type clinic struct {
	t        testing.TB
	server   *testpg.Server
	database string
}

// newClinic makes a database of the one server of this binary. It goes with the test, and so do the
// roles, which all databases of a server share.
func newClinic(t testing.TB, statements ...string) *clinic {
	t.Helper()
	server := testpg.Shared(t)
	t.Cleanup(func() { server.Run(t, "postgres", "DROP DATABASE clinic WITH (FORCE)", dropRoles) })
	server.Run(t, "postgres", "CREATE DATABASE clinic")
	return (&clinic{t, server, "clinic"}).begin(statements)
}

const dropRoles = `DO $$ DECLARE r record; BEGIN
  FOR r IN SELECT rolname FROM pg_roles WHERE rolname <> 'postgres' AND NOT starts_with(rolname, 'pg_') LOOP
    EXECUTE format('DROP ROLE %I', r.rolname);
  END LOOP; END $$`

// ownClinic has a server of its own, for tests that stop it or change what all databases share.
func ownClinic(t testing.TB, statements ...string) *clinic {
	t.Helper()
	return (&clinic{t, testpg.Start(t), "postgres"}).begin(statements)
}

func (c *clinic) begin(statements []string) *clinic {
	c.t.Helper()
	c.do(append([]string{"CREATE ROLE reader LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC"}, statements...)...)
	return c
}

func (c *clinic) do(statements ...string) {
	c.t.Helper()
	c.server.Run(c.t, c.database, statements...)
}

func (c *clinic) source() string { return c.address("reader") }

func (c *clinic) address(user string) string {
	u, err := url.Parse(c.server.URL())
	if err != nil {
		c.t.Fatal(err)
	}
	u.User, u.Path = url.User(user), "/"+c.database
	return u.String()
}

// in is another database of the same server, in an encoding.
func (c *clinic) in(encoding string, statements ...string) *clinic {
	c.t.Helper()
	other := &clinic{c.t, c.server, strings.ToLower(encoding)}
	c.t.Cleanup(func() { c.server.Run(c.t, "postgres", "DROP DATABASE "+other.database+" WITH (FORCE)") })
	c.do("CREATE DATABASE " + other.database + " TEMPLATE template0 LOCALE 'C' ENCODING '" + encoding + "'")
	other.do(append([]string{"REVOKE CREATE ON SCHEMA public FROM PUBLIC"}, statements...)...)
	return other
}

// allTypes has a column of each type that can be read, with values at their ends.
const allTypes = `CREATE TABLE everything (id bigint, b boolean, i2 smallint, i4 integer, f4 real, f8 double precision, d numeric(10,2),
  d0 numeric(4,0), wide numeric(38,6), odd numeric(30,5), n numeric, t text, v varchar(20), c char(5), u uuid, day date, ts timestamp,
  tz timestamptz, e mood, dom percent, "Mixed" integer)`

var everythingRows = []string{
	`INSERT INTO everything VALUES (1, true, 32767, 2147483647, 1.5, 1e300, 12345678.99, 9999, 12345678901234567890123456789012.123456,
  1.00001, 1e40, 'ä"''' || chr(10) || 'x', '', 'ab', '00112233-4455-6677-8899-aabbccddeeff', '9999-12-31', '2026-11-16 12:34:56.789012',
  '2026-11-16 12:34:56+02', 'glad', 7, 1)`,
	`INSERT INTO everything VALUES (2, false, -32768, -2147483648, '-0', '-0', -0.01, -1, -0.000001, -99999.99999, 0.00000000001, 'b', 'c ', '  x',
  'ffffffff-ffff-ffff-ffff-ffffffffffff', '0001-01-01', '0001-01-01', '1969-12-31 23:59:59.999999+00', 'sad', 0, 2)`,
	`INSERT INTO everything VALUES (3, NULL, 0, 0, 'NaN', 'NaN', 'NaN', NULL, 10000, 10000.1, 'NaN', NULL, NULL, NULL,
  '80000000-0000-0000-0000-000000000000', 'infinity', '-infinity', 'infinity', NULL, NULL, NULL)`,
	`INSERT INTO everything VALUES (4, true, 1, 1, 'Infinity', '-Infinity', 0, 0, 0, 0, '-Infinity', '', 'x', '', NULL, '4713-01-01 BC',
  '294276-12-31', '294276-12-31', 'sad', 100, 5)`,
	`INSERT INTO everything (id) VALUES (5)`,
}

const everythingPolicy = `source: %s
unit: everything.id
tables:
  everything:
    unique: id
    columns:
      id: {type: integer}
      b: {type: boolean, keys: [true, false]}
      i2: {type: integer, bounds: [-40000, 40000]}
      i4: {type: integer, bounds: [-3000000000, 3000000000]}
      f4: {type: decimal, bounds: [-10, 10], granularity: 0.5}
      f8: {type: decimal, bounds: [-10, 10], granularity: 1}
      d: {type: decimal, bounds: [-20000000, 20000000], granularity: 0.01}
      d0: {type: decimal, bounds: [-10000, 10000], granularity: 1}
      wide: {type: decimal, bounds: [-1000000, 1000000], granularity: 0.01}
      odd: {type: decimal, bounds: [-100000, 100000], granularity: 0.001}
      n: {type: decimal, bounds: [-1000, 1000], granularity: 1}
      t: {type: text, keys: private}
      v: {type: text, keys: ["", "c ", x]}
      c: {type: text, keys: [ab, "  x", ""]}
      u: {type: text, keys: ["00112233-4455-6677-8899-aabbccddeeff", "80000000-0000-0000-0000-000000000000"]}
      day: {type: date, bounds: ["0001-01-01", "9999-12-31"]}
      ts: {type: timestamp, bounds: ["1700-01-01", "2200-12-31"]}
      tz: {type: timestamp, bounds: ["1900-01-01", "2100-01-01"]}
      e: {type: text, keys: [glad, sad]}
      dom: {type: integer, bounds: [0, 100]}
      mixed: {type: integer, bounds: [0, 10]}
`

// The role may read all of it.
var everythingSQL = append([]string{"CREATE TYPE mood AS ENUM ('sad', 'glad')",
	"CREATE DOMAIN percent AS integer CHECK (VALUE BETWEEN 0 AND 100)", allTypes},
	append(everythingRows, "GRANT SELECT ON everything TO reader")...)

// TestCopiedTypes: every value of every type arrives as PostgreSQL has it.
func TestCopiedTypes(t *testing.T) {
	c := newClinic(t, everythingSQL...)
	e := open(t, dataset(t, t.TempDir(), fmt.Sprintf(everythingPolicy, c.source())))
	rows := must(e.now.DB.Query(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "copied everything" ORDER BY id`))(t)
	defer rows.Close()
	want := []string{
		`1 | true | 32767 | 2147483647 | 1.5 | 1e+300 | 12345678.99 | 9999 | 12345678901234567890123456789012.123456 | 1.00001 | 1e+40 | ä"'` + "\n" +
			`x |  | ab | 00112233-4455-6677-8899-aabbccddeeff | 9999-12-31 | 2026-11-16 12:34:56.789012 | 2026-11-16 10:34:56+00 | glad | 7 | 1`,
		`2 | false | -32768 | -2147483648 | -0.0 | -0.0 | -0.01 | -1 | -0.000001 | -99999.99999 | 1e-11 | b | c  |   x | ` +
			`ffffffff-ffff-ffff-ffff-ffffffffffff | 0001-01-01 | 0001-01-01 00:00:00 | 1969-12-31 23:59:59.999999+00 | sad | 0 | 2`,
		`3 | NULL | 0 | 0 | nan | nan | NULL | NULL | 10000.000000 | 10000.10000 | nan | NULL | NULL | NULL | ` +
			`80000000-0000-0000-0000-000000000000 | infinity | -infinity | infinity | NULL | NULL | NULL`,
		`4 | true | 1 | 1 | inf | -inf | 0.00 | 0 | 0.000000 | 0.00000 | -inf |  | x |  | NULL | 4713-01-01 (BC) | NULL | NULL | sad | 100 | 5`,
		`5` + strings.Repeat(" | NULL", 20),
	}
	for i := 0; rows.Next(); i++ {
		cells, into := make([]*string, 21), make([]any, 21)
		for k := range cells {
			into[k] = &cells[k]
		}
		mustDo(t, rows.Scan(into...))
		var got []string
		for _, c := range cells {
			if c == nil {
				null := "NULL"
				c = &null
			}
			got = append(got, *c)
		}
		if text := strings.Join(got, " | "); text != want[i] {
			t.Errorf("got  %s\nwant %s", text, want[i])
		}
	}
}

// TestCopiedChanges: a change is seen with the next question, and is another version; a change that
// is taken back is the one before.
func TestCopiedChanges(t *testing.T) {
	c := ownClinic(t, "CREATE TABLE people (pid bigint, age integer)",
		"INSERT INTO people SELECT i, i % 90 FROM generate_series(1, 5000) i", "GRANT SELECT ON people TO reader")
	ds := dataset(t, t.TempDir(), "source: "+c.source()+"\nunit: people.pid\ntables: {people: {unique: pid, columns: "+
		"{pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}\n")
	e := open(t, ds)
	first := version(t, e)
	if !first.Whole || version(t, e) != first {
		t.Errorf("%+v, and then %+v", first, version(t, e))
	}
	seen := map[string]bool{first.State: true}
	for _, change := range []string{"INSERT INTO people VALUES (7000, 5)", "UPDATE people SET age = 6 WHERE pid = 7000",
		"DELETE FROM people WHERE pid = 7000", "TRUNCATE people"} {
		c.do(change, "SELECT pg_stat_force_next_flush()")
		now := version(t, e)
		if seen[now.State] != strings.HasPrefix(change, "DELETE") {
			t.Errorf("%s: version %v, of %v", change, now, seen)
		}
		seen[now.State] = true
	}
	c.server.Stop(t)
	var gone *pgtables.Unreachable
	if _, err := e.Version(t.Context()); !errors.As(err, &gone) || strings.Contains(err.Error(), "reader") {
		t.Errorf("without its server: %v", err)
	}
	c.server.Restart(t)
	version(t, e)
}

// TestCopiedRefused: what is no plain table, and a role that may do more or less than read.
func TestCopiedRefused(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, age integer, note text, tags text[])",
		"CREATE VIEW adults AS SELECT * FROM people WHERE age >= 18",
		"CREATE TABLE secured (pid bigint)", "ALTER TABLE secured ENABLE ROW LEVEL SECURITY", "CREATE TABLE other (x integer)",
		"CREATE SEQUENCE numbers", "GRANT SELECT (pid) ON people TO reader")
	policyOf := func(table, more string) string {
		return "source: " + c.source() + "\nunit: people.pid\ntables: {people: {unique: pid, source: " + table + more +
			", columns: {pid: {type: integer}}}}\n"
	}
	plain := policyOf("public.people", "")
	refused := func(name, keys, want string) {
		t.Helper()
		e, err := Open(t.Context(), dataset(t, t.TempDir(), keys))
		if err == nil {
			e.Close()
			t.Errorf("%s: it was opened", name)
			return
		}
		told := err.Error()
		var explained interface{ Explain() string }
		if errors.As(err, &explained) {
			if strings.Contains(told, "reader") || strings.Contains(told, "public") {
				t.Errorf("%s: %s", name, told)
			}
			told = explained.Explain()
		}
		if !strings.Contains(told, want) {
			t.Errorf("%s: %s\nwants %s", name, told, want)
		}
	}
	open(t, dataset(t, t.TempDir(), plain)).Close()
	refused("no table", policyOf("public.persons", ""), "there is no public.persons")
	refused("a view", policyOf("public.adults", ""), "is a view")
	refused("row security", policyOf("public.secured", ""), "row security")
	refused("a sequence", policyOf("public.numbers", ""), "is not a table")
	refused("a trusted view without a version", policyOf("public.adults", ", trusted: true"), "refresh: 1h")
	refused("no column", strings.Replace(plain, "columns: {", "columns: {weight: {type: integer}, ", 1), "no column weight")
	refused("an array", strings.Replace(plain, "columns: {", "columns: {tags: {type: text}, ", 1), "text[]")
	c.do("GRANT SELECT (age) ON people TO reader")
	refused("another type", strings.Replace(plain, "{pid: ", "{age: {type: text}, pid: ", 1), "correct the policy or the data")
	c.do("REVOKE SELECT (age) ON people FROM reader")
	refused("a column that is not granted", strings.Replace(plain, "{pid: ", "{note: {type: text}, pid: ", 1), `GRANT SELECT ("note")`)
	for _, g := range []struct{ grant, revoke, want string }{
		{"GRANT INSERT ON other TO reader", "REVOKE ALL ON other FROM reader", "may change public.other"},
		{"GRANT UPDATE (x) ON other TO PUBLIC", "REVOKE ALL ON other FROM PUBLIC", "may change public.other"},
		{"GRANT SELECT ON other TO reader", "REVOKE ALL ON other FROM reader", "may read public.other"},
		{"GRANT USAGE ON SEQUENCE numbers TO reader", "REVOKE ALL ON SEQUENCE numbers FROM reader", "may change public.numbers"},
		{"GRANT CREATE ON SCHEMA public TO PUBLIC", "REVOKE CREATE ON SCHEMA public FROM PUBLIC", "create tables in the schema public"},
		{"ALTER ROLE reader CREATEDB", "ALTER ROLE reader NOCREATEDB", "has CREATEDB"},
		{"ALTER ROLE reader SUPERUSER", "ALTER ROLE reader NOSUPERUSER", "is a superuser"},
		{"GRANT pg_read_server_files TO reader", "REVOKE pg_read_server_files FROM reader", "member of pg_read_server_files"},
	} {
		c.do(g.grant)
		refused(g.grant, plain, g.want)
		c.do(g.revoke)
	}
	// A view that the owner answers for, with a time after which it is read anew.
	c.do("GRANT SELECT (pid) ON adults TO reader", "REVOKE ALL ON people FROM reader")
	open(t, dataset(t, t.TempDir(), "refresh: 1h\n"+policyOf("public.adults", ", trusted: true"))).Close()
}

// TestCopiedCutOff: a copy that breaks off is an error whose text is the same whatever broke it,
// and the copy before stays.
func TestCopiedCutOff(t *testing.T) {
	c := ownClinic(t, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader",
		"INSERT INTO people SELECT i, repeat('x', 750) FROM generate_series(1, 100000) i")
	ds := dataset(t, t.TempDir(), c.peopleOf("", ""))
	e, err := OpenWith(t.Context(), ds, Limits{Memory: MinMemory}) // with room for all only on disk
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	first, folder := version(t, e), e.now.spill.folder
	database := must(pgtables.Of(ds))(t)
	read := func(ctx context.Context, during func()) error {
		from := must(database.Begin(t.Context()))(t)
		defer from.Close()
		return from.Copy(ctx, from.Relations[0], func(*pgtables.Batch) error {
			if during != nil {
				during()
			}
			during = nil
			return nil
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := read(ctx, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	c.do("INSERT INTO people VALUES (0, 'y')", "SELECT pg_stat_force_next_flush()")
	if _, err := e.Version(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	var gone *pgtables.Unreachable
	if err := read(t.Context(), func() {
		c.do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
	}); !errors.As(err, &gone) || strings.Contains(err.Error(), "administrator") {
		t.Errorf("cut off: %v", err)
	}
	if err := read(t.Context(), func() { c.server.Stop(t) }); !errors.As(err, &gone) {
		t.Errorf("the server died: %v", err)
	}
	if _, err := e.Version(t.Context()); !errors.As(err, &gone) || e.now.state.version != first {
		t.Errorf("without a server: %v", err)
	}
	var bytes int
	mustDo(t, e.now.DB.QueryRowContext(t.Context(), `SELECT sum(length(word)) FROM "copied people"`).Scan(&bytes))
	if bytes != 100000*750 {
		t.Errorf("the copy before has %d bytes", bytes)
	}
	c.server.Restart(t)
	if now := version(t, e); now == first {
		t.Errorf("%+v", now)
	}
	e.closing.Wait() // beside those who ask
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the copy before: %v", err)
	}
}

// TestCopiedLocked: a table that somebody has locked is nobody's to wait for before it has changed.
// Then who asks waits for the copy, as long as they like, and those who ask about the one before do
// not.
func TestCopiedLocked(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader",
		"INSERT INTO people VALUES (1, 'a')", "SELECT pg_stat_force_next_flush()")
	e := open(t, dataset(t, t.TempDir(), c.peopleOf("", "")))
	first := version(t, e)
	locker := must(pgx.Connect(t.Context(), c.address("postgres")))(t)
	defer locker.Close(context.Background())
	lock := func(text string) {
		t.Helper()
		must(locker.Exec(t.Context(), text))(t)
	}
	lock("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
	if now := version(t, e); now != first {
		t.Errorf("%+v", now)
	}
	lock("COMMIT; INSERT INTO people VALUES (2, 'b')")
	lock("SELECT pg_stat_force_next_flush()")
	lock("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if now, err := e.Version(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", now, err)
	}
	if got := words(t, e); got != "a" {
		t.Errorf("the copy before: %q", got)
	}
	lock("COMMIT")
	if now := version(t, e); now == first || words(t, e) != "a b" {
		t.Errorf("%+v: %q", now, words(t, e))
	}
	// Nobody is left waiting on the server when the data is closed.
	lock("INSERT INTO people VALUES (3, 'c')")
	lock("SELECT pg_stat_force_next_flush()")
	lock("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
	waiting := make(chan error, 1)
	go func() {
		_, err := e.Version(context.Background())
		waiting <- err
	}()
	time.Sleep(200 * time.Millisecond)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("closed: %v", err)
	}
	left := 1
	for range 100 {
		mustDo(t, locker.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader'").Scan(&left))
		if left == 0 {
			return
		}
		lock("SELECT pg_stat_clear_snapshot(), pg_sleep(0.02)")
	}
	t.Errorf("%d are still connected", left)
}
