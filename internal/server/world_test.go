package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// world is a folder with a policy, data and users. Answers leave at once, unless more says
// otherwise.
func world(t testing.TB, more string) Config {
	t.Helper()
	dir := t.TempDir()
	must(t, hospital.New(100, 1).Write(filepath.Join(dir, "data")))
	c := Config{
		Policy: filepath.Join(dir, "policy.yaml"), Users: filepath.Join(dir, "policy.users"),
		Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Version: "test",
	}
	if err := os.WriteFile(c.Policy, []byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 1, per_query: {default: 0.1}}")+
		released(more)), 0o600); err != nil {
		t.Fatal(err)
	}
	userstest.Write(t, c.Users, map[string]users.Role{"ana": users.Analyst, "owner": users.Owner}, "")
	return c
}

// released adds to the rest of a policy that answers leave at once, which most tests want.
func released(more string) string {
	if strings.Contains(more, "release:") {
		return more
	}
	return "    release: immediate\n" + more
}

func tokenOf(t testing.TB, c Config) string {
	t.Helper()
	store, err := users.Open(c.Users)
	must(t, err)
	defer store.Close()
	token, _, err := store.NewToken(t.Context(), "ana", "", time.Time{})
	must(t, err)
	return token
}

// addAna lets ana in, with a password and a token.
func addAna(t testing.TB, c Config) (password, token string) {
	t.Helper()
	password = userstest.Write(t, c.Users, map[string]users.Role{"ana": users.Analyst}, "")["ana"]
	store, err := users.Open(c.Users)
	must(t, err)
	defer store.Close()
	token, _, err = store.NewToken(t.Context(), "ana", "", time.Time{})
	must(t, err)
	return password, token
}

// opened opens a server, serves, and ends it with the test.
func opened(t testing.TB, c Config) *Server {
	t.Helper()
	s, err := Open(t.Context(), c)
	must(t, err)
	serve(t, s)
	return s
}

// serve serves, and ends it with the test.
func serve(t testing.TB, s *Server) {
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// issue writes a certificate for 127.0.0.1 that signs itself, and its key, and returns the
// certificate.
func issue(t testing.TB, certificate, key string, serial int64) *x509.Certificate {
	t.Helper()
	der, pkcs8 := selfSigned(t, &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "discreet"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		must(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	return parsed
}

// selfSigned makes a certificate that signs itself, and its key.
func selfSigned(t testing.TB, template *x509.Certificate) (der, pkcs8 []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	template.IsCA, template.BasicConstraintsValid = true, true
	der, err = x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	pkcs8, err = x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return der, pkcs8
}

// must ends a test that cannot go on.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
