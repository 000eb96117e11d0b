package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/discreet-dp/discreet/internal/server/connlimit"
)

// hall is a listener that has room for so many connections, and for fewer of one address. Others are closed at once: left waiting they
// would take the places of those who come later.
type hall struct {
	net.Listener
	most, perAddress int
	crowd            connlimit.Counter
}

// Accept implements [net.Listener].
func (h *hall) Accept() (net.Conn, error) {
	for {
		conn, err := h.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, _, err := net.SplitHostPort(conn.RemoteAddr().String())
		if err == nil && h.crowd.Enter(address, h.most, h.perAddress) {
			return &guest{Conn: connlimit.NewConn(conn, firstSize), leave: sync.OnceFunc(func() { h.crowd.Leave(address) })}, nil
		}
		conn.Close()
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
	*connlimit.Conn
	leave func()
}

// Close implements [net.Conn].
func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
