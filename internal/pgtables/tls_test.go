package pgtables

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// TestTLS: data is read over TLS from the server that the policy names, by a certificate that is
// verified, and from no other one; and what is wrong is told without a word of the driver's.
func TestTLS(t *testing.T) {
	server := testpg.Start(t)
	admin, err := pgx.Connect(context.Background(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"SET password_encryption = 'scram-sha-256'", "CREATE ROLE reader LOGIN PASSWORD 'secret word'",
		"CREATE TABLE people (pid bigint)", "GRANT SELECT (pid) ON people TO reader", "REVOKE CREATE ON SCHEMA public FROM PUBLIC"} {
		if _, err := admin.Exec(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	admin.Close(context.Background())
	begin := func(options string) (*Snapshot, string) {
		p, err := policy.Parse("p.yaml", []byte("datasets: {d: {unit: people.pid, budget: {epsilon: 1}, analysts: {ana: }, "+
			"source: 'postgres://reader@localhost:"+server.Port()+"/postgres?"+options+"', tables: {people: {unique: pid, columns: {}}}}}"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Of(p.Datasets["d"])
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Begin(t.Context())
		if err == nil {
			return s, ""
		}
		if told := err.Error(); strings.Contains(told, "certificate") || strings.Contains(told, "localhost") {
			t.Errorf("analysts are told %s", told)
		}
		return nil, err.(interface{ Explain() string }).Explain()
	}
	soon, ours, others := time.Now().Add(time.Hour), testpg.NewAuthority(t), testpg.NewAuthority(t)
	verified := "sslmode=verify-full&sslrootcert=" + ours.File

	t.Setenv("PGPASSWORD", "secret word")
	server.Listen(t, ours, "localhost", soon)
	s, told := begin(verified)
	if told != "" {
		t.Fatal(told)
	}
	var encrypted bool
	const ask = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
	if err := s.tx.QueryRow(t.Context(), ask).Scan(&encrypted); err != nil || !encrypted {
		t.Errorf("encrypted is %v, %v", encrypted, err)
	}
	s.Close()
	refused := func(name, options, want string) {
		t.Helper()
		if _, told := begin(options); !strings.HasSuffix(told, want) || strings.Contains(told, "secret") {
			t.Errorf("%s: %q\nwants %q", name, told, want)
		}
	}
	refused("an authority that nobody knows", "sslmode=verify-full", "write sslrootcert=FILE into the address")
	refused("another authority", "sslmode=verify-full&sslrootcert="+others.File, "write sslrootcert=FILE into the address")
	os.Setenv("PGPASSWORD", "secret words")
	refused("a wrong password", verified, `password authentication failed for user "reader"`)
	os.Setenv("PGPASSWORD", "")
	refused("no password", verified, "none was given: put it into PGPASSWORD, or into a file that PGPASSFILE or passfile= names")
	os.Setenv("PGPASSWORD", "secret word")

	server.Listen(t, ours, "db.example.org", soon)
	refused("another name", verified, "its certificate is for db.example.org, and not for localhost")
	server.Listen(t, ours, "localhost", time.Now().Add(-time.Minute))
	refused("an old certificate", verified, "has expired or is not valid yet, by the clock of this machine")
	server.Listen(t, nil, "", soon)
	refused("no TLS", verified, "it has no TLS: set ssl = on there, with a certificate")
	server.Stop(t)
	refused("no server", verified, "connection refused")
}
