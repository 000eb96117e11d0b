package clientlimits

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// Listener has room for so many connections, and for fewer of one address. Whoever finds no room is
// closed at once: left waiting they would keep out those who come later. From those that
// it accepts at most MaxFirstBytes can be read until they are opened wide.
type Listener struct {
	net.Listener
	Slots         *Slots
	MaxFirstBytes int64
	// Newcomer says who comes from an address; Cut is set here.
	Newcomer func(net.Addr) Newcomer
}

func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who := l.Newcomer(conn.RemoteAddr())
		who.Cut = func() { conn.Close() }
		if slot := l.Slots.Enter(who); slot != nil {
			return &countedConn{Conn: NewConn(conn, l.MaxFirstBytes), slot: slot}, nil
		}
		conn.Close()
	}
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	*Conn
	slot *Slot
}

func (c *countedConn) Close() error {
	defer c.slot.Leave()
	return c.Conn.Close()
}

type slotKey struct{}

// WithSlot notes the slot of a connection that a [Listener] accepted.
func WithSlot(ctx context.Context, c net.Conn) context.Context {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = over.NetConn() // below TLS
	}
	if one, ok := c.(*countedConn); ok {
		return context.WithValue(ctx, slotKey{}, one.slot)
	}
	return ctx
}

// HoldSlot gives the slot that a context notes to somebody who is logged in, until it is released.
func HoldSlot(ctx context.Context) (release func()) {
	if slot, ok := ctx.Value(slotKey{}).(*Slot); ok && slot.Hold() {
		return sync.OnceFunc(slot.Release)
	}
	return func() {}
}

var errTooManyBytes = errors.New("too much was sent before the handshake or the first request was complete")

// Conn is a connection from which at most so many bytes can be read before it is opened wide. A
// handshake of TLS may announce 64 KiB before anybody knows who sends it, and Go keeps what came:
// with this, before a login a connection costs what we say and not what the peer says.
type Conn struct {
	net.Conn
	left atomic.Int64 // below zero where there is no limit any more
}

func NewConn(c net.Conn, limit int64) *Conn {
	n := &Conn{Conn: c}
	n.left.Store(limit)
	return n
}

func (c *Conn) Widen() { c.left.Store(-1) }

func (c *Conn) Read(b []byte) (int, error) {
	left := c.left.Load()
	switch {
	case left < 0:
		return c.Conn.Read(b)
	case left == 0:
		return 0, errTooManyBytes
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), left)])
	c.left.CompareAndSwap(left, left-int64(n)) // unless it was opened wide meanwhile
	return n, err
}
