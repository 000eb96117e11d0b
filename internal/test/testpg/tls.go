package testpg

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/ports"
)

// Authority signs certificates of servers.
type Authority struct {
	// File has its own certificate, which is what sslrootcert names.
	File string

	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// NewAuthority makes one that nobody knows yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{File: filepath.Join(t.TempDir(), "authority.pem"), key: newKey(t)}
	a.certificate = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	writePEM(t, a.File, "CERTIFICATE", a.sign(t, a.certificate, a.key))
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), nil) // the library draws it itself
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign signs a certificate for who has this key.
func (a *Authority) sign(t testing.TB, c *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	signed, err := x509.CreateCertificate(nil, c, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func writePEM(t testing.TB, file, kind string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := giveToServerUser(file); err != nil {
		t.Fatal(err)
	}
}

// Listen restarts the server so that it also accepts connections to a port of 127.0.0.1, with
// passwords, and over TLS alone: with a certificate of the authority for a host of this name, which
// is valid until then. Without an authority it has no TLS.
func (s *Server) Listen(t testing.TB, a *Authority, host string, until time.Time) {
	t.Helper()
	kind, more := "host", []string{"ssl=off"}
	if a != nil {
		own := newKey(t)
		signed := a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host},
			DNSNames: []string{host}, NotBefore: until.Add(-24 * time.Hour), NotAfter: until}, own)
		key, err := x509.MarshalPKCS8PrivateKey(own)
		if err != nil {
			t.Fatal(err)
		}
		kind, more = "hostssl", []string{"ssl=on", "ssl_cert_file=" + s.dir + "/server.crt", "ssl_key_file=" + s.dir + "/server.key"}
		writePEM(t, s.dir+"/server.crt", "CERTIFICATE", signed)
		writePEM(t, s.dir+"/server.key", "PRIVATE KEY", key)
	}
	rules := "local all all trust\n" + kind + " all all 127.0.0.1/32 scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	if s.port == 0 {
		s.port, s.plain = ports.Free(t), s.settings
	}
	s.settings = append(slices.Clone(s.plain), append(more, "listen_addresses=127.0.0.1", "port="+s.Port())...)
	s.Restart(t)
}

// Port is where it listens.
func (s *Server) Port() string {
	if s.port == 0 {
		return "5432"
	}
	return strconv.Itoa(s.port)
}
