package postgres

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// TestTLS: a ledger is kept over TLS on the server that its address names, by a certificate that is
// verified, and on no other one; and no message has the password.
func TestTLS(t *testing.T) {
	server := testpg.Start(t)
	admin, err := pgx.Connect(ctx, server.URL())
	noError(t, err)
	for _, s := range []string{"CREATE ROLE clerk LOGIN PASSWORD 'secret word'", "CREATE DATABASE ledgers OWNER clerk"} {
		noError(t, ledgertest.ErrOf(admin.Exec(ctx, s)))
	}
	admin.Close(ctx)
	soon, ours, others := time.Now().Add(time.Hour), testpg.NewAuthority(t), testpg.NewAuthority(t)
	at := func(authority string) string {
		q := url.Values{"sslmode": {"verify-full"}}
		if authority != "" {
			q.Set("sslrootcert", authority)
		}
		return "postgres://clerk@localhost:" + server.Port() + "/ledgers?" + q.Encode()
	}
	t.Setenv(pgdial.PasswordVariable, "secret word")
	server.Listen(t, ours, "localhost", soon)
	l := open(t, at(ours.File), Options{})
	mustCharge(t, l, ask("over TLS", hospital(10)))
	var encrypted bool
	if err := l.conn.QueryRow(ctx, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted); err != nil || !encrypted {
		t.Errorf("encrypted is %v, %v", encrypted, err)
	}
	mustClose(t, l)
	refused := func(name, address, want string) {
		t.Helper()
		l, err := Open(address)
		if err == nil {
			l.Close()
			t.Errorf("%s: it was opened", name)
			return
		}
		if told := err.Error(); !strings.Contains(told, want) || strings.Contains(told, "secret") {
			t.Errorf("%s: %s\nwants %s", name, told, want)
		}
	}
	refused("an authority that nobody knows", at(""), "sslrootcert=FILE")
	refused("another authority", at(others.File), "sslrootcert=FILE")
	t.Setenv(pgdial.PasswordVariable, "secret words")
	refused("a wrong password", at(ours.File), "password authentication failed")
	t.Setenv(pgdial.PasswordVariable, "")
	refused("no password", at(ours.File), "no password was given: put it into DISCREET_LEDGER_PASSWORD")
	t.Setenv(pgdial.PasswordVariable, "secret word")
	server.Listen(t, ours, "db.example.org", soon)
	refused("another name", at(ours.File), "its certificate is for db.example.org, and not for localhost")
	server.Listen(t, ours, "localhost", time.Now().Add(-time.Minute))
	refused("an old certificate", at(ours.File), "has expired")
	server.Listen(t, nil, "", soon)
	refused("no TLS", at(ours.File), "it has no TLS")
	server.Listen(t, ours, "localhost", soon)
	if report := verify(t, at(ours.File)); report.Charges != 1 {
		t.Errorf("%+v", report)
	}
}
