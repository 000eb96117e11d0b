package users

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

func TestToken(t *testing.T) {
	f := setUp(t)
	_, err := f.Add(ctx, "bob", Owner, "")
	must(t, err)
	day := f.hand.now().Add(24 * time.Hour)
	secret, token, err := f.NewToken(ctx, "ana", "nightly report", day)
	must(t, err)
	if !regexp.MustCompile(`^dsc_[0-9a-z]{10}_[0-9a-z]{52}$`).MatchString(secret) || !strings.HasPrefix(secret, "dsc_"+token.ID+"_") ||
		token.Label != "nightly report" || !token.Expires.Equal(day) {
		t.Errorf("got %q, %+v", secret, token)
	}
	nobody := Attempt{Address: home, Listener: "http"}
	for _, a := range []Attempt{nobody, from("ana", home)} {
		if u, err := f.Token(ctx, a, secret); err != nil || u.Name != "ana" || u.Role != Analyst {
			t.Errorf("got %+v, %v", u, err)
		}
	}
	other, _, err := f.NewToken(ctx, "bob", "", time.Time{})
	must(t, err)
	denied(t, second(f.Token(ctx, from("bob", home), secret))) // another's
	for _, bad := range []string{"", "dsc_", secret[:len(secret)-1], secret + "x", " " + secret, strings.ToUpper(secret),
		strings.Replace(secret, "_", "-", 1),
		"dsc_" + token.ID + "_" + other[len(other)-secretLength:], "dsc_0000000000" + secret[14:], strings.Repeat("x", 1<<20),
		"dsc_" + token.ID + "_" + strings.Repeat("\x00", 52)} {
		if u, err := f.Token(ctx, nobody, bad); err != ErrDenied || u != (User{}) {
			t.Errorf("%.80q: %+v, %v", bad, u, err)
		}
	}
	all, err := f.Tokens(ctx, "")
	if err != nil || len(all) != 2 || all[0].User != "ana" || !all[0].Used.Equal(f.hand.now()) || !all[1].Used.IsZero() {
		t.Errorf("got %+v, %v", all, err)
	}
	// To the microsecond.
	f.turn(24*time.Hour - time.Microsecond)
	must(t, second(f.Token(ctx, nobody, secret)))
	f.turn(time.Microsecond)
	denied(t, second(f.Token(ctx, nobody, secret)))
	must(t, second(f.Token(ctx, nobody, other)))
	if l, err := f.Logins(ctx, "ana", 1); err != nil || l[0].Outcome != "expired" || l[0].Token != token.ID {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestTokenRevoked(t *testing.T) {
	f := setUp(t)
	server := f.again(t)
	one, token, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	two, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	must(t, second(server.Token(ctx, Attempt{}, one)))
	must(t, f.RevokeToken(ctx, token.ID))
	denied(t, second(server.Token(ctx, Attempt{}, one)))
	must(t, second(server.Token(ctx, Attempt{}, two)))
	if err := f.RevokeToken(ctx, token.ID); err != ErrRevoked {
		t.Error(err)
	}
	if err := f.RevokeToken(ctx, "0000000000"); err != ErrNoToken {
		t.Error(err)
	}
	must(t, f.Revoke(ctx, "ana"))
	denied(t, second(server.Token(ctx, Attempt{}, two)))
	if _, _, err := f.NewToken(ctx, "ana", "", time.Time{}); err != ErrRevoked {
		t.Error(err)
	}
	_, err = f.SetPassword(ctx, "ana", "")
	must(t, err)
	denied(t, second(server.Token(ctx, Attempt{}, two))) // tokens do not come back
}

func TestTokenRefused(t *testing.T) {
	f := setUp(t)
	var invalid *InvalidError
	for _, label := range []string{"a\nb", "\x1b[2J", "\xff", strings.Repeat("x", 101)} {
		if _, _, err := f.NewToken(ctx, "ana", label, time.Time{}); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", label, err)
		}
	}
	if _, _, err := f.NewToken(ctx, "ana", "", f.hand.now()); !errors.As(err, &invalid) {
		t.Error(err)
	}
	if _, _, err := f.NewToken(ctx, "bob", "", time.Time{}); err != ErrUnknown {
		t.Error(err)
	}
	if _, err := f.Tokens(ctx, "bob"); err != ErrUnknown {
		t.Error(err)
	}
}

// Neither passwords nor tokens are in the files, or in the tables.
func TestNoSecretIsStored(t *testing.T) {
	f := setUp(t)
	secret, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	must(t, second(f.Token(ctx, Attempt{Address: home}, secret)))
	denied(t, second(f.Token(ctx, Attempt{Address: home}, "a token that is wrong")))
	denied(t, second(f.Password(ctx, from("ana", home), "a password that is wrong")))
	for name, text := range stored(t, f) {
		for _, s := range []string{f.password, secret, secret[len(secret)-secretLength:], "that is wrong"} {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("%s is in %s", s, name)
			}
		}
	}
}

// stored closes the users and returns all that is kept of them, by where.
func stored(t *testing.T, f *fixture) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	if inDatabase {
		for _, table := range []string{"secret", "users", "tokens", "logins"} {
			var text string
			must(t, f.db.QueryRow("SELECT string_agg(t::text, ' ') FROM main."+table+" t").Scan(&text))
			if len(text) < 10 {
				t.Errorf("the table %s has %q", table, text)
			}
			out[table] = []byte(text)
		}
	}
	must(t, f.Close())
	for _, name := range []string{f.path, f.path + "-wal"} {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		out[name] = text
	}
	return out
}

