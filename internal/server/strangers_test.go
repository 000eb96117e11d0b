package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMemoryOfStrangers opens connections over HTTP that never say who they are, and looks
// at what they take.
func TestMemoryOfStrangers(t *testing.T) {
	dir := t.TempDir()
	c := world(t, "")
	c.Certificate, c.Key, c.Connections = filepath.Join(dir, "crt"), filepath.Join(dir, "key"), 5000
	pool := x509.NewCertPool()
	pool.AddCert(issue(t, c.Certificate, c.Key, 1))
	s := opened(t, c)
	hello := append([]byte{22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff}, make([]byte, 40_000)...)
	head := "GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 11_000)
	for name, send := range map[string]func(net.Conn){
		"half a handshake": func(c net.Conn) { c.Write(hello) },
		"half a head": func(c net.Conn) {
			tls.Client(c, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}).Write([]byte(head))
		},
	} {
		const n = 200
		var all []net.Conn
		before := inUse()
		for range n {
			conn, err := net.Dial("tcp", s.HTTPAddr().String())
			must(t, err)
			send(conn)
			all = append(all, conn)
		}
		time.Sleep(200 * time.Millisecond) // for what is on its way
		each := (inUse() - before) / n
		t.Logf("%s: %d bytes a connection", name, each)
		if each > 64<<10 {
			t.Errorf("%s: %d bytes a connection", name, each)
		}
		for _, conn := range all {
			conn.Close()
		}
	}
	// Who is known can send a body that is longer than all that a stranger can.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	for range 2 {
		r, err := http.NewRequest("POST", "https://"+s.HTTPAddr().String()+"/v1/query",
			strings.NewReader(fmt.Sprintf(`{"sql": %q}`, strings.Repeat("x", 200_000))))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+tokenOf(t, c))
		a, err := client.Do(r)
		must(t, err)
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(string(text), "64 KiB") && !strings.Contains(string(text), "65536") {
			t.Errorf("%d %s", a.StatusCode, text)
		}
	}
}

// inUse is what heap and stacks take; the clients of the test count too, which is on the safe side.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
