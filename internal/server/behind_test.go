package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// proxyHeader is what a proxy writes first, in version 1 of the PROXY protocol.
func proxyHeader(client string) string {
	return fmt.Sprintf("PROXY TCP4 %s 192.0.2.1 4711 5432\r\n", client)
}

// proxied connects to an address as a proxy does, for a client.
func proxied(address, client string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil && client != "" {
			_, err = io.WriteString(c, proxyHeader(client))
		}
		return c, err
	}
}

// wireFor logs in over the wire for a client, by TLS behind the header.
func (s *stage) wireFor(t *testing.T, client, password string) string {
	t.Helper()
	c, err := pgconn.ParseConfig("postgres://ana@db.example/hospital?sslmode=require")
	must(t, err)
	c.Password, c.DialFunc = password, proxied(s.WireAddr().String(), client)
	c.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
	c.TLSConfig = &tls.Config{RootCAs: s.roots, ServerName: "db.example"}
	conn, err := pgconn.ConnectConfig(t.Context(), c)
	if err != nil {
		return err.Error()
	}
	conn.Close(t.Context())
	return "in"
}

// webFor logs in over HTTP for a client, whom the proxy names by the PROXY protocol or in a header.
func (s *stage) webFor(t *testing.T, client, password, name, value string) int {
	t.Helper()
	transport := &http.Transport{DialContext: proxied(s.HTTPAddr().String(), client), TLSClientConfig: &tls.Config{RootCAs: s.roots}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequest("GET", "https://db.example/v1/me", nil)
	must(t, err)
	r.SetBasicAuth("ana", password)
	if name != "" {
		r.Header.Set(name, value)
	}
	a, err := transport.RoundTrip(r)
	must(t, err)
	a.Body.Close()
	return a.StatusCode
}

// Strangers who guess at a name through a proxy lock themselves out, and not whoever has that name.
func TestGuessesThroughAProxy(t *testing.T) {
	s := newStage(t, "127.0.0.0/8")
	for range 6 {
		s.wireFor(t, "203.0.113.1", "wrong")
	}
	if said := s.wireFor(t, "203.0.113.1", s.password); !strings.Contains(said, "too many failed attempts") {
		t.Error(said)
	}
	if said := s.wireFor(t, "198.51.100.1", s.password); said != "in" {
		t.Error(said)
	}
	for i, h := range [][3]string{{"203.0.113.1"}, {"", "X-Forwarded-For", "198.51.100.1, 203.0.113.1"},
		{"", "Forwarded", "for=203.0.113.1"}} {
		if status := s.webFor(t, h[0], s.password, h[1], h[2]); status != http.StatusTooManyRequests {
			t.Errorf("%d: the stranger gets %d", i, status)
		}
	}
	for i, h := range [][3]string{{"198.51.100.1", "X-Forwarded-For", "203.0.113.1"}, {"", "X-Forwarded-For", "203.0.113.1, 198.51.100.1"},
		{"", "Forwarded", "for=203.0.113.1, for=198.51.100.1"}} {
		if status := s.webFor(t, h[0], s.password, h[1], h[2]); status != http.StatusOK {
			t.Errorf("%d: who has the name gets %d", i, status)
		}
	}
	if status := s.webFor(t, "", s.password, "Forwarded", `for="203.0.113.1, for=198.51.100.1`); status != http.StatusBadRequest {
		t.Errorf("half a quotation gets %d", status)
	}
	if said := s.wireFor(t, "", s.password); !strings.Contains(said, "must begin with a PROXY protocol header") {
		t.Error(said)
	}
}

// Whoever is not listed is not believed.
func TestOthersSayNothing(t *testing.T) {
	s := newStage(t, "192.0.2.7")
	for range 6 {
		s.webFor(t, "", "wrong", "X-Forwarded-For", "203.0.113.1")
	}
	if status := s.webFor(t, "", s.password, "X-Forwarded-For", "198.51.100.1"); status != http.StatusTooManyRequests {
		t.Errorf("a header of anybody was believed: %d", status)
	}
	if said := s.wireFor(t, "198.51.100.1", s.password); said == "in" {
		t.Error("a header of the PROXY protocol of anybody was taken")
	}
	c, err := net.Dial("tcp", s.HTTPAddr().String())
	must(t, err)
	defer c.Close()
	io.WriteString(c, proxyHeader("198.51.100.1")+"GET /healthz HTTP/1.1\r\nHost: db.example\r\n\r\n")
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if said, _ := io.ReadAll(c); strings.Contains(string(said), "200 OK") {
		t.Errorf("%q", said)
	}
}

// networks is a listener for HTTP at which each connection comes from another address.
type networks struct {
	net.Listener
	format string
	next   int
}

func (l *networks) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	l.next++
	return &elsewhere{c, &net.TCPAddr{IP: net.ParseIP(fmt.Sprintf(l.format, l.next)), Port: 7}}, err
}

type elsewhere struct {
	net.Conn
	address net.Addr
}

func (c *elsewhere) RemoteAddr() net.Addr { return c.address }

// Strangers who open connections to HTTP and say nothing keep nobody out.
func TestStrangersLeaveTheListenerOpen(t *testing.T) {
	for _, format := range []string{"2001:db8::%x", "2001:db8:%x::1"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		c := world(t, "")
		c.HTTP, c.Web, c.Connections = "", &networks{Listener: l, format: format}, 20
		token := tokenOf(t, c)
		s := opened(t, c)
		for range 60 {
			conn, err := net.Dial("tcp", s.HTTPAddr().String())
			must(t, err)
			defer conn.Close()
		}
		r, err := http.NewRequest("GET", "http://"+s.HTTPAddr().String()+"/v1/me", nil)
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		transport := &http.Transport{}
		a, err := transport.RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if a.Body.Close(); a.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", format, a.StatusCode)
		}
		transport.CloseIdleConnections()
	}
}
