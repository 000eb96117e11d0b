package users

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/testpg"
)

// signIn signs ana in with her password, and returns the secret of her visit.
func (f *fixture) signIn(t testing.TB, s *Store) string {
	t.Helper()
	u, err := s.Password(ctx, Attempt{Name: "ana", Address: home, Door: "page"}, f.password)
	must(t, err)
	secret, err := s.BeginVisit(ctx, u)
	must(t, err)
	return secret
}

// TestVisit: a visit goes on while it is used, and ends by its clocks, by signing out, by a new
// password and by a revocation, at every server.
func TestVisit(t *testing.T) {
	f := setUp(t)
	other := f.again(t)
	ends := Ends{Idle: 30 * time.Minute, Whole: 2 * time.Hour}
	visits := func(s *Store, secret string) error {
		u, err := s.Visit(ctx, Attempt{Address: home, Door: "page"}, secret, ends)
		if err == nil && (u.Name != "ana" || u.Role != Analyst || s.Still(ctx, u) != nil) {
			t.Errorf("got %+v", u)
		}
		if still := s.StillVisits(ctx, secret, ends); (still == nil) != (err == nil) {
			t.Errorf("one says %v and the other %v", err, still)
		}
		return err
	}
	first := f.signIn(t, f.Store)
	if first == f.signIn(t, f.Store) {
		t.Error("two visits have one secret")
	}
	for _, wrong := range []string{"", "dsv_", first[:len(first)-1], first + "0", "x" + first[1:], strings.ToUpper(first),
		"dsv_\x00" + first[5:]} {
		denied(t, visits(f.Store, wrong))
	}
	// Used at either server it goes on at both.
	for range 5 {
		f.turn(20 * time.Minute)
		must(t, visits(other, first))
		must(t, visits(f.Store, first))
	}
	f.turn(20 * time.Minute) // two hours since it began
	denied(t, visits(f.Store, first))
	idle := f.signIn(t, f.Store)
	f.turn(29 * time.Minute)
	must(t, visits(other, idle))
	f.turn(30*time.Minute - 1)
	must(t, visits(f.Store, idle))
	f.turn(30 * time.Minute)
	denied(t, visits(other, idle))

	out := f.signIn(t, f.Store)
	two := f.signIn(t, other)
	must(t, other.EndVisit(ctx, out))
	must(t, other.EndVisit(ctx, out))
	denied(t, visits(f.Store, out))
	must(t, visits(f.Store, two))
	must(t, f.EndVisits(ctx, "ana"))
	denied(t, visits(other, two))

	changed := f.signIn(t, f.Store)
	var err error
	f.password, err = other.SetPassword(ctx, "ana", "")
	must(t, err)
	denied(t, visits(f.Store, changed))
	revoked := f.signIn(t, f.Store)
	u, err := f.Password(ctx, from("ana", home), f.password)
	must(t, err)
	must(t, other.Revoke(ctx, "ana"))
	denied(t, visits(f.Store, revoked))
	// Who was let in a moment before does not begin a visit afterwards.
	denied(t, second(f.BeginVisit(ctx, u)))
	f.password, err = other.SetPassword(ctx, "ana", "")
	must(t, err)
	denied(t, visits(f.Store, revoked)) // which does not come back with the user

	all, err := f.Logins(ctx, "ana", 100)
	must(t, err)
	seen := map[string]bool{}
	for _, l := range all {
		seen[l.Door+" "+l.Outcome] = true
	}
	for _, want := range []string{"page in", "page expired", "page revoked"} {
		if !seen[want] {
			t.Errorf("the trail has no %q: %v", want, seen)
		}
	}
}

// TestVisitsAreFew: a user has so many, and the file no secret of any.
func TestVisitsAreFew(t *testing.T) {
	f := setUp(t)
	u, err := f.Password(ctx, from("ana", home), f.password)
	must(t, err)
	var secrets []string
	for range maxVisits + 5 {
		f.turn(time.Millisecond)
		secret, err := f.BeginVisit(ctx, u)
		must(t, err)
		secrets = append(secrets, secret)
	}
	var n int
	must(t, f.db.QueryRow("SELECT COUNT(*) FROM main.visits").Scan(&n))
	if n != maxVisits {
		t.Errorf("there are %d", n)
	}
	denied(t, second(f.Visit(ctx, Attempt{}, secrets[4], UsualEnds)))
	must(t, second(f.Visit(ctx, Attempt{}, secrets[5], UsualEnds)))
	var hash []byte
	must(t, f.db.QueryRow("SELECT hash FROM main.visits LIMIT 1").Scan(&hash))
	if len(hash) != 32 || strings.Contains(fmt.Sprint(secrets), string(hash)) {
		t.Errorf("stored is %q", hash)
	}
	f.turn(LongestVisit + time.Second)
	must(t, second(f.BeginVisit(ctx, u)))
	must(t, f.db.QueryRow("SELECT COUNT(*) FROM main.visits").Scan(&n))
	if n != 1 {
		t.Errorf("there are still %d", n)
	}
}

// older makes users what the program before this one left.
func older(t *testing.T, f *fixture) {
	t.Helper()
	must(t, f.change(ctx, func(tx *sql.Tx) error {
		statements := []string{"DROP TABLE main.visits", "DROP TABLE main.saved", "PRAGMA user_version = 1"}
		if inDatabase {
			statements[2] = "UPDATE main.secret SET format = 1"
		}
		for _, statement := range statements {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, f.Store.Close())
}

// TestOlderUsers: users of the program before this one are taken over, with their passwords.
func TestOlderUsers(t *testing.T) {
	f := setUp(t)
	older(t, f)
	f.Store = f.again(t)
	must(t, second(f.Visit(ctx, Attempt{}, f.signIn(t, f.again(t)), UsualEnds)))
}

// TestOlderDatabase: the role of a server cannot take users over and says who can; afterwards it
// has the rights that it needs.
func TestOlderDatabase(t *testing.T) {
	shared(t)
	f := setUp(t)
	schema := f.path[strings.LastIndex(f.path, "=")+1:]
	c, err := pgx.Connect(ctx, testpg.Shared(t).URL())
	must(t, err)
	defer c.Close(context.Background())
	run := func(text string) {
		t.Helper()
		_, err := c.Exec(ctx, strings.ReplaceAll(text, "X", schema), pgx.QueryExecModeSimpleProtocol)
		must(t, err)
	}
	run("CREATE ROLE elder LOGIN; GRANT USAGE ON SCHEMA X TO elder; " +
		"GRANT SELECT, INSERT, UPDATE, DELETE ON X.secret, X.users, X.tokens, X.logins TO elder")
	older(t, f)
	at := strings.Replace(f.path, "postgres@", "elder@", 1)
	if _, err := Find(at); err == nil || !strings.Contains(err.Error(), "discreet user list") {
		t.Fatal(err)
	}
	f.Store = f.again(t)
	s, err := Find(at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	must(t, second(s.Visit(ctx, Attempt{}, f.signIn(t, s), UsualEnds)))
	run("DROP OWNED BY elder; DROP ROLE elder")
}