// signIn signs ana in with her password, and returns the secret of her visit.
func (f *fixture) signIn(t testing.TB, s *Store) string {
	t.Helper()
	u, err := s.Password(ctx, Attempt{Name: "ana", Address: home, Listener: "page"}, f.password)
	must(t, err)
	secret, err := s.Visits().Begin(ctx, u)
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
		u, err := s.Visits().Check(ctx, Attempt{Address: home, Listener: "page"}, secret, ends)
		if err == nil && (u.Name != "ana" || u.Role != Analyst || s.CheckAgain(ctx, u) != nil) {
			t.Errorf("got %+v", u)
		}
		if still := s.Visits().CheckAgain(ctx, secret, ends); (still == nil) != (err == nil) {
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
	must(t, other.Visits().End(ctx, out))
	must(t, other.Visits().End(ctx, out))
	denied(t, visits(f.Store, out))
	must(t, visits(f.Store, two))
	must(t, f.Visits().EndAll(ctx, "ana"))
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
	denied(t, second(f.Visits().Begin(ctx, u)))
	f.password, err = other.SetPassword(ctx, "ana", "")
	must(t, err)
	denied(t, visits(f.Store, revoked)) // which does not come back with the user

	all, err := f.Logins(ctx, "ana", 100)
	must(t, err)
	seen := map[string]bool{}
	for _, l := range all {
		seen[l.Listener+" "+l.Outcome] = true
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
		secret, err := f.Visits().Begin(ctx, u)
		must(t, err)
		secrets = append(secrets, secret)
	}
	var n int
	must(t, f.db.QueryRow("SELECT COUNT(*) FROM main.visits").Scan(&n))
	if n != maxVisits {
		t.Errorf("there are %d", n)
	}
	denied(t, second(f.Visits().Check(ctx, Attempt{}, secrets[4], DefaultEnds)))
	must(t, second(f.Visits().Check(ctx, Attempt{}, secrets[5], DefaultEnds)))
	var hash []byte
	must(t, f.db.QueryRow("SELECT hash FROM main.visits LIMIT 1").Scan(&hash))
	if len(hash) != 32 || strings.Contains(fmt.Sprint(secrets), string(hash)) {
		t.Errorf("stored is %q", hash)
	}
	f.turn(LongestVisit + time.Second)
	must(t, second(f.Visits().Begin(ctx, u)))
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
	must(t, second(f.Visits().Check(ctx, Attempt{}, f.signIn(t, f.again(t)), DefaultEnds)))
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
	require(t, err)
	defer s.Close()
	must(t, second(s.Visits().Check(ctx, Attempt{}, f.signIn(t, s), DefaultEnds)))
	run("DROP OWNED BY elder; DROP ROLE elder")
}

// TestSaved: what is saved is there at every server, in the order of its changes, for who asks for
// their own or for what is shared, so many of each kind.
func TestSaved(t *testing.T) {
	f := setUp(t)
	must(t, second(f.Add(ctx, "bob", Analyst, "")))
	other := f.again(t)
	first, err := f.SavedItems().Add(ctx, Saved{Kind: "question", User: "ana", Dataset: "h", Title: "<b>'\"; --", Body: `{"sql":"x"}`}, 2)
	must(t, err)
	f.turn(time.Second)
	later, err := other.SavedItems().Add(ctx, Saved{Kind: "question", User: "ana", Dataset: "h", Title: "two", Body: "{}", Shared: true}, 2)
	must(t, err)
	if len(first.ID) != 32 || first.ID == later.ID {
		t.Error(first.ID, later.ID)
	}
	var full *FullError
	if _, err := f.SavedItems().Add(ctx, Saved{Kind: "question", User: "ana", Dataset: "h"}, 2); !errors.As(err, &full) || full.Most != 2 {
		t.Error(err)
	}
	must(t, second(f.SavedItems().Add(ctx, Saved{Kind: "dashboard", User: "ana", Dataset: "h"}, 2)))
	must(t, second(f.SavedItems().Add(ctx, Saved{Kind: "question", User: "bob", Dataset: "g", Shared: true}, 2)))
	if got, err := other.SavedItems().Find(ctx, "question", first.ID); err != nil || got != first {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []struct{ kind, id string }{{"dashboard", first.ID}, {"question", ""}, {"question", first.ID + "\x00"},
		{"question", "%"}} {
		if _, err := f.SavedItems().Find(ctx, wrong.kind, wrong.id); !errors.Is(err, ErrNoSaved) {
			t.Error(wrong, err)
		}
	}
	if all, err := f.SavedItems().ByUser(ctx, "question", "ana"); err != nil || len(all) != 2 || all[0].ID != later.ID ||
		all[1].Body != "" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := f.SavedItems().SharedIn(ctx, "question", "h"); err != nil || len(all) != 1 || all[0].ID != later.ID {
		t.Errorf("%+v, %v", all, err)
	}
	f.turn(time.Second)
	first.Title, first.Shared, first.Dataset = "changed", true, "g"
	changed, err := other.SavedItems().Replace(ctx, first)
	must(t, err)
	if got, err := f.SavedItems().Find(ctx, "question", first.ID); err != nil || got != changed || !got.Changed.After(got.Created) {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := f.SavedItems().SharedIn(ctx, "question", "g"); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	stolen := changed
	stolen.User = "bob"
	if _, err := f.SavedItems().Replace(ctx, stolen); !errors.Is(err, ErrNoSaved) {
		t.Error(err)
	}
	must(t, f.SavedItems().Remove(ctx, "question", first.ID))
	if err := other.SavedItems().Remove(ctx, "question", first.ID); !errors.Is(err, ErrNoSaved) {
		t.Error(err)
	}
}
