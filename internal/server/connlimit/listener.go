package connlimit

import (
	"context"
	"net"
	"sync"
)

// Listener has room for so many connections, and for fewer of one address. Whoever finds no room is
// closed at once: left waiting they would take the places of those who come later. From those that
// it accepts at most First bytes can be read until they are opened wide.
type Listener struct {
	net.Listener
	Places *Places
	First  int64
	// Newcomer says who comes from an address; Cut is set here.
	Newcomer func(net.Addr) Newcomer
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who := l.Newcomer(conn.RemoteAddr())
		who.Cut = func() { conn.Close() }
		if place := l.Places.Enter(who); place != nil {
			return &counted{Conn: NewConn(conn, l.First), place: place}, nil
		}
		conn.Close()
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	*Conn
	place *Place
	once  sync.Once
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	defer c.once.Do(c.place.Leave)
	return c.Conn.Close()
}

type placeKey struct{}

// With notes the place of a connection that a [Listener] accepted.
func With(ctx context.Context, c net.Conn) context.Context {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = over.NetConn() // below TLS
	}
	if one, ok := c.(*counted); ok {
		return context.WithValue(ctx, placeKey{}, one.place)
	}
	return ctx
}

// Hold gives the place that a context notes to somebody who is logged in, until it is released.
func Hold(ctx context.Context) (release func()) {
	if place, ok := ctx.Value(placeKey{}).(*Place); ok && place.Hold() {
		return sync.OnceFunc(place.Release)
	}
	return func() {}
}
