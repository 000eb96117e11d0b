package httpapi

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// TestBrokenConnections: garbage, half a request and half a body harm nobody, and cost nothing.
func TestBrokenConnections(t *testing.T) {
	w := newWorld(t)
	address := strings.TrimPrefix(w.server.URL, "http://")
	head := "POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.tokens["ana"] + "\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"TLS":                  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"PostgreSQL":           "\x00\x00\x00\x08\x04\xd2\x16\x2f",
		"zeros":                strings.Repeat("\x00", 4096),
		"half a line":          "GET /v1/m",
		"half a head":          head,
		"half a body":          head + "Content-Length: 100\r\n\r\n{\"sql\":",
		"a broken chunk":       head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"two lengths":          head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
		"a negative length":    head + "Content-Length: -1\r\n\r\n",
		"a length and no body": head + "Content-Length: 99999999999\r\n\r\n",
		"another host":         "GET http://elsewhere.example/v1/me HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
		"a tunnel":             "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n",
		"a star":               "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(c)
		c.Close()
		if first, _, _ := strings.Cut(string(answer), "\r\n"); strings.Contains(first, " 200 ") && name != "a star" {
			t.Errorf("%s: %s", name, answer)
		}
		w.want(w.call("GET", "/v1/me", "ana", ""), 200)
	}
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); number(got, "decisions") != "0" {
		t.Error(got.body)
	}
	if text := fmt.Sprint(w.log); strings.Contains(text, "panic") {
		t.Error(text)
	}
}
