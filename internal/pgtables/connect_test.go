package pgtables

import (
	"os"
	"path/filepath"
	"testing"

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
