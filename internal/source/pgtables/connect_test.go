package pgtables

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// TestServers: whatever stands in the environment and among the options, the driver asks the server
// that the policy names, and knows it by its certificate.
func TestServers(t *testing.T) {
	service := filepath.Join(t.TempDir(), "services")
	if err := os.WriteFile(service, []byte("[evil]\nhost=evil.example.org\nsslmode=disable\nport=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"PGHOST": "evil.example.org", "PGPORT": "1", "PGSSLMODE": "disable", "PGUSER": "evil",
		"PGDATABASE": "evil", "PGOPTIONS": "-c role=evil", "PGSERVICE": "evil", "PGSERVICEFILE": service} {
		t.Setenv(name, value)
	}
	const plain = "postgres://discreet@db.example.org/clinic?sslmode=verify-full"
	d, err := Of(&policy.Dataset{Name: "clinic", Source: plain})
	if err != nil {
		t.Fatal(err)
	}
	c := d.config
	if c.Host != "db.example.org" || c.Port != 5432 || c.User != "discreet" || c.Database != "clinic" || len(c.Fallbacks) > 0 ||
		c.TLSConfig == nil || c.TLSConfig.ServerName != "db.example.org" || c.TLSConfig.InsecureSkipVerify {
		t.Errorf("%+v", c.Config)
	}
	if c.RuntimeParams["options"] != "" || c.RuntimeParams["search_path"] != "pg_catalog, pg_temp" {
		t.Errorf("%v", c.RuntimeParams)
	}
	if d, err := Of(&policy.Dataset{Source: "postgres://discreet@/clinic?host=/run/a"}); err != nil || d.config.Port != 5432 {
		t.Errorf("a socket: %v", err)
	}
	// What package policy refuses is refused here once more.
	for _, more := range []string{"&ssl=true", "&sslmode=disable", "&sslmode=prefer", "&host=evil.example.org", "&host=db.example.org,evil",
		"&port=1", "&user=postgres", "&dbname=evil", "&sslmode=verify-ca"} {
		if _, err := Of(&policy.Dataset{Name: "clinic", Source: plain + more}); err == nil {
			t.Errorf("%s: it would be asked", more)
		}
	}
	if _, err := Of(&policy.Dataset{Source: "postgres://discreet@/clinic?host=/run/a,evil.example.org"}); err == nil {
		t.Error("another server, without TLS, behind a socket")
	}
}

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
