package postgres

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

// What Charge returned for is there for everybody else, and waits for the disk also where the role
// is set not to.
func TestPromise1ChargedBeforeRelease(t *testing.T) {
	at := address(t)
	admin := open(t, at, Options{})
	do(t, admin, "CREATE ROLE careless LOGIN SUPERUSER; ALTER ROLE careless SET synchronous_commit = off")
	l := open(t, strings.Replace(at, "postgres@", "careless@", 1), Options{})
	for i := range 10 {
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(100)))
		mustKeep(t, l, r.Sequence, fmt.Sprint("key", i), strings.Repeat("answer", 1000*i+1))
		if n, hash, err := admin.Head(ctx); err != nil || n != r.Sequence+1 || hash == "" {
			t.Fatalf("record %d was confirmed, and another server is at %d: %v", r.Sequence, n, err)
		}
	}
	var user, synchronous string
	if err := l.conn.QueryRow(ctx, "SELECT current_user, current_setting('synchronous_commit')").Scan(&user, &synchronous); err != nil ||
		user != "careless" || synchronous != "on" {
		t.Errorf("%s has synchronous_commit %s, %v", user, synchronous, err)
	}
}

func do(t testing.TB, l *Ledger, sql string) {
	t.Helper()
	if _, err := l.conn.PgConn().Exec(ctx, l.database.in(sql)).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// A server that confirms what is not on a disk is refused.
func TestPromise1RefusesFsyncOff(t *testing.T) {
	pg := testpg.Start(t, "fsync=off")
	if _, err := Open(pg.URL()); !errors.Is(err, errFsync) {
		t.Errorf("got %v", err)
	}
}

func TestPromise5OneOrderAppendOnly(t *testing.T) {
	at := address(t)
	servers := []*Ledger{open(t, at, Options{}), open(t, at, Options{})}
	_, previous, _ := servers[0].Head(ctx)
	for i := range 10 {
		l := servers[i%2]
		r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(100)))
		if r.Sequence != uint64(i+1) {
			t.Fatalf("charge %d is record %d", i, r.Sequence)
		}
		record, hash, _, err := writer{l}.Read(r.Sequence)
		if err != nil || hash != r.Hash || record.Previous != previous {
			t.Fatalf("record %d does not continue the one before: %v", r.Sequence, err)
		}
		previous = hash
	}
	for _, sql := range []string{
		"UPDATE ledger.records SET body = 'x' WHERE sequence = 1", "DELETE FROM ledger.records WHERE sequence = 10",
		"TRUNCATE ledger.records", "DELETE FROM ledger.head", "TRUNCATE ledger.head",
		"INSERT INTO ledger.records VALUES (1, 'x', 'y', NULL, 1)",
	} {
		if _, err := servers[0].conn.Exec(ctx, servers[0].database.in(sql)); err == nil {
			t.Errorf("%s: no error", sql)
		}
	}
}

