package pgwire

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// elsewhere is a listener whose connections come from wherever the one who dials says.
type elsewhere struct {
	net.Listener
	mu   sync.Mutex
	from map[string]string // by the address of this machine that they really have
}

func (l *elsewhere) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	address, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(l.from[c.RemoteAddr().String()], "7"))
	return &moved{c, address}, err
}

type moved struct {
	net.Conn
	address net.Addr
}

func (c *moved) RemoteAddr() net.Addr { return c.address }

// dial connects from an address.
func (l *elsewhere) dial(t testing.TB, address string) net.Conn {
	t.Helper()
	l.mu.Lock() // so that it is known when it is accepted
	defer l.mu.Unlock()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l.from[c.LocalAddr().String()] = address
	return c
}

// login connects from an address and logs in.
func (l *elsewhere) login(t testing.TB, p *place, user, address string) (*pgx.Conn, error) {
	c := p.config(t, user, "hospital")
	c.DialFunc = func(context.Context, string, string) (net.Conn, error) { return l.dial(t, address), nil }
	return pgx.ConnectConfig(background, c)
}

// Strangers who open connections and say nothing keep nobody out: neither from one network of IPv6
// with its many addresses, nor from many networks.
func TestStrangersTakeNoPlaces(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &elsewhere{Listener: inner, from: map[string]string{}}
	p := open(t, func(o *Options) { o.Connections, o.PerAddress, o.StartupDeadline = 20, 4, 5*time.Minute })
	go p.Serve(l)
	known, err := l.login(t, p, "ana", "198.51.100.1")
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close(background)
	var all []net.Conn
	for _, network := range []string{"2001:db8::%x", "2001:db8:%x::1"} {
		for i := range 80 {
			c := l.dial(t, fmt.Sprintf(network, i+1))
			defer c.Close()
			all = append(all, c)
		}
		for _, address := range []string{"198.51.100.1", "198.51.100.2"} { // known, and not
			conn, err := l.login(t, p, "ben", address)
			if err != nil {
				t.Fatalf("%s, from %s: %v", network, address, err)
			}
			if _, err := conn.Exec(background, counting); err != nil {
				t.Error(err)
			}
			conn.Close(background)
		}
		if n := p.Connections(); n > 20+reserve {
			t.Errorf("%d connections", n)
		}
	}
	if _, err := known.Exec(background, counting); err != nil {
		t.Error(err)
	}
	all[0].SetDeadline(time.Now().Add(10 * time.Second))
	if said, err := io.ReadAll(all[0]); err != nil || !strings.Contains(string(said), "53300") {
		t.Errorf("who had to make room was told %q, %v", said, err)
	}
}

// Bytes of the PROXY protocol are an error from everybody who is not a proxy that is trusted.
func TestNoProxyHeader(t *testing.T) {
	p := open(t, nil)
	for _, header := range []string{"PROXY TCP4 198.51.100.1 198.51.100.2 7 8\r\n", "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c"} {
		c := p.dial(t)
		c.Write([]byte(header))
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if said, _ := io.ReadAll(c); !strings.Contains(string(said), "PROXY protocol") {
			t.Errorf("%q", said)
		}
		c.Close()
	}
}
