package connlimit

import (
	"errors"
	"net"
	"sync/atomic"
)

var errTooMuch = errors.New("too much was sent before the handshake or the first request was complete")

// Conn is a connection from which at most so many bytes can be read before it is opened wide. A
// handshake of TLS may announce 64 KiB before anybody knows who sends it, and Go keeps what came:
// with this, before a login a connection costs what we say and not what the peer says.
type Conn struct {
	net.Conn
	left atomic.Int64 // below zero where there is no limit any more
}

// NewConn returns a connection with a limit.
func NewConn(c net.Conn, limit int64) *Conn {
	n := &Conn{Conn: c}
	n.left.Store(limit)
	return n
}

// Widen takes the limit away.
func (c *Conn) Widen() { c.left.Store(-1) }

// Read implements [net.Conn].
func (c *Conn) Read(b []byte) (int, error) {
	left := c.left.Load()
	switch {
	case left < 0:
		return c.Conn.Read(b)
	case left == 0:
		return 0, errTooMuch
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), left)])
	c.left.CompareAndSwap(left, left-int64(n)) // unless it was opened wide meanwhile
	return n, err
}
