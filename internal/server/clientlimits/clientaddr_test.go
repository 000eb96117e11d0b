package clientlimits

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"
)

func TestBlock(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::%eth0": "2001:db8:1:2::/64", "127.8.9.1": "loopback", "::1": "loopback", "": "", "@": "@",
	} {
		if got := Block(address); got != want {
			t.Errorf("%s is counted as %s", address, got)
		}
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{"192.0.2.1": "192.0.2.0/24", "2001:db8:1:2:3::4": "2001:db8:1::/48", "::1": "loopback",
		"": "", "@": "@"} {
		if got := Network(Block(address)); got != want {
			t.Errorf("%s is of %s", address, got)
		}
	}
}

func trusted(t testing.TB, list string) Trusted {
	t.Helper()
	all, err := ParseTrusted(list)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestParseTrusted(t *testing.T) {
	all := trusted(t, "10.0.0.5, 10.1.0.0/24,2001:db8::/32")
	for address, want := range map[string]bool{"10.0.0.5": true, "10.0.0.6": false, "::ffff:10.1.0.9": true,
		"2001:db8:9::1": true, "": false} {
		if all.Has(address) != want {
			t.Errorf("%s is trusted: %v", address, !want)
		}
	}
	if len(trusted(t, " ")) != 0 {
		t.Error("nobody was named")
	}
	for _, bad := range []string{"proxy", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.5,", "10.0.0.5 10.0.0.6", "::ffff:10.0.0.0/120"} {
		if _, err := ParseTrusted(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func proxiedRequest(peer string, headers ...string) *http.Request {
	r := &http.Request{RemoteAddr: peer, Header: http.Header{}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func TestOfRequest(t *testing.T) {
	all := trusted(t, "10.0.0.0/24")
	for _, c := range []struct {
		want, peer string
		headers    []string
	}{
		{"10.0.0.1", "10.0.0.1:9", nil},
		{"192.0.2.9", "192.0.2.9:1", []string{"X-Forwarded-For: 198.51.100.1", "Forwarded: for=198.51.100.1"}}, // not trusted
		{"198.51.100.1", "10.0.0.1:9", []string{"X-Forwarded-For: 198.51.100.1"}},
		{"198.51.100.1", "10.0.0.1:9", []string{"X-Forwarded-For: 203.0.113.5, 198.51.100.1"}}, // the first is the client's word
		{"198.51.100.1", "10.0.0.1:9", []string{"X-Forwarded-For: 203.0.113.5", "X-Forwarded-For: 198.51.100.1 , 10.0.0.7"}},
		{"10.0.0.8", "10.0.0.1:9", []string{"X-Forwarded-For: 10.0.0.8, 10.0.0.7"}},
		{"10.0.0.7", "10.0.0.1:9", []string{"X-Forwarded-For: 203.0.113.5, unknown, 10.0.0.7"}},
		{"10.0.0.1", "10.0.0.1:9", []string{"X-Forwarded-For: "}},
		{"198.51.100.1", "10.0.0.1:9", []string{"X-Forwarded-For: 198.51.100.1:4711"}},
		{"2001:db8::1", "10.0.0.1:9", []string{"X-Forwarded-For: 2001:db8::1"}},
		{"2001:db8::1", "10.0.0.1:9", []string{"Forwarded: for=1.2.3.4, For=\"[2001:db8::1]:4711\";proto=https;by=10.0.0.1"}},
		{"198.51.100.1", "10.0.0.1:9", []string{"Forwarded: for=198.51.100.1;host=\"a,b;for=6.6.6.6\", for=10.0.0.7"}},
		{"198.51.100.1", "10.0.0.1:9", []string{"Forwarded: for=198.51.100.1", "X-Forwarded-For: 6.6.6.6, 198.51.100.1"}}, // they agree
		{"10.0.0.1", "10.0.0.1:9", []string{"Forwarded: for=_hidden"}},
		{"", "10.0.0.1:9", []string{"Forwarded: for=6.6.6.6", "X-Forwarded-For: 198.51.100.1"}},
		{"", "10.0.0.1:9", []string{"Forwarded: for=\"6.6.6.6, for=198.51.100.1"}},
		{"", "10.0.0.1:9", []string{"Forwarded: for=6.6.6.6;for=198.51.100.1"}},
		{"", "10.0.0.1:9", []string{"Forwarded: what"}},
	} {
		got, err := all.OfRequest(proxiedRequest(c.peer, c.headers...))
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%v: %s, %v", c.headers, got, err)
		}
	}
}

// Whatever a client writes, the proxy's word is found behind it, or nothing is.
func FuzzForwarded(f *testing.F) {
	for _, s := range []string{"", "for=1.2.3.4", `for="`, `for="\`, `a=b;for="x, y"`, `,,;`, `for=1.2.3.4;by="`, "10.0.0.3"} {
		f.Add(s, s)
	}
	all := trusted(f, "10.0.0.0/24")
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, proxy := range []string{"for=198.51.100.1", `proto=http;for="198.51.100.1:80"`} {
			for _, r := range []*http.Request{
				proxiedRequest("10.0.0.1:9", "Forwarded: "+first+","+second+", "+proxy),
				proxiedRequest("10.0.0.1:9", "Forwarded: "+first, "Forwarded: "+second, "Forwarded: "+proxy),
			} {
				if got, err := all.OfRequest(r); err == nil && got != "198.51.100.1" {
					t.Errorf("%v: %s", r.Header, got)
				}
			}
		}
		for _, r := range []*http.Request{
			proxiedRequest("10.0.0.1:9", "X-Forwarded-For: "+first+", 198.51.100.1"),
			proxiedRequest("10.0.0.1:9", "X-Forwarded-For: "+first, "X-Forwarded-For: "+second, "X-Forwarded-For: 198.51.100.1"),
		} {
			if got, err := all.OfRequest(r); err != nil || got != "198.51.100.1" {
				t.Errorf("%v: %s, %v", r.Header, got, err)
			}
		}
	})
}

// listen opens a listener that trusts this machine.
func listen(t *testing.T, trust string) (net.Listener, chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxied := TrustProxies(l, trusted(t, trust))
	t.Cleanup(func() { proxied.Close() })
	out := make(chan net.Conn, 10)
	go func() {
		for {
			c, err := proxied.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				close(out)
				return
			}
			out <- c
		}
	}()
	return proxied, out
}

func header(version byte, source string) string {
	h := proxyproto.HeaderProxyFromAddrs(version, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(source)),
		net.TCPAddrFromAddrPort(netip.MustParseAddrPort(source)))
	b, _ := h.Format()
	return string(b)
}

func TestProxyListener(t *testing.T) {
	l, conns := listen(t, "127.0.0.1")
	silent, err := net.Dial("tcp", l.Addr().String()) // nobody waits for it
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, c := range []struct {
		sent, client, rest string
		hasHeader          bool
	}{
		{header(1, "198.51.100.1:7") + "hello", "198.51.100.1:7", "hello", true},
		{header(2, "[2001:db8::1]:7") + "hello", "[2001:db8::1]:7", "hello", true},
		{header(2, "198.51.100.1:7") + header(1, "6.6.6.6:6"), "198.51.100.1:7", header(1, "6.6.6.6:6"), true}, // one counts
		{"PROXY TCP6 ::ffff:198.51.100.1 192.0.2.1 7 8\r\nhello", "198.51.100.1:7", "hello", true},
		{"PROXY UNKNOWN\r\nhello", "", "hello", true},
		{"POST / HTTP/1.1\r\n", "", "POST / HTTP/1.1\r\n", false},
		{"\x00\x00\x00\x08", "", "\x00\x00\x00\x08", false},
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(c.sent))
		got := <-conns
		if c.client == "" {
			c.client = conn.LocalAddr().String()
		}
		if a := got.RemoteAddr().String(); a != c.client || got.(*ProxyConn).HasHeader() != c.hasHeader {
			t.Errorf("%q: comes from %s", c.sent, a)
		}
		b := make([]byte, len(c.rest))
		got.SetDeadline(time.Now().Add(10 * time.Second))
		if n, err := got.Read(b); string(b[:n]) != c.rest || err != nil {
			t.Errorf("%q: the rest is %q, %v", c.sent, b[:n], err)
		}
		conn.Close()
		got.Close()
	}
	bad, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	bad.Write([]byte("PROXY TCP4 nowhere\r\n"))
	if n, err := bad.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("a broken header was taken")
	}
}

// From those who are not trusted the bytes of a header are bytes as any.
func TestOthersAreNotBelieved(t *testing.T) {
	l, conns := listen(t, "192.0.2.1")
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte("PROXY"))
	got := <-conns
	defer got.Close()
	b := make([]byte, 5)
	if _, err := got.Read(b); string(b) != "PROXY" || err != nil || got.RemoteAddr().String() != conn.LocalAddr().String() {
		t.Errorf("%q from %s", b, got.RemoteAddr())
	}
}

// A header in whatever bytes is read or refused, and what follows it is what was sent.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(header(1, "198.51.100.1:7")))
	f.Add([]byte(header(2, "[2001:db8::1]:7")))
	f.Add([]byte("PROXY UNKNOWN x\r\n"))
	f.Add([]byte("\r\n\r\n\x00\r\nQUIT\n\x20\x11\x00\x0c"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() {
			theirs.Write(append(sent, "\nend"...))
			theirs.Close()
		}()
		c, err := readHeader(ours)
		if err == nil && c.RemoteAddr() == nil {
			t.Error("it comes from nowhere")
		}
	})
}
