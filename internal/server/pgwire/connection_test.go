package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/admission"
)

// slowDispatcher is a dispatcher where questions wait until they are let on or stopped.
type slowDispatcher struct {
	*admission.Dispatcher
	came  chan struct{}
	let   chan struct{}
	ended atomic.Int64
}

func (d *slowDispatcher) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	d.came <- struct{}{}
	select {
	case <-d.let:
	case <-ctx.Done():
	}
	defer d.ended.Add(1)
	return d.Dispatcher.Ask(ctx, q)
}

func delayQuestions(p *testServer) *slowDispatcher {
	d := &slowDispatcher{Dispatcher: p.dispatcher, came: make(chan struct{}, 100), let: make(chan struct{})}
	p.Server.mu.Lock() // as whoever takes connections does
	defer p.Server.mu.Unlock()
	p.Server.questions = d
	return d
}

const countQuery = "SELECT count(*) FROM patients"

func askInBackground(conn *pgx.Conn, sql string) chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := conn.PgConn().Exec(background, sql).ReadAll()
		ended <- err
	}()
	return ended
}

func TestCancel(t *testing.T) {
	p := startTestServer(t, nil)
	d := delayQuestions(p)
	conn := p.ana(t)
	ended := askInBackground(conn, countQuery)
	<-d.came
	// Nobody cancels with another secret.
	pid := conn.PgConn().PID()
	c := p.dial(t)
	c.Write(startupPacket(80877102, string(binary.BigEndian.AppendUint32(nil, pid))+"abcd"))
	if got := readAll(c); got != "" {
		t.Errorf("heard %q", got)
	}
	select {
	case err := <-ended:
		t.Fatalf("it was canceled by somebody else: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := conn.PgConn().CancelRequest(background); err != nil {
		t.Error(err)
	}
	if err := <-ended; sqlstate(err) != queryCanceled || !strings.Contains(err.Error(), "nothing was charged") {
		t.Errorf("got %v", err)
	}
	// It was the statement that was canceled, and not the session.
	close(d.let)
	if _, err := conn.Exec(background, countQuery); err != nil {
		t.Error(err)
	}
	if err := conn.PgConn().CancelRequest(background); err != nil {
		t.Error(err)
	}
	if _, err := conn.Exec(background, countQuery); err != nil {
		t.Errorf("a late cancel stopped the next statement: %v", err)
	}
}

func TestStatementTimeout(t *testing.T) {
	p := startTestServer(t, nil)
	delayQuestions(p)
	conn := p.ana(t)
	_, err := conn.PgConn().Exec(background, "SET statement_timeout = '20ms'; "+countQuery).ReadAll()
	if sqlstate(err) != queryCanceled {
		t.Errorf("got %v", err)
	}
}

// Who hangs up while a question waits has stopped it.
func TestGone(t *testing.T) {
	p := startTestServer(t, nil)
	d := delayQuestions(p)
	conn, _ := p.hijack(t)
	// What was sent ahead does not hide it.
	conn.Write(append(packet('Q', countQuery+"\x00"), packet('Q', countQuery+"\x00")...))
	<-d.came
	conn.Close()
	for range 1000 {
		if d.ended.Load() == 1 && p.Connections() == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d ended, %d connections", d.ended.Load(), p.Connections())
}

// Messages that were sent while a statement ran are not lost, however many.
func TestPipelined(t *testing.T) {
	p := startTestServer(t, nil)
	d := delayQuestions(p)
	conn, f := p.hijack(t)
	conn.Write(packet('Q', countQuery+"\x00"))
	<-d.came
	go func() {
		b := bytes.Repeat(packet('Q', "SHOW dp.epsilon /* "+strings.Repeat("x", 999)+" */\x00"), 100) // more than is read ahead
		for len(b) > 0 {
			n, err := conn.Write(b[:min(len(b), 777)])
			if err != nil {
				return
			}
			b = b[n:]
		}
		conn.Write(packet('X', ""))
	}()
	time.Sleep(20 * time.Millisecond)
	close(d.let)
	ready := 0
	for {
		m, err := f.Receive()
		if err != nil {
			break
		}
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			ready++
		}
	}
	if ready != 101 {
		t.Errorf("%d of 101 were answered", ready)
	}
}

// Statements that run are finished, and idle sessions are told.
func TestShutdown(t *testing.T) {
	p := startTestServer(t, nil)
	d := delayQuestions(p)
	idle, busy := p.ana(t), p.ana(t)
	ended := askInBackground(busy, countQuery)
	<-d.came
	down := make(chan error, 1)
	go func() { down <- p.Shutdown(background) }()
	// Idle sessions are told.
	patience, stop := context.WithTimeout(background, time.Second)
	defer stop()
	if _, err := idle.WaitForNotification(patience); sqlstate(err) != adminShutdown {
		t.Errorf("an idle session stays: %v", err)
	}
	if _, err := net.Dial("tcp", p.address); err == nil {
		t.Error("somebody came in")
	}
	select {
	case err := <-down:
		t.Fatalf("the server did not wait for what is paid: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(d.let)
	if err := <-ended; err != nil {
		t.Errorf("what was asked before: %v", err)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}

// Where there is no time, the rest is cut off.
func TestShutdownAtOnce(t *testing.T) {
	p := startTestServer(t, nil)
	d := delayQuestions(p)
	ended := askInBackground(p.ana(t), countQuery)
	<-d.came
	ctx, done := context.WithTimeout(background, 20*time.Millisecond)
	defer done()
	if err := p.Shutdown(ctx); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("it was answered")
	}
}

// A panic ends one session, and says nothing.
func TestPanic(t *testing.T) {
	p := startTestServer(t, nil, func(s *Server) { s.questions = panickingDispatcher{} })
	conn := p.ana(t)
	_, err := conn.Exec(background, countQuery)
	if sqlstate(err) != internalError || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	p.ana(t)
}

type panickingDispatcher struct{ questions }

func (panickingDispatcher) Ask(context.Context, api.Question) (*api.Answer, error) { panic("a secret") }

// A client that stops reading is given up after a while, and what it holds is given back.
func TestNotReading(t *testing.T) {
	t.Parallel()
	p := startTestServer(t, nil, func(s *Server) { s.writeTimeout = 50 * time.Millisecond })
	conn, _ := p.hijack(t)
	b := bytes.Repeat(packet('Q', "SHOW ALL\x00"), 20_000)
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	conn.Write(b) // fails, when the server has closed its end
	for range 2000 {
		if p.Connections() == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("it is still there")
}

// Many who ask, cancel, hang up and send nonsense, all at once: no connection and no goroutine of
// theirs stays.
func TestConnections(t *testing.T) {
	p := startTestServer(t, func(o *Options) { o.StartupDeadline = 5 * time.Minute }) // the clients of forty logins share this machine
	p.ana(t).Exec(background, countQuery)                                             // the data is open now
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 3 {
				switch r.IntN(4) {
				case 0:
					c := p.dial(t)
					c.Write([]byte{byte(r.Uint32()), 0, 0, byte(r.Uint32()), 0, 3, 0, 0, 'u'})
					c.Close()
					continue
				}
				conn, err := pgx.ConnectConfig(background, p.config(t, []string{"ana", "ben"}[i%2], "hospital"))
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := context.WithTimeout(background, time.Duration(r.IntN(30))*time.Millisecond)
				switch r.IntN(3) {
				case 0:
					conn.Exec(ctx, "SELECT count(*) FROM patients WHERE age > $1", r.IntN(20))
				case 1:
					conn.Exec(background, "SELECT sex, count(*) FROM patients GROUP BY sex")
				case 2:
					conn.PgConn().Conn().Write(packet('Q', countQuery+"\x00"))
				}
				cancel()
				conn.PgConn().Conn().Close()
			}
		})
	}
	all.Wait()
	for range 1000 {
		if p.Connections() <= 1 && runtime.NumGoroutine() <= before+3 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n, g := p.Connections(), runtime.NumGoroutine(); n > 1 || g > before+3 {
		t.Errorf("%d connections and %d goroutines, after %d", n, g, before)
	}
}

// addressedListener is a listener whose connections come from wherever the one who dials says.
type addressedListener struct {
	net.Listener
	mu   sync.Mutex
	from map[string]string // by the address of this machine that they really have
}

func (l *addressedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	address, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(l.from[c.RemoteAddr().String()], "7"))
	return &addressedConn{c, address}, err
}

type addressedConn struct {
	net.Conn
	address net.Addr
}

func (c *addressedConn) RemoteAddr() net.Addr { return c.address }

func (l *addressedListener) dial(t testing.TB, address string) net.Conn {
	t.Helper()
	l.mu.Lock() // so that it is known when it is accepted
	defer l.mu.Unlock()
	c, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	l.from[c.LocalAddr().String()] = address
	return c
}

// login connects from an address and logs in.
func (l *addressedListener) login(t testing.TB, p *testServer, user, address string) (*pgx.Conn, error) {
	c := p.config(t, user, "hospital")
	c.DialFunc = func(context.Context, string, string) (net.Conn, error) { return l.dial(t, address), nil }
	return pgx.ConnectConfig(background, c)
}

// Strangers who open connections and say nothing keep nobody out: neither from one network of IPv6
// with its many addresses, nor from many networks.
func TestStrangersTakeNoPlaces(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l := &addressedListener{Listener: inner, from: map[string]string{}}
	p := startTestServer(t, func(o *Options) { o.Connections, o.PerAddress, o.StartupDeadline = 20, 4, 5*time.Minute })
	go p.Serve(l)
	known, err := l.login(t, p, "ana", "198.51.100.1")
	must(t, err)
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
			if _, err := conn.Exec(background, countQuery); err != nil {
				t.Error(err)
			}
			conn.Close(background)
		}
		if n := p.Connections(); n > 20+reservedConnections {
			t.Errorf("%d connections", n)
		}
	}
	if _, err := known.Exec(background, countQuery); err != nil {
		t.Error(err)
	}
	all[0].SetDeadline(time.Now().Add(10 * time.Second))
	if said, err := io.ReadAll(all[0]); err != nil || !strings.Contains(string(said), "53300") {
		t.Errorf("who had to make room was told %q, %v", said, err)
	}
}

// Bytes of the PROXY protocol are an error from everybody who is not a proxy that is trusted.
func TestNoProxyHeader(t *testing.T) {
	p := startTestServer(t, nil)
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