// What was changed behind the ledger's back is noticed when it is opened or verified, and by a
// server that runs when it comes to it.
func TestPromise7EditedRowsAreNoticed(t *testing.T) {
	for name, sql := range map[string]string{
		"a body":           "UPDATE ledger.records SET body = replace(encode(body, 'escape'), 'ana', 'ben')::bytea WHERE sequence = 3",
		"a hash":           "UPDATE ledger.records SET hash = repeat('0', 64) WHERE sequence = 3",
		"an answer":        "UPDATE ledger.records SET answer = 'another' WHERE sequence = 2",
		"no answer":        "UPDATE ledger.records SET answer = NULL WHERE sequence = 2",
		"a missing record": "DELETE FROM ledger.records WHERE sequence = 3",
		"a missing end":    "DELETE FROM ledger.records WHERE sequence = 6",
		"a head":           "UPDATE ledger.head SET sequence = 5",
		"a missing head":   "DELETE FROM ledger.head",
		"two swapped": "ALTER TABLE ledger.records DROP CONSTRAINT records_pkey; " +
			"UPDATE ledger.records SET sequence = 9 - sequence WHERE sequence IN (4, 5)",
		"a table too few": "DROP TABLE ledger.deaths",
		"one before all": "ALTER TABLE ledger.records DROP CONSTRAINT records_sequence_check; " +
			"UPDATE ledger.records SET sequence = -1 WHERE sequence = 0",
		"somebody's policy": "ALTER TABLE ledger.records ENABLE ROW LEVEL SECURITY",
	} {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			l := open(t, at, Options{})
			for i := range 3 {
				r := mustCharge(t, l, ask(fmt.Sprint(i), hospital(100)))
				mustKeep(t, l, r.Sequence, fmt.Sprint("key", i), "answer")
			}
			do(t, l, "ALTER TABLE ledger.records DISABLE TRIGGER ALL; ALTER TABLE ledger.head DISABLE TRIGGER ALL")
			do(t, l, sql)
			var corrupt *ledger.CorruptError
			if other, err := Open(at); !errors.As(err, &corrupt) {
				t.Errorf("opened: %v", err)
				if err == nil {
					other.Close()
				}
			}
			r, err := Read(at)
			if err == nil {
				_, err = r.Verify(nil)
				r.Close()
			}
			if !errors.As(err, &corrupt) {
				t.Errorf("verified: %v", err)
			}
		})
	}
}

// older sets a database back to an earlier record, as a backup or a standby that was behind.
func older(t *testing.T, l *Ledger, last int) {
	t.Helper()
	do(t, l, "ALTER TABLE ledger.records DISABLE TRIGGER ALL")
	do(t, l, fmt.Sprintf("DELETE FROM ledger.records WHERE sequence > %d; UPDATE ledger.head SET sequence = %d, hash = "+
		"(SELECT hash FROM ledger.records WHERE sequence = %d)", last, last, last))
	do(t, l, "ALTER TABLE ledger.records ENABLE TRIGGER ALL")
}

// A server that runs notices that the database has forgotten something, and ends; also where others
// have written as much again.
func TestPromise13TheDatabaseForgot(t *testing.T) {
	for _, more := range []int{0, 1, 2, 3} {
		at := address(t)
		l, admin := open(t, at, Options{}), open(t, at, Options{})
		for i := range 4 {
			mustCharge(t, l, ask(fmt.Sprint(i), hospital(100)))
		}
		older(t, admin, 2)
		other := open(t, at, Options{})
		for i := range more {
			mustCharge(t, other, ask(fmt.Sprint("other ", i), hospital(100)))
		}
		var corrupt *ledger.CorruptError
		if _, err := l.Charge(ctx, ask("after", hospital(100))); !errors.As(err, &corrupt) {
			t.Errorf("%d more: got %v", more, err)
		}
		if _, err := l.Balances(ctx, []ledger.Account{hospital(1)}); !errors.As(err, &corrupt) {
			t.Errorf("%d more: got %v", more, err)
		}
	}
}

// anchored opens a ledger whose anchor is a row of another database, here another table.
func anchored(t *testing.T, at, name string) (*Ledger, error) {
	t.Helper()
	row, err := anchor.Postgres(testpg.Shared(t).URL(), name)
	noError(t, err)
	t.Cleanup(func() { row.Close() })
	l, err := OpenWith(at, Options{Anchorage: row})
	if err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return l, err
}

