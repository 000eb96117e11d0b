package connlimit

import (
	"net"
	"sync"
)

// Listener has room for so many connections, and for fewer of one address. Others are closed at
// once: left waiting they would take the places of those who come later. From those that it accepts
// at most First bytes can be read until they are opened wide.
type Listener struct {
	net.Listener
	Most, PerAddress int
	First            int64

	count Counter
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, _, err := net.SplitHostPort(conn.RemoteAddr().String())
		if err != nil {
			address = conn.RemoteAddr().String() // a socket on this machine, which has no port
		}
		if l.count.Enter(address, l.Most, l.PerAddress) {
			return &counted{Conn: NewConn(conn, l.First), leave: sync.OnceFunc(func() { l.count.Leave(address) })}, nil
		}
		conn.Close()
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	*Conn
	leave func()
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
