package pgwire

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/bytelimit"
	"github.com/discreet-dp/discreet/internal/server/clientaddr"
	"github.com/discreet-dp/discreet/internal/server/connlimit"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Options are what the door needs and what it puts up with. Zero limits mean sensible ones.
type Options struct {
	Dispatcher *admission.Dispatcher
	Users      *users.Store
	TLS        *tls.Config // nil means plaintext; with it, plaintext is refused
	Log        *slog.Logger

	Version string

	Connections     int           // in all; 0 means 1000
	PerUser         int           // connections of one user; 0 means 100
	PerAddress      int           // connections of one address or network of IPv6, before and after logging in; 0 means 200
	StartupDeadline time.Duration // for TLS, startup and login together; 0 means 15 s
	IdleDeadline    time.Duration // of a session that sends nothing; 0 means an hour
	MessageSize     int           // bytes of one message after login; 0 means 1 MiB. Before login it is 8 KiB.

	Held *bytelimit.Counter // of what is held for users, here and elsewhere; nil means one of its own
}

// Server is the door.
type Server struct {
	options     Options
	base        context.Context // of every statement
	cut         context.CancelCauseFunc
	connections *connections
	asked       asked
	byPID       *sessions

	patience time.Duration // for a client to take what is sent
	rest     time.Duration // for the rest of a message

	mu        sync.Mutex
	ending    bool
	listeners map[net.Listener]bool
	open      map[*session]bool
	done      sync.WaitGroup // one for each connection
}

// asked is the dispatcher, or a slow one in tests.
type asked interface {
	Ask(context.Context, api.Question) (*api.Answer, error)
	Explain(context.Context, api.Question) (*api.Explanation, error)
	Describe(context.Context, api.Question) (*api.Description, error)
}

// New returns a door that is not open yet.
func New(o Options) *Server {
	set := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	set(&o.Connections, 1000)
	set(&o.PerUser, 100)
	set(&o.PerAddress, 200)
	set(&o.MessageSize, 1<<20)
	if o.StartupDeadline <= 0 {
		o.StartupDeadline = 15 * time.Second
	}
	if o.IdleDeadline <= 0 {
		o.IdleDeadline = time.Hour
	}
	if o.Held == nil {
		o.Held = bytelimit.New(bytelimit.Usual)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	base, cut := context.WithCancelCause(context.Background())
	return &Server{
		options: o, base: base, cut: cut, connections: newConnections(o), asked: o.Dispatcher, byPID: newSessions(),
		patience: writeDeadline, rest: messageDeadline,
		listeners: map[net.Listener]bool{}, open: map[*session]bool{},
	}
}

// Serve takes connections until the listener is closed or Shutdown is called, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if !s.listen(l) {
		l.Close()
		return nil
	}
	defer s.deaf(l)
	wait := time.Duration(0)
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			var short net.Error
			if errors.As(err, &short) && (short.Timeout() || passing(err)) {
				// Out of files, most likely. Sessions that end give some back.
				wait = min(max(2*wait, 5*time.Millisecond), time.Second)
				time.Sleep(wait)
				continue
			}
			return err
		}
		wait = 0
		s.take(c)
	}
}

// listen notes a listener, so that Shutdown can close it.
func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.listeners[l] = true
	}
	return !s.ending
}

func (s *Server) deaf(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// take gives a connection a goroutine of its own, or closes it.
func (s *Server) take(c net.Conn) {
	one := newSession(s, c, peer(c))
	s.mu.Lock()
	if s.ending {
		s.mu.Unlock()
		one.place.Leave()
		c.Close()
		return
	}
	s.open[one] = true
	s.done.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.done.Done()
		defer func() {
			s.mu.Lock()
			delete(s.open, one)
			s.mu.Unlock()
		}()
		one.serve()
	}()
}

// Shutdown takes no more connections, lets statements that run finish, tells idle sessions, and
// closes them. Where ctx ends first the rest is cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.ending = true
	for l := range s.listeners {
		l.Close()
	}
	for one := range s.open {
		one.end()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		s.done.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	s.cut(errEnded)
	s.mu.Lock()
	for one := range s.open {
		one.hangUp()
	}
	s.mu.Unlock()
	return ctx.Err()
}

// Connections is how many are open now.
func (s *Server) Connections() int { return s.connections.size() }

// TurnedAway is how often there was no room for a connection.
func (s *Server) TurnedAway() connlimit.TurnedAway { return s.connections.places.TurnedAway() }

// UsersTurnedAway is how often a user had as many connections as a user can have.
func (s *Server) UsersTurnedAway() uint64 {
	s.connections.mu.Lock()
	defer s.connections.mu.Unlock()
	return s.connections.turned
}

// peer is the address of the other end without its port.
func peer(c net.Conn) string {
	if a := c.RemoteAddr(); a != nil {
		return clientaddr.Host(a.String())
	}
	return ""
}
