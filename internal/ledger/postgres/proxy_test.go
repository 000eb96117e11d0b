package postgres

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// proxy stands between ledgers and a PostgreSQL server, and cuts connections.
type proxy struct {
	listener net.Listener
	dir, to  string

	mu    sync.Mutex
	conns map[net.Conn]bool
	down  bool
	// swallow cuts the next connection on which the server confirms a COMMIT; with last nobody gets
	// through afterwards.
	swallow   bool
	last      bool
	swallowed int
}

// newProxy returns a proxy to the server of an address, and the same address by way of it.
func newProxy(t testing.TB, address string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(address)
	noError(t, err)
	q := u.Query()
	p := &proxy{to: filepath.Join(q.Get("host"), ".s.PGSQL.5432"), conns: map[net.Conn]bool{}}
	if p.dir, err = os.MkdirTemp("/tmp", "px"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if p.listener, err = net.Listen("unix", filepath.Join(p.dir, ".s.PGSQL.5432")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.listener.Close()
		p.cut(1)
	})
	go p.accept()
	q.Set("host", p.dir)
	u.RawQuery = q.Encode()
	return p, u.String()
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("unix", p.to)
		p.mu.Lock()
		if err != nil || p.down {
			c.Close()
			if err == nil {
				s.Close()
			}
		} else {
			p.conns[c], p.conns[s] = true, true
			go p.copy(s, c, true)
			go p.copy(c, s, false)
		}
		p.mu.Unlock()
	}
}

// copy passes on what comes from one end, until either is closed.
func (p *proxy) copy(to, from net.Conn, asks bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		// What the server says when it has committed.
		end := !asks && p.swallow && bytes.Contains(b[:n], []byte("COMMIT\x00"))
		if end {
			p.swallow = false
			p.down = p.down || p.last
			p.swallowed++
		}
		p.mu.Unlock()
		if end {
			return
		}
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cut closes connections, each with a probability.
func (p *proxy) cut(part float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if rand.Float64() < part {
			c.Close()
			delete(p.conns, c)
		}
	}
}

// set takes the proxy down, or lets it work again.
func (p *proxy) set(down bool) {
	p.mu.Lock()
	p.down = down
	p.mu.Unlock()
	if down {
		p.cut(1)
	}
}
