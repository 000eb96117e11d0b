package clientlimits

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
)

const (
	headerTimeout     = 10 * time.Second // a proxy sends its header before anything else
	maxPendingHeaders = 256              // connections of proxies whose header has not come yet
	headerBufferBytes = 256              // a header of version 1 has 107
)

// acceptIPv4InTCP6 takes an IPv4 address in a line for IPv6, which nginx writes.
var acceptIPv4InTCP6 = sync.OnceFunc(func() { proxyproto.V1AcceptIPv4InTCP6 = true })

// ProxyListener gives connections of trusted proxies the address that their PROXY header names, of
// version 1 or 2. Those of others are passed on as they are.
type ProxyListener struct {
	net.Listener
	trusted        Trusted
	accepted       chan accepted
	closed         chan struct{}
	begin          sync.Once
	end            sync.Once
	pendingHeaders chan struct{}
}

type accepted struct {
	conn net.Conn
	err  error
}

// TrustProxies returns a listener that believes the proxies that are trusted.
func TrustProxies(l net.Listener, trusted Trusted) net.Listener {
	if len(trusted) == 0 {
		return l
	}
	acceptIPv4InTCP6()
	return &ProxyListener{Listener: l, trusted: trusted, accepted: make(chan accepted), closed: make(chan struct{}),
		pendingHeaders: make(chan struct{}, maxPendingHeaders)}
}

func (l *ProxyListener) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.acceptAll() })
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *ProxyListener) Close() error {
	l.end.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// acceptAll takes connections. Each proxy's header is waited for beside the others.
func (l *ProxyListener) acceptAll() {
	for {
		c, err := l.Listener.Accept()
		switch {
		case err != nil:
			if !l.handOut(accepted{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
		case !l.trusted.Has(Host(c.RemoteAddr().String())):
			l.handOut(accepted{conn: c})
		default:
			select {
			case l.pendingHeaders <- struct{}{}:
				go func() {
					defer func() { <-l.pendingHeaders }()
					if proxied, err := readHeader(c); err != nil {
						c.Close()
					} else {
						l.handOut(accepted{conn: proxied})
					}
				}()
			default:
				c.Close()
			}
		}
	}
}

// handOut hands a connection out, unless nobody takes any more.
func (l *ProxyListener) handOut(a accepted) bool {
	select {
	case l.accepted <- a:
		return true
	case <-l.closed:
		if a.conn != nil {
			a.conn.Close()
		}
		return false
	}
}

// ProxyConn is a connection of a trusted proxy.
type ProxyConn struct {
	net.Conn
	reader    *bufio.Reader
	client    net.Addr
	hasHeader bool
}

// readHeader reads the header of a connection, if it begins with one.
func readHeader(c net.Conn) (*ProxyConn, error) {
	if err := c.SetReadDeadline(time.Now().Add(headerTimeout)); err != nil {
		return nil, err
	}
	proxied := &ProxyConn{Conn: c, reader: bufio.NewReaderSize(c, headerBufferBytes), client: c.RemoteAddr()}
	header, err := proxyproto.Read(proxied.reader)
	if err != nil && !errors.Is(err, proxyproto.ErrNoProxyProtocol) {
		return nil, err
	}
	if err == nil {
		proxied.hasHeader = true
		// A proxy also connects for itself, to see whether anybody is there.
		if client, ok := header.SourceAddr.(*net.TCPAddr); ok && header.Command.IsProxy() {
			proxied.client = client
		}
	}
	return proxied, c.SetReadDeadline(time.Time{})
}

func (c *ProxyConn) Read(b []byte) (int, error) { return c.reader.Read(b) }

func (c *ProxyConn) RemoteAddr() net.Addr { return c.client }

// HasHeader says whether the proxy said for whom it connects. Where it did not, its first bytes are
// those of whoever is behind it.
func (c *ProxyConn) HasHeader() bool { return c.hasHeader }
