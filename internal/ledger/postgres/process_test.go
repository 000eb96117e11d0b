package postgres

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// TestMain is also the way into a server that can be killed.
func TestMain(m *testing.M) {
	if at := os.Getenv("LEDGER_TEST_SERVER"); at != "" {
		fmt.Fprintln(os.Stderr, serve(at, os.Getenv("LEDGER_TEST_SOCKET")))
		os.Exit(1)
	}
	daily.Together("8") // most of what is parallel waits
	os.Exit(m.Run())
}

// raceLimit is how many questions there are to be had.
const raceLimit = 100

// serve answers whoever connects to a socket, a line for a line. It ends with its input, so that it
// does not outlive its test.
func serve(at, socket string) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	checkpointLeast = 50 // so that there are checkpoints in the middle of it
	l, err := Open(at)
	if err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			for lines := bufio.NewScanner(c); lines.Scan(); {
				fmt.Fprintln(c, decide(l, lines.Text()))
			}
		}()
	}
}

// decide is what a server tells a client: that the request is refused, that it is to ask again, or
// the receipt and the answer. It charges, keeps, and tells what was kept.
func decide(l *Ledger, request string) string {
	r, err := l.Charge(ctx, ask(request, hospital(raceLimit)))
	if errors.As(err, new(*ledger.BudgetError)) {
		return "refused"
	}
	answer := []byte(fmt.Sprintf("noise-%x", rand.Uint64()))
	if err == nil {
		err = l.Keep(ctx, r.Sequence, "key of "+request, answer)
	}
	if errors.Is(err, ledger.ErrKept) {
		answer, _, err = l.Answer(ctx, request)
	}
	switch {
	case errors.As(err, new(*ledger.WriteError)):
		return "again"
	case err != nil:
		return fmt.Sprint("error ", err)
	}
	return fmt.Sprint("answer ", r.Sequence, " ", r.Hash, " ", string(answer))
}

// process is such a server, which is started again whenever it was killed.
type process struct {
	at, socket string
	mu         sync.Mutex
	cmd        *exec.Cmd
	life       io.Closer
}

// newProcess starts a server of a ledger. It ends with the test.
func newProcess(t *testing.T, at string) *process {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sv") // the name of a socket is short
	noError(t, err)
	p := &process{at: at, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		p.kill()
		os.RemoveAll(dir)
	})
	p.start(t)
	until(t, "a server", func() bool {
		c, err := net.Dial("unix", p.socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return p
}

func (p *process) start(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	os.Remove(p.socket)
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), "LEDGER_TEST_SERVER="+p.at, "LEDGER_TEST_SOCKET="+p.socket)
	p.cmd.Stderr = os.Stderr
	life, err := p.cmd.StdinPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	p.life = life
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed
	p.life.Close()
	p.life = nil
}

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
