package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/discreet-dp/discreet/server/internal/narrow"
)

// crowd is a listener that has room for so many connections, and for fewer of one address. Others are closed at once: left waiting they
// would take the places of those who come later.
type crowd struct {
	net.Listener
	most, perAddress int

	mu   sync.Mutex
	all  int
	from map[string]int
}

func newCrowd(l net.Listener, most, perAddress int) *crowd {
	return &crowd{Listener: l, most: most, perAddress: perAddress, from: map[string]int{}}
}

// Accept implements [net.Listener].
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, _, err := net.SplitHostPort(conn.RemoteAddr().String())
		if err == nil && c.enter(address) {
			return &guest{Conn: narrow.New(conn, firstSize), leave: sync.OnceFunc(func() { c.leave(address) })}, nil
		}
		conn.Close()
	}
}

func (c *crowd) enter(address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.most || c.from[address] >= c.perAddress {
		return false
	}
	c.all++
	c.from[address]++
	return true
}

func (c *crowd) leave(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.from[address]--; c.from[address] == 0 {
		delete(c.from, address)
	}
}

// firstSize is what a stranger can send before the head of a first request is complete: a handshake, and the head itself.
const firstSize = headerSize + 16<<10

// widen takes the limit of a connection away when its first request is there, of which the rest is read after a login. It is a hook of http.Server.
func widen(c net.Conn, state http.ConnState) {
	if state != http.StateActive {
		return
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if g, ok := c.(*guest); ok {
		g.Widen()
	}
}

// guest is a connection that is counted until it is closed.
type guest struct {
	*narrow.Conn
	leave func()
}

// Close implements [net.Conn].
func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
