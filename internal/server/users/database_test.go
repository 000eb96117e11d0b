package users

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// TestInDatabase runs the tests of a file over a database. Those of what is in memory are not
// repeated.
func TestInDatabase(t *testing.T) {
	shared(t)
	for name, test := range map[string]func(*testing.T){
		"Store": TestStore, "PasswordsRefused": TestPasswordsRefused, "NamesRefused": TestNamesRefused, "Still": TestStill,
		"Together": TestTogether, "Killed": TestKilled, "Token": TestToken, "TokenRevoked": TestTokenRevoked,
		"TokenRefused": TestTokenRefused, "NoSecretIsStored": TestNoSecretIsStored, "Trail": TestTrail,
		"TrailIsFolded": TestTrailIsFolded, "TrailIsTrimmed": TestTrailIsTrimmed, "NoLineNoEntry": TestNoLineNoEntry,
		"WaitsGrow": TestWaitsGrow, "PoolsComeIn": TestPoolsComeIn, "Exchange": TestExchange,
		"UnknownNamesLookKnown": TestUnknownNamesLookKnown, "ChangedMeanwhile": TestChangedMeanwhile,
		"NamesBeyondASCII": TestNamesBeyondASCII, "Visit": TestVisit, "VisitsAreFew": TestVisitsAreFew,
		"OlderUsers": TestOlderUsers, "Saved": TestSaved,
	} {
		t.Run(name, test)
	}
}

// shared has the fixtures of a test in a database.
func shared(t *testing.T) {
	testpg.Shared(t)
	inDatabase = true
	t.Cleanup(func() { inDatabase = false })
}

// TestRestarted is about databases that stop meanwhile.
func TestRestarted(t *testing.T) {
	cheap(t)
	pg := testpg.Start(t)
	t.Run("Away", func(t *testing.T) { databaseAway(t, pg) })
	t.Run("Closed", func(t *testing.T) { closedAfterARestart(t, pg) })
}

// A server ends in order when its database has restarted meanwhile: what it cannot say any more
// over a connection that was lost is nothing.
func closedAfterARestart(t *testing.T, pg *testpg.Server) {
	authority := testpg.NewAuthority(t)
	c, err := pgx.Connect(ctx, pg.URL())
	must(t, err)
	for _, s := range []string{"CREATE ROLE clerk LOGIN PASSWORD 'secret word'", "DROP SCHEMA IF EXISTS discreet CASCADE",
		"CREATE SCHEMA discreet AUTHORIZATION clerk"} {
		must(t, second(c.Exec(ctx, s)))
	}
	must(t, c.Close(ctx))
	pg.Listen(t, authority, "localhost", time.Now().Add(time.Hour))
	t.Setenv(pgdial.PasswordVariable, "secret word")
	s, err := Open("postgres://clerk@localhost:" + pg.Port() + "/postgres?sslmode=verify-full&sslrootcert=" + authority.File)
	must(t, err)
	must(t, second(s.Add(ctx, "ana", Analyst, "")))
	pg.Stop(t)
	pg.Restart(t)
	must(t, s.Close())
}

// What one server did counts at the next check of another.
func TestServersShareUsers(t *testing.T) {
	shared(t)
	f := setUp(t)
	other := f.again(t)
	if string(f.keys.secret) != string(other.keys.secret) {
		t.Error("there are two secrets")
	}
	for range 5 {
		u, err := login(other, from("ana", home), f.password)
		must(t, err)
		secret, token, err := f.NewToken(ctx, "ana", "", time.Time{})
		must(t, err)
		must(t, second(other.Token(ctx, Attempt{}, secret)))
		must(t, other.RevokeToken(ctx, token.ID))
		denied(t, second(f.Token(ctx, Attempt{}, secret)))
		must(t, f.Revoke(ctx, "ana"))
		denied(t, other.CheckAgain(ctx, u))
		denied(t, second(login(other, from("ana", home), f.password)))
		f.turn(time.Hour)
		f.password, err = other.SetPassword(ctx, "ana", "")
		must(t, err)
	}
	// Who came in at another server is known to one that begins.
	begun := f.again(t)
	if begun.attempts.guard.wait(pairOf(from("ana", home))); !begun.attempts.guard.trusts(pairOf(from("ana", home)), f.hand.now()) {
		t.Error("who came in elsewhere is a stranger")
	}
	all, err := begun.Logins(ctx, "ana", 100)
	in := 0
	for _, l := range all {
		if l.Outcome == loginIn && l.Token == "" {
			in += l.Count
		}
	}
	if err != nil || in != 5 {
		t.Errorf("ana came in %d times, %v", in, err)
	}
}

