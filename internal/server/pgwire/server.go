package pgwire

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/discreet-dp/discreet/internal/planner/grammar"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Options are what a server needs and what it puts up with. Zero limits mean sensible ones.
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

	Held *clientlimits.Counter // of what is held for users, here and elsewhere; nil means one of its own
}

type Server struct {
	options        Options
	base           context.Context // of every statement
	stopStatements context.CancelCauseFunc
	connections    *connectionCounts
	questions      questions
	executions     *executions

	writeTimeout   time.Duration // for a client to take what is sent
	messageTimeout time.Duration // for the rest of a message
	maxKept        int           // bytes that a session keeps

	mu        sync.Mutex
	ending    bool
	listeners map[net.Listener]bool
	live      map[*connection]bool
	done      sync.WaitGroup // one for each connection
}

// New returns a server that does not listen yet.
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
		o.Held = clientlimits.NewCounter(clientlimits.DefaultLimits)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	base, cut := context.WithCancelCause(context.Background())
	return &Server{
		options: o, base: base, stopStatements: cut, connections: newConnectionCounts(o), questions: o.Dispatcher,
		executions:   newExecutions(),
		writeTimeout: defaultWriteTimeout, messageTimeout: defaultMessageTimeout, maxKept: maxKeptBytes,
		listeners: map[net.Listener]bool{}, live: map[*connection]bool{},
	}
}

// Serve takes connections until the listener is closed or Shutdown is called, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if !s.addListener(l) {
		l.Close()
		return nil
	}
	defer s.removeListener(l)
	wait := time.Duration(0)
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			var short net.Error
			if errors.As(err, &short) && (short.Timeout() || isTemporary(err)) {
				// Out of files, most likely. Sessions that end give some back.
				wait = min(max(2*wait, 5*time.Millisecond), time.Second)
				time.Sleep(wait)
				continue
			}
			return err
		}
		wait = 0
		s.serveConn(c)
	}
}

// addListener notes a listener, so that Shutdown can close it.
func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.listeners[l] = true
	}
	return !s.ending
}

func (s *Server) removeListener(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// serveConn gives a connection a goroutine of its own, or closes it.
func (s *Server) serveConn(c net.Conn) {
	one := newConnection(s, c, peerAddress(c))
	s.mu.Lock()
	if s.ending {
		s.mu.Unlock()
		one.slot.Leave()
		c.Close()
		return
	}
	s.live[one] = true
	s.done.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.done.Done()
		defer func() {
			s.mu.Lock()
			delete(s.live, one)
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
	for one := range s.live {
		one.shutDown()
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
	s.stopStatements(errServerEnds)
	s.mu.Lock()
	for one := range s.live {
		one.hangUp()
	}
	s.mu.Unlock()
	return ctx.Err()
}

// Connections is how many are open now.
func (s *Server) Connections() int { return s.connections.count() }

// TurnedAway is how often there was no room for a connection.
func (s *Server) TurnedAway() clientlimits.TurnedAwayConnections {
	return s.connections.slots.TurnedAway()
}

// UsersTurnedAway is how often a user had as many connections as a user can have.
func (s *Server) UsersTurnedAway() uint64 {
	s.connections.mu.Lock()
	defer s.connections.mu.Unlock()
	return s.connections.usersTurnedAway
}

func peerAddress(c net.Conn) string {
	if a := c.RemoteAddr(); a != nil {
		return clientlimits.Host(a.String())
	}
	return ""
}

// What one connection can have of the server. Those that an owner may want to change are in
// Options.
const (
	maxStartupBytes = 8 << 10 // bytes of a packet before login
	// maxHandshakeBytes is for TLS, whose messages Go would take up to 64 KiB. A client's are some
	// 2 KiB, with keys against quantum computers.
	maxHandshakeBytes = 16 << 10

	startupBufferBytes = 2 << 10  // bytes that are read ahead, before login
	readBufferBytes    = 16 << 10 // and after it
	flushBytes         = 32 << 10 // bytes that are sent at once
	idleBufferBytes    = 1 << 10  // bytes that are kept for what will be sent

	defaultMessageTimeout = time.Minute                // from the first byte of a message to its last
	defaultWriteTimeout   = clientlimits.UnreadTimeout // for a client to take flushSize bytes

	maxStatements = 100 // of one message

	maxPreparedStatements = 1000     // statements that a session keeps
	maxPortals            = 200      // portals that it has open
	maxKeptBytes          = 8 << 20  // bytes of both and of temporary views: texts, trees, descriptions and values
	maxHeldBytes          = 32 << 20 // bytes that a session holds in all: what it keeps, rows, and the message that it is at
	treeBytesPerWord      = 512      // bytes that the tree of a text takes for each of its words, at most
	minAnswerBytes        = 16 << 10 // bytes that are taken before a question is asked, so that nobody pays who could not be answered
	maxCommandBytes       = 4 << 10  // bytes of a statement that is neither SELECT nor EXPLAIN
	maxSavepoints         = 100
	maxSettingBytes       = 1 << 10 // bytes of the value of a setting
	maxNameBytes          = 256     // bytes of the name of a statement or a portal
	maxParameters         = 1000    // values of one statement
)

// textLimits are the limits on the statements of one message, all together.
var textLimits = grammar.Limits{Bytes: 256 << 10, Words: 20_000, Depth: 100}

// reservedConnections is how many connections may be open beyond a limit, without ever becoming a
// session: they are told that there are too many, or they cancel what a session does, which must
// work above all when the server is full of sessions.
const reservedConnections = 32

// connectionCounts counts them, and what those who logged in have open.
type connectionCounts struct {
	perUser int

	slots *clientlimits.Slots

	mu              sync.Mutex
	users           map[string]int
	usersTurnedAway uint64 // how often a user had as many as a user can have
}

func newConnectionCounts(o Options) *connectionCounts {
	return &connectionCounts{perUser: o.PerUser, users: map[string]int{},
		slots: &clientlimits.Slots{Most: o.Connections, PerAddress: o.PerAddress, Beyond: reservedConnections}}
}

// refuseWithoutSlot says why a connection that is counted cannot become a session.
func refuseWithoutSlot(p *clientlimits.Slot) error {
	switch p.Full() {
	case clientlimits.ServerFull:
		return fatal(tooManyConnections, "the server has as many connections as it accepts; try again later")
	case clientlimits.AddressFull:
		return fatal(tooManyConnections, "this address has as many connections as the server accepts; close some")
	}
	return nil
}

func (c *connectionCounts) addUser(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users[user] >= c.perUser {
		c.usersTurnedAway++
		return false
	}
	c.users[user]++
	return true
}

func (c *connectionCounts) removeUser(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users[user]--; c.users[user] <= 0 {
		delete(c.users, user)
	}
}

func (c *connectionCounts) count() int {
	all, _ := c.slots.Count("")
	return all
}

// isTemporary says whether accepting may work again soon.
func isTemporary(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
