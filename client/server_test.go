package client

import (
	"context"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// A certificate that the machine does not know counts where it is named.
func TestTrust(t *testing.T) {
	at := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`"in"`)) }))
	defer at.Close()
	s, err := New(at.URL, "t")
	must(t, err)
	var said string
	if err := s.Call(context.Background(), http.MethodGet, "/", nil, &said); err == nil {
		t.Error("a stranger's certificate counts")
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("none"), 0o600); err != nil || s.Trust(file) == nil || s.Trust(file+".not") == nil {
		t.Errorf("files without certificates are taken, or %v", err)
	}
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: at.Certificate().Raw}), 0o600))
	must(t, s.Trust(file))
	if err := s.Call(context.Background(), http.MethodGet, "/", nil, &said); err != nil || said != "in" {
		t.Errorf("%q, %v", said, err)
	}
}

// unix: is a socket on this machine.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err) // there are none, or the folder's name is too long
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`"` + r.Header.Get("Authorization") + r.URL.Path + `"`))
	}))
	defer listener.Close()
	s, err := New("unix:"+path, "t")
	must(t, err)
	if s.Trust(path) == nil {
		t.Error("a certificate counts for a socket")
	}
	var said string
	if err := s.Call(context.Background(), http.MethodGet, "/v1/me", nil, &said); err != nil || said != "Bearer t/v1/me" {
		t.Errorf("%q, %v", said, err)
	}
}