// Many servers add one name, and one of them does.
func TestOneNameOnce(t *testing.T) {
	shared(t)
	f := setUp(t)
	var wait sync.WaitGroup
	var added, refused atomic.Int64
	var password atomic.Value
	for range 6 {
		s := f.again(t)
		for range 2 {
			wait.Go(func() {
				switch p, err := s.Add(ctx, "bob", Analyst, ""); {
				case err == nil:
					added.Add(1)
					password.Store(p)
				case errors.Is(err, ErrExists) && p == "":
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	if added.Load() != 1 || refused.Load() != 11 {
		t.Fatalf("%d added, %d refused", added.Load(), refused.Load())
	}
	must(t, second(f.Password(ctx, from("bob", home), password.Load().(string))))
}

// A token that is made while its user is revoked does not come back with a new password: it was
// made before and is revoked, or it was not made.
func TestTokenAgainstRevocation(t *testing.T) {
	shared(t)
	f := setUp(t)
	other := f.again(t)
	for range 20 {
		var wait sync.WaitGroup
		wait.Go(func() {
			for {
				if _, _, err := other.NewToken(ctx, "ana", "", time.Time{}); err != nil {
					if err != ErrRevoked {
						t.Error(err)
					}
					return
				}
			}
		})
		must(t, f.Revoke(ctx, "ana"))
		wait.Wait()
		must(t, second(f.SetPassword(ctx, "ana", "correct horse battery")))
	}
	all, err := f.Tokens(ctx, "ana")
	must(t, err)
	for _, token := range all {
		if token.Revoked.IsZero() {
			t.Fatalf("of %d tokens one outlived the revocation", len(all))
		}
	}
}

// Servers trim and count in one trail.
func TestTrailsTogether(t *testing.T) {
	shared(t)
	f := setUp(t)
	var wait sync.WaitGroup
	for i := range 4 {
		s := f.again(t)
		wait.Go(func() {
			for j := range 10 {
				for range 2 {
					must(t, s.attempts.trail.add(from("ana", fmt.Sprintf("10.0.%d.%d", i, j)), loginIn, ""))
				}
				must(t, second(s.Logins(ctx, "", 1)))
				must(t, s.attempts.trail.trim(30))
			}
		})
	}
	wait.Wait()
	all, err := f.Logins(ctx, "", 100)
	if err != nil || len(all) != 30 {
		t.Fatalf("%d lines, %v", len(all), err)
	}
	for _, l := range all {
		if l.Count != 2 {
			t.Errorf("got %+v", l)
		}
	}
}

// What is not ours is left as it is, and users are not made by looking for them.
func TestDatabasesRefused(t *testing.T) {
	shared(t)
	f := setUp(t)
	c, err := pgx.Connect(ctx, testpg.Shared(t).URL())
	require(t, err)
	defer c.Close(ctx)
	for name, test := range map[string]struct{ prepare, says string }{
		"another's": {"CREATE SCHEMA X; CREATE TABLE X.users (name text)", "was not changed"},
		"same names": {"CREATE SCHEMA X; CREATE TABLE X.users(); CREATE TABLE X.secret(); CREATE TABLE X.tokens(); " +
			"CREATE TABLE X.logins()", "was not changed"},
		"views":       {"MAKE; ALTER TABLE X.users RENAME TO u; CREATE VIEW X.users AS SELECT * FROM X.u", "was not changed"},
		"some":        {"MAKE; DROP TABLE X.logins", "was not changed"},
		"rows hidden": {"MAKE; ALTER TABLE X.users ENABLE ROW LEVEL SECURITY", "was not changed"},
		"newer":       {"MAKE; UPDATE X.secret SET format = 3", "has the format 3, as Discreet development writes it. This is"},
		"of 0.9.1": {"MAKE; UPDATE X.secret SET format = 4; COMMENT ON TABLE X.secret IS 'users of Discreet 0.9.1'",
			"has the format 4, as Discreet 0.9.1 writes it. This is Discreet development, which reads the format 2, and brings 1"},
		"no secret": {"MAKE; DELETE FROM X.secret", "was not changed"},
		"short":     {"MAKE; UPDATE X.secret SET secret = 'abc'", "damaged"},
		"half new":  {"MAKE; UPDATE X.secret SET format = 1", "was not changed"},
		"lost":      {"MAKE; DROP TABLE X.visits", "was not changed"},
		"readable":  {"MAKE; GRANT SELECT ON X.users TO PUBLIC", "give everybody a new password"},
		"a column":  {"MAKE; GRANT UPDATE (argon2) ON X.users TO PUBLIC", "give everybody a new password"},
	} {
		at := nowhere(t)
		schema := at[strings.LastIndex(at, "=")+1:]
		text, made := strings.CutPrefix(test.prepare, "MAKE; ")
		if made {
			s, err := Open(at)
			require(t, err)
			must(t, s.Close())
		}
		if _, err := c.Exec(ctx, strings.ReplaceAll(text, "X", schema), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(name, err)
		}
		tables := func() (names string) {
			must(t, c.QueryRow(ctx, "SELECT string_agg(relname::text || relkind::text, ' ' ORDER BY relname) FROM pg_class "+
				"WHERE relnamespace = $1::regnamespace", schema).Scan(&names))
			return names
		}
		before := tables()
		for _, open := range []func(string) (*Store, error){Open, Find} {
			s, err := open(at)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, ErrNone) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := tables(); after != before {
			t.Errorf("%s: there was %s, and now %s", name, before, after)
		}
	}
	at := nowhere(t)
	if _, err := Find(at); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	var schemas int
	if err := c.QueryRow(ctx, "SELECT count(*) FROM pg_namespace WHERE nspname = $1", at[strings.LastIndex(at, "=")+1:]).
		Scan(&schemas); err != nil || schemas != 0 {
		t.Errorf("%d schemas, %v", schemas, err)
	}
	var invalid *InvalidError
	if _, err := Open(strings.Replace(f.path, "postgres@", "postgres:hunter22@", 1)); !errors.As(err, &invalid) ||
		!strings.Contains(err.Error(), pgdial.PasswordVariable) || strings.Contains(err.Error(), "hunter22") {
		t.Error(err)
	}
}

// A server needs no more than docs/high-availability.md says.
func TestServersRole(t *testing.T) {
	shared(t)
	f := setUp(t)
	schema := f.path[strings.LastIndex(f.path, "=")+1:]
	doc, err := os.ReadFile("../../../docs/high-availability.md")
	must(t, err)
	grant := regexp.MustCompile("`(GRANT [^`]* TO serving)`").FindSubmatch(doc)
	if grant == nil {
		t.Fatal("the document does not say")
	}
	_, err = f.db.Exec("CREATE ROLE serving LOGIN; "+strings.ReplaceAll(string(grant[1]), "discreet.", schema+".")+
		"; GRANT USAGE ON SCHEMA "+schema+" TO serving", pgx.QueryExecModeSimpleProtocol)
	must(t, err)
	s, err := Find(strings.Replace(f.path, "postgres@", "serving@", 1))
	require(t, err)
	defer s.Close()
	must(t, second(login(s, from("ana", home), f.password)))
	must(t, second(s.Add(ctx, "bob", Analyst, "")))
	secret, token, err := s.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	must(t, second(s.Token(ctx, Attempt{}, secret)))
	must(t, s.RevokeToken(ctx, token.ID))
	must(t, s.attempts.trail.trim(1))
	must(t, s.Revoke(ctx, "ana"))
	if _, err := Open(strings.Replace(nowhere(t), "postgres@", "serving@", 1)); err == nil ||
		!strings.Contains(err.Error(), "the users cannot be created in postgres://serving@") {
		t.Error(err)
	}
}

// A database that does not answer lets nobody in, says so to the owner once, and to nobody else
// anything; when it is back, so are the users.
func databaseAway(t *testing.T, pg *testpg.Server) {
	f := &fixture{hand: &hand{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, path: pg.URL()}
	t.Setenv(pgdial.PasswordVariable, "hunter22")
	f.Store = f.again(t)
	password, err := f.Add(ctx, "ana", Analyst, "")
	must(t, err)
	u, err := login(f.Store, from("ana", home), password)
	must(t, err)
	secret, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	var told []string
	f.Tell(func(err error) { told = append(told, err.Error()) })
	pg.Stop(t)
	_, _, made := f.NewToken(ctx, "ana", "", time.Time{})
	for what, err := range map[string]error{
		"exchange": second(login(f.Store, from("ana", home), password)), "password": second(f.Password(ctx, from("ana", home), password)),
		"token": second(f.Token(ctx, Attempt{}, secret)), "still": f.CheckAgain(ctx, u), "revoke": f.Revoke(ctx, "ana"), "new token": made,
	} {
		var l *LockedError
		if err == nil || errors.Is(err, ErrDenied) || errors.As(err, &l) || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "the users in postgres://") {
		t.Errorf("the owner was told %q", told)
	}
	pg.Restart(t)
	must(t, f.CheckAgain(ctx, u))
	must(t, second(login(f.Store, from("ana", home), password)))
	must(t, second(f.Token(ctx, Attempt{}, secret)))
}

// Who reads does not wait for who writes.
func TestReadersDoNotWait(t *testing.T) {
	shared(t)
	f := setUp(t)
	must(t, second(f.epoch(ctx, "ana")))
	tx, err := f.again(t).db.Begin()
	must(t, err)
	defer tx.Rollback()
	must(t, second(tx.Exec("UPDATE main.users SET epoch = epoch + 1")))
	hurry, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	must(t, second(f.epoch(hurry, "ana")))
}

func TestNumbered(t *testing.T) {
	for sql, want := range map[string]string{
		"":  "",
		"a": "a", "? ?": "$1 $2", "a = ?1 AND b = ?1 LIMIT ?2": "a = $1 AND b = $1 LIMIT $2", "(?, 1, ?)": "($1, 1, $2)",
	} {
		if got := numbered(sql); got != want {
			t.Errorf("%q: %q", sql, got)
		}
	}
}

// TestCopy: users who move between a file and a database come in with what they had, and who was
// revoked does not.
func TestCopy(t *testing.T) {
	f := setUp(t)
	ben, err := f.Add(ctx, "ben", Owner, "")
	must(t, err)
	secret, kept, err := f.NewToken(ctx, "ana", "dashboard", time.Time{})
	must(t, err)
	gone, revoked, err := f.NewToken(ctx, "ana", "old", time.Time{})
	must(t, err)
	must(t, f.RevokeToken(ctx, revoked.ID))
	must(t, second(login(f.Store, from("ana", home), f.password)))
	denied(t, second(login(f.Store, from("zoe", home), "wrong")))
	must(t, f.Revoke(ctx, "ben"))
	for i := range rowsAtOnce { // more rows than one statement writes
		must(t, second(f.Add(ctx, fmt.Sprintf("user%d", i), Analyst, "")))
	}
	must(t, second(f.db.Exec(`INSERT INTO main.saved (id, kind, "user", dataset, shared, title, body, created, changed)
VALUES ('x', 'question', 'ana', 'hospital', 1, 'Größe', 'SELECT 1', 1, 2)`)))
	known := []string{"secret", "visits"} // the one is copied by hand, and the other is not
	for _, c := range copiedTables {
		known = append(known, c.table)
	}
	rows, err := f.db.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	must(t, err)
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		if !slices.Contains(known, name) {
			t.Errorf("the table %s is not copied", name)
		}
	}
	must(t, rows.Err())
	must(t, f.Close())

	shared(t)
	database, back := nowhere(t), filepath.Join(t.TempDir(), "back.users")
	if _, err := Copy(ctx, filepath.Join(t.TempDir(), "none"), database); !errors.Is(err, ErrNone) {
		t.Errorf("of none: %v", err)
	}
	var all [][][][]any
	for _, way := range [][2]string{{f.path, database}, {database, back}} {
		n, err := Copy(ctx, way[0], way[1])
		if err != nil || n.Users != 2+rowsAtOnce || n.Tokens != 2 || n.Logins < 2 || n.Saved != 1 {
			t.Fatalf("%+v, %v", n, err)
		}
		if _, err := Copy(ctx, way[0], way[1]); !errors.Is(err, ErrOccupied) {
			t.Errorf("a second time: %v", err)
		}
		s, err := openAt(way[1], false, f.hand.now)
		must(t, err)
		rows, err := s.contents(ctx)
		must(t, err)
		all = append(all, rows)
		if string(s.keys.salt("nobody")) != string(f.keys.salt("nobody")) {
			t.Error("names that nobody has look new")
		}
		must(t, s.Close())
	}
	if !reflect.DeepEqual(all[0], all[1]) {
		t.Error("on the way back something has changed")
	}
	for _, where := range []string{database, back} {
		s, err := openAt(where, false, f.hand.now)
		must(t, err)
		must(t, second(login(s, from("ana", home), f.password)))
		denied(t, second(login(s, from("ben", home), ben)))
		must(t, second(s.Token(ctx, Attempt{}, secret)))
		denied(t, second(s.Token(ctx, Attempt{}, gone)))
		if tokens, err := s.Tokens(ctx, "ana"); err != nil || len(tokens) != 2 || tokens[0].ID != kept.ID && tokens[1].ID != kept.ID {
			t.Errorf("%+v, %v", tokens, err)
		}
		must(t, s.Close())
	}
}
