package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// listeners are a server with ana's password, which clients reach from an address.
type listeners struct {
	t        *testing.T
	server   *Server
	password string
}

func newListeners(t *testing.T) *listeners {
	t.Helper()
	c := world(t, "")
	password := userstest.Password("ana")
	return &listeners{t, opened(t, c), password}
}

// wire logs in over the wire and says what came of it.
func (d *listeners) wire(from, password string) string {
	d.t.Helper()
	config, err := pgconn.ParseConfig(fmt.Sprintf("host=127.0.0.1 port=%d user=ana password=%s dbname=hospital sslmode=disable",
		d.server.WireAddr().(*net.TCPAddr).Port, password))
	if err != nil {
		d.t.Fatal(err)
	}
	config.DialFunc = dialer(from).DialContext
	c, err := pgconn.ConnectConfig(d.t.Context(), config)
	switch {
	case err == nil:
		c.Close(d.t.Context())
		return "in"
	case strings.Contains(err.Error(), "too many failed attempts"):
		return "locked"
	}
	return "denied"
}

func (d *listeners) web(from, password string) string {
	d.t.Helper()
	r, err := http.NewRequest("GET", "http://"+d.server.HTTPAddr().String()+"/v1/me", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.SetBasicAuth("ana", password)
	client := &http.Client{Transport: &http.Transport{DialContext: dialer(from).DialContext, DisableKeepAlives: true}}
	a, err := client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	io.Copy(io.Discard, a.Body)
	a.Body.Close()
	return map[int]string{200: "in", 401: "denied", 429: "locked"}[a.StatusCode]
}

func dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
}

// TestOneLock: who is locked out at one listener is locked out at the other, and every address of
// this machine is one.
func TestOneLock(t *testing.T) {
	for i, name := range []string{"wire", "web"} {
		d := newListeners(t)
		knock := []func(from, password string) string{d.wire, d.web}
		first, other := knock[i], knock[1-i]
		for range 5 {
			if got := first("127.0.0.1", "wrong"); got != "denied" {
				t.Fatalf("%s: %s", name, got)
			}
		}
		for _, from := range []string{"127.0.0.1", "127.0.0.2"} {
			if got := other(from, d.password); got != "locked" {
				t.Errorf("locked at %s, and at the other from %s: %s", name, from, got)
			}
		}
	}
}

// TestNothingFollows: a request that has two ends, or one that another reader may not see, is the
// last of its connection. Who hides a second request behind it gets no answer to that.
func TestNothingFollows(t *testing.T) {
	d := newListeners(t)
	const second = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		head    string
		answers int
	}{
		"a length":                      {"HTTP/1.1\r\nContent-Length: 0\r\n", 2},
		"a length and chunks":           {"HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", 1},
		"chunks and a length":           {"HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n", 1},
		"chunks":                        {"HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", 1},
		"HTTP/1.0, a length and chunks": {"HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", 1},
	} {
		body := "0\r\n\r\n"
		if name == "a length" {
			body = ""
		}
		conn, err := net.Dial("tcp", d.server.HTTPAddr().String())
		must(t, err)
		io.WriteString(conn, "POST /healthz "+c.head+"Host: x\r\n\r\n"+body+second)
		conn.(*net.TCPConn).CloseWrite()
		text, err := io.ReadAll(conn)
		conn.Close()
		if got := strings.Count(string(text), "HTTP/1."); got != c.answers || err != nil {
			t.Errorf("%s: %d answers, %v:\n%s", name, got, err, text)
		}
	}
}