// Several servers share an anchor, which is never behind what was confirmed; a database that is
// older than its anchor is not opened, whatever was written to it since, and a server that runs
// ends.
func TestPromise13SharedAnchor(t *testing.T) {
	at, name := address(t), fmt.Sprint("anchor ", schemas.Add(1))
	var servers []*Ledger
	for range 3 {
		l, err := anchored(t, at, name)
		noError(t, err)
		servers = append(servers, l)
	}
	o := race(t, servers, 40, 30)
	if len(o.receipts) != 30 {
		t.Fatalf("%d were admitted", len(o.receipts))
	}
	row, err := anchor.Postgres(testpg.Shared(t).URL(), name)
	noError(t, err)
	defer row.Close()
	a, found, err := row.Load(ctx)
	n, hash, _ := servers[0].Head(ctx)
	if err != nil || !found || a.Sequence != n || a.Hash != hash || a.Most[0].Spent.Rho/unit.Rho != 30 {
		t.Errorf("the anchor is at %d, and the ledger at %d: %v", a.Sequence, n, err)
	}
	admin := open(t, at, Options{mending: true})
	older(t, admin, 20)
	var refused *ledger.AnchorError
	if _, err := anchored(t, at, name); !errors.As(err, &refused) {
		t.Errorf("opened: %v", err)
	}
	// To a program that does not look at the anchor it is a good ledger, only a forgetful one.
	forgetful := open(t, at, Options{mending: true})
	for i := range 80 {
		noError(t, ledgertest.ErrOf(forgetful.Charge(ctx, ask(fmt.Sprint("forgot ", i), hospital(1000)))))
	}
	if _, err := anchored(t, at, name); !errors.As(err, &refused) {
		t.Errorf("opened with another history: %v", err)
	}
	if _, err := servers[1].Charge(ctx, ask("after", hospital(1000))); err == nil {
		t.Error("a server went on that had an anchor")
	}
	if _, err := anchored(t, at, name+" elsewhere"); !errors.As(err, new(*ledger.UnanchoredError)) {
		t.Errorf("opened without its anchor: %v", err)
	}
}

// TestPromise13NoPlace: a ledger that has an anchor is not opened by a server that names none, and
// a server that had opened it before tells nothing more. The owner can give the anchor up.
func TestPromise13NoPlace(t *testing.T) {
	at, name := address(t), fmt.Sprint("anchor ", schemas.Add(1))
	before := open(t, at, Options{})
	mustCharge(t, before, ask("before", hospital(100)))
	l, err := anchored(t, at, name)
	noError(t, err)
	mustCharge(t, l, ask("anchored", hospital(100)))
	var refused *ledger.UnanchoredError
	if _, err := before.Charge(ctx, ask("after", hospital(100))); !errors.As(err, &refused) {
		t.Errorf("a server without the anchor went on: %v", err)
	}
	if other, err := OpenWith(at, Options{}); !errors.As(err, &refused) || refused.Anchorage != "" ||
		!strings.Contains(err.Error(), "--give-up") {
		t.Fatalf("opened without its anchor: %v, %v", other, err)
	}
	row, err := anchor.Postgres(testpg.Shared(t).URL(), name)
	noError(t, err)
	defer row.Close()
	o := Options{Anchorage: row}
	if err := GiveUpAnchor(at, o, "why"); !errors.Is(err, errServing) {
		t.Errorf("an anchor was given up while servers run: %v", err)
	}
	for _, server := range []*Ledger{before, l} {
		noError(t, server.Close())
	}
	noError(t, GiveUpAnchor(at, o, "why"))
	after := open(t, at, Options{})
	mustCharge(t, after, ask("later", hospital(100)))
	noError(t, after.Close())
	if _, err := anchored(t, at, name); err != nil {
		t.Errorf("with its anchor again: %v", err)
	}
	if _, err := OpenWith(at, Options{}); !errors.As(err, &refused) {
		t.Errorf("opened without its second anchor: %v", err)
	}
}

