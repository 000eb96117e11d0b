package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/admission"
)

// slow is a dispatcher where questions wait until they are let on or stopped.
type slow struct {
	*admission.Dispatcher
	came  chan struct{}
	let   chan struct{}
	ended atomic.Int64
}

func (d *slow) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	d.came <- struct{}{}
	select {
	case <-d.let:
	case <-ctx.Done():
	}
	defer d.ended.Add(1)
	return d.Dispatcher.Ask(ctx, q)
}

func slowly(p *place) *slow {
	d := &slow{Dispatcher: p.dispatcher, came: make(chan struct{}, 100), let: make(chan struct{})}
	p.Server.mu.Lock() // as whoever takes connections does
	defer p.Server.mu.Unlock()
	p.Server.questions = d
	return d
}

const counting = "SELECT count(*) FROM patients"

func asking(conn *pgx.Conn, sql string) chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := conn.PgConn().Exec(background, sql).ReadAll()
		ended <- err
	}()
	return ended
}

func TestCancel(t *testing.T) {
	p := open(t, nil)
	d := slowly(p)
	conn := p.ana(t)
	ended := asking(conn, counting)
	<-d.came
	// Nobody cancels with another secret.
	pid := conn.PgConn().PID()
	c := p.dial(t)
	c.Write(first(80877102, string(binary.BigEndian.AppendUint32(nil, pid))+"abcd"))
	if got := hears(c); got != "" {
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
	if err := <-ended; code(err) != queryCanceled || !strings.Contains(err.Error(), "nothing was charged") {
		t.Errorf("got %v", err)
	}
	// It was the statement that was canceled, and not the session.
	close(d.let)
	if _, err := conn.Exec(background, counting); err != nil {
		t.Error(err)
	}
	if err := conn.PgConn().CancelRequest(background); err != nil {
		t.Error(err)
	}
	if _, err := conn.Exec(background, counting); err != nil {
		t.Errorf("a late cancel stopped the next statement: %v", err)
	}
}

func TestStatementTimeout(t *testing.T) {
	p := open(t, nil)
	slowly(p)
	conn := p.ana(t)
	_, err := conn.PgConn().Exec(background, "SET statement_timeout = '20ms'; "+counting).ReadAll()
	if code(err) != queryCanceled {
		t.Errorf("got %v", err)
	}
}

// Whose own timeout ends the waiting for a turn is told that it was the timeout.
func TestTimeoutBeforeItsTurn(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	if e := explain(ctx, admission.ErrWithdrawn); !strings.Contains(e.Error(), "on the user's request before its turn") {
		t.Error(e)
	}
	cancel(errTimeout)
	if e := explain(ctx, admission.ErrWithdrawn); !strings.Contains(e.Error(), "by statement_timeout before its turn") ||
		!strings.Contains(e.Error(), "nothing was charged") {
		t.Error(e)
	}
}

// Who hangs up while a question waits has stopped it.
func TestGone(t *testing.T) {
	p := open(t, nil)
	d := slowly(p)
	conn, _ := p.hijack(t)
	// What was sent ahead does not hide it.
	conn.Write(append(packet('Q', counting+"\x00"), packet('Q', counting+"\x00")...))
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
	p := open(t, nil)
	d := slowly(p)
	conn, f := p.hijack(t)
	conn.Write(packet('Q', counting+"\x00"))
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
	p := open(t, nil)
	d := slowly(p)
	idle, busy := p.ana(t), p.ana(t)
	ended := asking(busy, counting)
	<-d.came
	down := make(chan error, 1)
	go func() { down <- p.Shutdown(background) }()
	// Idle sessions are told.
	patience, stop := context.WithTimeout(background, time.Second)
	defer stop()
	if _, err := idle.WaitForNotification(patience); code(err) != adminShutdown {
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
	p := open(t, nil)
	d := slowly(p)
	ended := asking(p.ana(t), counting)
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
	p := open(t, nil, func(s *Server) { s.questions = broken{} })
	conn := p.ana(t)
	_, err := conn.Exec(background, counting)
	if code(err) != internalError || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	p.ana(t)
}

type broken struct{ questions }

func (broken) Ask(context.Context, api.Question) (*api.Answer, error) { panic("a secret") }

// A client that stops reading is given up after a while, and what it holds is given back.
func TestNotReading(t *testing.T) {
	p := open(t, nil, func(s *Server) { s.patience = 50 * time.Millisecond })
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
