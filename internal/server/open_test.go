package server

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// What is wrong is said with what to do about it, and nothing stays open.
func TestOpenSays(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	good := world(t, "")
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no policy":         {func(c *Config) { c.Policy = "" }, "name a policy file"},
		"policy not there":  {func(c *Config) { c.Policy += "x" }, "no such file"},
		"no addresses":      {func(c *Config) { c.Listen, c.HTTP = "", "" }, "nothing to listen on"},
		"certificate alone": {func(c *Config) { c.Certificate = "a.pem" }, "the certificate a.pem has no key"},
		"key alone":         {func(c *Config) { c.Key = "a.key" }, "the key a.key has no certificate"},
		"no such pair":      {func(c *Config) { c.Certificate, c.Key = "a.pem", "a.key" }, "cannot be used together"},
		"below 0":           {func(c *Config) { c.Rate = -1 }, "the limit rate is below 0"},
		"memory":            {func(c *Config) { c.Memory = "much" }, "memory"},
		"everywhere":        {func(c *Config) { c.Listen = ":0" }, "--plaintext"},
		"everywhere, HTTP":  {func(c *Config) { c.HTTP = "0.0.0.0:0" }, "--plaintext"},
		"everywhere, IPv6":  {func(c *Config) { c.HTTP = "[::]:0" }, "--plaintext"},
		"port in use":       {func(c *Config) { c.Listen = taken.Addr().String() }, "another program already uses"},
		"port in use, HTTP": {func(c *Config) { c.HTTP = taken.Addr().String() }, "another program already uses"},
		"no port":           {func(c *Config) { c.Listen = "127.0.0.1" }, "write an address such as 127.0.0.1:5432"},
		"no data": {func(c *Config) {
			c.Policy = filepath.Join(filepath.Dir(c.Policy), "elsewhere.yaml")
			if err := os.WriteFile(c.Policy, []byte("datasets:\n"+hospital.Dataset("hospital", "elsewhere", "{epsilon: 1}")),
				0o600); err != nil {
				t.Fatal(err)
			}
		}, "dataset hospital:"},
		"no users":           {func(c *Config) { c.Users += "x" }, "add them with 'discreet user add'"},
		"users is something": {func(c *Config) { c.Users = c.Policy }, ""},
		"users is empty": {func(c *Config) {
			c.Users += "2"
			store, err := users.Open(c.Users)
			must(t, err)
			store.Close()
		}, "add one with 'discreet user add'"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			c.change(&bad)
			if s, err := Open(t.Context(), bad); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
		})
	}
	opened(t, good)
}

// Without TLS an address that others can reach is refused, whatever it is called, and --plaintext
// allows it.
func TestPlaintext(t *testing.T) {
	c := world(t, "")
	c.HTTP = ":0"
	var plaintext *PlaintextError
	if _, err := Open(t.Context(), c); !errors.As(err, &plaintext) || plaintext.Address != ":0" {
		t.Errorf("got %v", err)
	}
	c.Plaintext = true
	opened(t, c)
}

func TestLedgerIsHeld(t *testing.T) {
	t.Parallel() // it waits
	c := world(t, "")
	db, err := discreet.Open(t.Context(), c.Policy)
	must(t, err)
	if _, err := Open(t.Context(), c); err == nil ||
		!strings.Contains(err.Error(), "the ledger is open already: in a running server") {
		t.Errorf("got %v", err)
	}
	must(t, db.Close())
	opened(t, c)
}

// One listener is enough.
func TestOneListener(t *testing.T) {
	for _, webLimits := range []bool{false, true} {
		c := world(t, "")
		if webLimits {
			c.Listen = ""
		} else {
			c.HTTP = ""
		}
		s := opened(t, c)
		if (s.HTTPAddr() != nil) != webLimits || (s.WireAddr() != nil) == webLimits {
			t.Errorf("listens on %v and %v", s.WireAddr(), s.HTTPAddr())
		}
	}
}

// Strangers get nothing but whether the server is there.
func TestStrangers(t *testing.T) {
	s := opened(t, world(t, ""))
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/datasets": 401, "/metrics": 401} {
		r, err := http.Get("http://" + s.HTTPAddr().String() + path)
		must(t, err)
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s is %s", path, r.Status)
		}
	}
	if s.Encrypted() || s.Policy().Datasets["hospital"] == nil || s.ReloadCertificate() != nil {
		t.Error("it is not what was opened")
	}
}

// A file of the repository that is a policy for nobody is not created by accident.
func TestOpenMakesNoUsers(t *testing.T) {
	c := world(t, "")
	c.Users = filepath.Join(filepath.Dir(c.Users), "others.users")
	if _, err := Open(t.Context(), c); !errors.Is(err, ErrNoUsers) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(c.Users); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}
