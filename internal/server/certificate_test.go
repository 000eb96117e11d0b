package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A renewed certificate is used, one that is broken is not, and what is old is refused.
func TestCertificate(t *testing.T) {
	c := world(t, "")
	dir := filepath.Dir(c.Policy)
	c.Certificate, c.Key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	first := issue(t, c.Certificate, c.Key, 1)
	c.HTTP = ":0" // which is allowed with TLS
	s := opened(t, c)
	_, port, _ := strings.Cut(s.HTTPAddr().String(), "]:")
	address := "127.0.0.1:" + port

	serial := func(trust *x509.Certificate, most uint16) (int64, error) {
		pool := x509.NewCertPool()
		pool.AddCert(trust)
		conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, MaxVersion: most, MinVersion: tls.VersionTLS10})
		if err != nil {
			return 0, err
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
	}
	if n, err := serial(first, 0); n != 1 || err != nil || !s.Encrypted() {
		t.Errorf("got %d, %v", n, err)
	}
	if n, err := serial(first, tls.VersionTLS12); n != 1 || err != nil {
		t.Errorf("with TLS 1.2: %d, %v", n, err)
	}
	if _, err := serial(first, tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 is spoken")
	}

	second := issue(t, c.Certificate, c.Key, 2)
	look := func() { // as if a second had passed
		s.certificate.mu.Lock()
		defer s.certificate.mu.Unlock()
		s.certificate.checked = time.Time{}
	}
	look()
	if n, err := serial(second, 0); n != 2 || err != nil {
		t.Errorf("renewed: %d, %v", n, err)
	}
	must(t, os.WriteFile(c.Certificate, []byte("half of a certif"), 0o600))
	look()
	if n, err := serial(second, 0); n != 2 || err != nil || !strings.Contains(log.String(), "the server keeps the last one") {
		t.Errorf("broken: %d, %v, %s", n, err, &log)
	}
	if err := s.ReloadCertificate(); err == nil {
		t.Error("a broken one was loaded")
	}
	third := issue(t, c.Certificate, c.Key, 3)
	if err := s.ReloadCertificate(); err != nil {
		t.Error(err)
	}
	if n, err := serial(third, 0); n != 3 || err != nil {
		t.Errorf("reloaded: %d, %v", n, err)
	}
	if r, err := http.Get("http://" + address + "/healthz"); err == nil && r.StatusCode == 200 {
		t.Error("plaintext is answered")
	}
}
