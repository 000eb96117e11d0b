package users

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
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
	nobody := Attempt{Address: home, Door: "http"}
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
