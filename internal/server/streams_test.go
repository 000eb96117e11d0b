package server

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// unread opens a connection of HTTP/2 that sends so many requests and has no room for an answer.
func (r *reading) unread(t *testing.T, requests int, head map[string]string) net.Conn {
	t.Helper()
	conn, err := tls.Dial("tcp", r.HTTPAddr().String(), &tls.Config{RootCAs: r.pool, NextProtos: []string{"h2"}})
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	frame := func(kind, flags byte, stream uint32, payload []byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
		return append(binary.BigEndian.AppendUint32(append(b, flags), stream), payload...)
	}
	var fields []byte
	add := func(text string) { // RFC 7541, 5.1 and 5.2
		if n := len(text); n < 127 {
			fields = append(fields, byte(n))
		} else {
			fields = binary.AppendUvarint(append(fields, 127), uint64(n-127))
		}
		fields = append(fields, text...)
	}
	for _, one := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "x"}, {":path", head[":path"]},
		{"x", head["x"]}} {
		fields = append(fields, 0)
		add(one[0])
		add(one[1])
	}
	sent := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, []byte{0, 4, 0, 0, 0, 0})...) // a window of nothing
	for i := range requests {
		sent = append(sent, frame(1, 5, uint32(2*i+1), fields)...)
	}
	if _, err := conn.Write(sent); err != nil {
		t.Error(err)
	}
	go io.Copy(io.Discard, conn) //nolint:errcheck // it ends with the connection
	return conn
}

// TestStreamsOfStrangers sends a hundred requests on each of many connections, without a name and
// without reading an answer: there is room for some of them, and whoever comes later finds it.
func TestStreamsOfStrangers(t *testing.T) {
	const connections = 10 // with 100 requests each: twice as many as may be
	c := world(t, "")
	c.Connections = 250
	r := newReadingOf(t, c, time.Minute)
	for _, path := range []string{"/", "/healthz", "/v1/nothing"} {
		before := inUse()
		var all []net.Conn
		for range connections {
			all = append(all, r.unread(t, 100, map[string]string{":path": path, "x": strings.Repeat("x", 7000)}))
		}
		until(t, "as many requests as may be", func() bool { return r.requests.Count() == r.requests.Most })
		var each int64
		for range 20 { // a busy machine takes longer for what is on its way
			time.Sleep(200 * time.Millisecond)
			if each = (inUse() - before) / int64(connections+r.requests.Most); each <= 64<<10 {
				break
			}
		}
		t.Logf("%s: %d bytes for each of the connections and of the requests that there is room for", path, each)
		if n := r.requests.Count(); n > r.requests.Most || each > 64<<10 {
			t.Errorf("%s: %d requests, %d bytes each", path, n, each)
		}
		for _, two := range []bool{true, false} {
			if a, err := r.client(t, two).Get(r.url + "/healthz"); err != nil || a.StatusCode != http.StatusOK {
				t.Errorf("%s: a stranger who reads: %v %v", path, a, err)
			}
			if a := r.ask(t, r.client(t, two), "SELECT COUNT(*) FROM patients", ""); a.StatusCode != http.StatusOK {
				t.Errorf("%s: a user: %d", path, a.StatusCode)
			}
		}
		for _, conn := range all {
			conn.Close()
		}
		until(t, "nobody", func() bool { return r.requests.Count() == 0 })
	}
}