// Passwords are in no message, and in no address.
func TestAddresses(t *testing.T) {
	for _, bad := range []string{
		"postgres://discreet:hunter2@db/ledgers", "postgres://discreet@db/ledgers?password=hunter2", "mysql://db/ledgers",
		"postgres:///ledgers", "postgres://db/ledgers?schema=a;b", "postgres://db/ledgers?schema=pg_x", "postgres://db:x/y",
	} {
		var invalid *ledger.InvalidError
		if _, err := Open(bad); !errors.As(err, &invalid) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	t.Setenv(PasswordVariable, "hunter2")
	t.Setenv("PGSSLROOTCERT", "")
	for address, tls := range map[string]bool{
		"postgres://discreet@db.example.org/ledgers": true, "postgres://discreet@127.0.0.1/ledgers": false,
		"postgres://discreet@localhost:5433/ledgers": false, "postgres://discreet@a.example.org,b.example.org/ledgers": true,
		"postgres://discreet@db.example.org/ledgers?sslmode=disable": false,
	} {
		p, err := parse(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		verified := p.config.TLSConfig != nil && !p.config.TLSConfig.InsecureSkipVerify && p.config.TLSConfig.ServerName != ""
		if verified != tls || p.config.Password != "hunter2" || strings.Contains(p.name, "hunter2") {
			t.Errorf("%s: verified %v, %s", address, verified, p.name)
		}
	}
	dir, err := os.MkdirTemp("/tmp", "no")
	noError(t, err)
	defer os.RemoveAll(dir)
	if _, err := Open("postgres://discreet@/ledgers?host=" + dir); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// A ledger whose clock is another decides the same, and reading beside servers sees one moment.
func TestReadBesideServers(t *testing.T) {
	at := address(t)
	l := open(t, at, Options{})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				if _, err := l.Charge(ctx, ask(fmt.Sprint(i), hospital(1<<20))); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	for range 5 {
		time.Sleep(10 * time.Millisecond)
		verify(t, at)
	}
	close(stop)
	<-done
}

// A role with the grants of docs/high-availability.md can serve, and cannot change what was
// written.
func TestServingRole(t *testing.T) {
	at := address(t)
	admin := open(t, at, Options{Lease: time.Second})
	text, err := os.ReadFile("../../../docs/high-availability.md")
	noError(t, err)
	_, grants, _ := strings.Cut(string(text), "```sql\nGRANT")
	grants, _, found := strings.Cut("GRANT"+grants, "```")
	if !found {
		t.Fatal("there are no grants")
	}
	name := fmt.Sprint("serving_", schemas.Add(1))
	schema := "SCHEMA " + admin.database.schema
	grants = strings.NewReplacer("SCHEMA discreet", schema, "discreet.", "ledger.", "serving", name).Replace(grants)
	do(t, admin, "CREATE ROLE "+name+" LOGIN; "+grants)
	l := open(t, strings.Replace(at, "postgres@", name+"@", 1), Options{Lease: time.Second})
	r := mustCharge(t, l, ask("a", hospital(10)))
	mustKeep(t, l, r.Sequence, "key", "42")
	mustCharge(t, admin, ask("b", hospital(10)))
	asleep(admin)
	until(t, "the end of the first server", func() bool { return len(l.Died()) == 1 })
	if _, err := l.Fail(ctx, crash); err != nil {
		t.Error(err)
	}
	for _, sql := range []string{"UPDATE ledger.records SET body = 'x'", "DELETE FROM ledger.records", "DELETE FROM ledger.head",
		"TRUNCATE ledger.records", "ALTER TABLE ledger.records DISABLE TRIGGER ALL"} {
		if _, err := l.conn.Exec(ctx, l.database.in(sql)); err == nil {
			t.Errorf("%s: no error", sql)
		}
	}
}

// A ledger that everybody in the database can read or change is not opened, and not repaired.
func TestPromise7NotForEverybody(t *testing.T) {
	t.Parallel()
	at := address(t)
	l := open(t, at, Options{})
	mustCharge(t, l, ask("paid", hospital(10)))
	mustClose(t, l)
	for _, what := range []string{
		"SELECT ON ledger.records", "SELECT (answer) ON ledger.records", "INSERT ON ledger.records", "UPDATE ON ledger.head",
		"TRUNCATE ON ledger.head", "UPDATE (counted) ON ledger.deaths", "DELETE ON ledger.servers",
	} {
		noError(t, ledgertest.ErrOf(l.database.do("GRANT "+what+" TO PUBLIC")))
		if _, err := OpenWith(at, Options{}); !errors.Is(err, errOpen) {
			t.Errorf("%s: %v", what, err)
		}
		noError(t, ledgertest.ErrOf(l.database.do("REVOKE "+what+" FROM PUBLIC")))
	}
	open(t, at, Options{})
}

func (p *database) do(sql string) (any, error) {
	c, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer hangUp(c)
	return c.Exec(ctx, p.in(sql))
}
