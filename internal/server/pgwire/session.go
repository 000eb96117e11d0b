package pgwire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/bytelimit"
	"github.com/discreet-dp/discreet/internal/server/catalog"
	"github.com/discreet-dp/discreet/internal/server/clientaddr"
	"github.com/discreet-dp/discreet/internal/server/connlimit"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

// session is one connection, from its first byte to its last.
type session struct {
	server  *Server
	tcp     net.Conn // for whoever hangs up from outside; conn may be TLS over it
	conn    *conn
	address string
	place   *connlimit.Place
	backend *pgproto3.Backend

	endpoint string // what a login can be bound to; empty without TLS

	user    users.User
	analyst bool // whether the policy lists the user in this dataset
	dataset *policy.Dataset
	catalog *catalog.Catalog
	pid     uint32
	secret  []byte
	types   *pgtype.Map // nil until a value needs it

	settings   *settings
	block      block
	statements map[string]*statement
	portals    map[string]*portal
	share      *bytelimit.Share // bytes that the session holds
	kept       int              // of them, what is kept: statements, portals, views
	viewBytes  int              // of temporary views
	latest     *statement       // the one whose tree is kept
	declared   int              // cursors, so far
	several    bool             // whether the message has more than one statement
	skipping   bool             // to the next Sync, after an error

	mu     sync.Mutex
	in     bool // after login
	pushed bool // out by somebody who came later
	ending bool
	busy   bool
	cancel context.CancelCauseFunc // of the statement that runs
}

func newSession(server *Server, c net.Conn, address string) *session {
	s := &session{server: server, tcp: c, conn: newConn(c, server.patience, server.options.Held), address: address, busy: true}
	s.place = server.connections.places.Enter(connlimit.Newcomer{Address: clientaddr.Block(address),
		Familiar: server.options.Users.Familiar(address), Cut: s.makeRoom})
	return s
}

// serve is the whole life of a connection. A panic ends it and nothing else; what it says could
// hold data.
func (s *session) serve() {
	defer s.place.Leave()
	defer func() { s.conn.raw.Close() }()
	defer func() {
		if recover() != nil {
			s.server.options.Log.Error("a session ended by a fault", "door", "wire")
			s.stop(errGone)
			s.say(fatal(internalError, internal().message))
		}
	}()
	if s.deadline() != nil {
		return
	}
	s.open()
	if err := s.begin(); err != nil {
		if s.wasPushed() {
			err = fatal(tooManyConnections, "there are many connections that nobody has logged in on, and this one had to make room; "+
				"try again")
		}
		// or strangers could fill the disk; the trail has them
		s.server.options.Log.Debug("not let in", "door", "wire", "address", s.address)
		s.refuse(err)
		return
	}
	s.server.options.Log.Info("login", "door", "wire", "user", s.user.Name, "dataset", s.dataset.Name, "address", s.address)
	defer s.server.connections.logout(s.user.Name)
	defer s.share.Close()
	defer s.server.byPID.remove(s)
	s.refuse(s.converse())
}

// open gets ready to hear the first packet.
func (s *session) open() {
	s.backend = pgproto3.NewBackend(s.conn, s.conn)
	s.backend.SetMaxBodyLen(startupSize)
}

// begin makes a connection a session.
func (s *session) begin() error {
	start, err := s.startup()
	if err != nil {
		return err
	}
	if proxied, ok := s.tcp.(interface{ Told() bool }); ok && !proxied.Told() {
		return fatal(protocolViolation, "connections from this address are a proxy's, and have to begin with a header of the PROXY "+
			"protocol").hinting("let the proxy send it (send-proxy-v2, proxy_protocol on), or take the address out of --trust-proxy")
	}
	if err := noPlace(s.place); err != nil {
		return err
	}
	wanted := start.Parameters
	if err := checkStartup(wanted); err != nil {
		return err
	}
	ctx, done := context.WithTimeout(s.server.base, s.server.options.StartupDeadline)
	defer done()
	if err := s.login(ctx, wanted["user"]); err != nil {
		return err
	}
	s.conn.send(&pgproto3.AuthenticationOk{})
	if err := s.database(wanted["database"]); err != nil {
		return err
	}
	if !s.place.Hold() {
		return errSilent // somebody was given this place meanwhile
	}
	if !s.server.connections.login(s.user.Name) {
		return fatal(tooManyConnections, fmt.Sprintf("you have %d connections, which is as many as a user can have; close some",
			s.server.options.PerUser))
	}
	if err := s.prepare(wanted); err != nil {
		s.server.connections.logout(s.user.Name)
		return err
	}
	return nil
}

// prepare gives somebody who is in what a session needs, and tells them.
func (s *session) prepare(wanted map[string]string) error {
	s.settings = newSettings(s.server.options.Version, s.user.Name, func(text string) { s.notice("NOTICE", "00000", text, "") })
	if err := s.settings.begin(wanted); err != nil {
		return err
	}
	s.statements, s.portals = map[string]*statement{}, map[string]*portal{}
	s.share = s.server.options.Held.Share(s.user.Name, maxHeld)
	s.conn.grow()
	s.backend.SetMaxBodyLen(s.server.options.MessageSize)
	s.server.byPID.add(s)
	s.catalog = catalog.New(s.server.options.Dispatcher.DB().Policy(), s.dataset.Name, catalog.Session{
		User: s.user.Name, Database: s.dataset.Name, PID: int32(s.pid), Version: s.server.options.Version,
		Setting: s.settings.show, Names: append(api.SettingNames(), requestSetting), Set: func(name, value string) error {
			return s.change(name, value, false)
		},
		Kept: s.keptNames,
	})
	for _, name := range reported {
		value, _ := s.settings.show(name)
		s.conn.send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	s.conn.send(&pgproto3.BackendKeyData{ProcessID: s.pid, SecretKey: s.secret})
	s.ready()
	if s.conn.flush() != nil {
		s.server.byPID.remove(s)
		return errSilent
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in = true
	return s.conn.raw.SetDeadline(time.Time{})
}

// refuse says why a session ends.
func (s *session) refuse(err error) {
	if err == nil || errors.Is(err, errSilent) {
		return
	}
	e := explain(context.Background(), err)
	e.severity = "FATAL"
	s.say(e)
}

// say is the last thing that a client hears.
func (s *session) say(e *wireError) {
	if s.backend == nil {
		return
	}
	s.conn.send(e.response("", 0))
	s.conn.flush()
}

// makeRoom ends a connection that nobody has logged in on, in favour of one that came later.
func (s *session) makeRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushed = true
	s.tcp.SetReadDeadline(time.Unix(1, 0)) // long ago: whoever reads is told why
}

func (s *session) wasPushed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pushed
}

// hangUp cuts a session off, from outside.
func (s *session) hangUp() { s.tcp.Close() }

// rest waits for the next message. Whoever is told to end while resting is woken by a deadline that
// has passed.
func (s *session) rest() (kind byte, err error) {
	s.mu.Lock()
	if s.ending {
		s.mu.Unlock()
		return 0, errEnded
	}
	s.busy = false
	s.conn.raw.SetReadDeadline(time.Now().Add(s.server.options.IdleDeadline))
	s.mu.Unlock()
	err = s.conn.fill(1)
	s.mu.Lock()
	s.busy = true
	if s.ending {
		s.mu.Unlock()
		return 0, errEnded
	}
	s.conn.raw.SetReadDeadline(time.Now().Add(s.server.rest))
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return s.conn.message(s.server.options.MessageSize)
}

// end tells a session that the server ends.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	switch {
	case !s.in:
		s.tcp.Close() // nobody whom we know
	case !s.busy:
		s.conn.raw.SetReadDeadline(time.Unix(1, 0))
	}
}

// stop ends the statement that runs, if one does.
func (s *session) stop(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(why)
	}
}

// converse takes messages until the end.
func (s *session) converse() error {
	for {
		if _, err := s.rest(); err != nil {
			var late net.Error
			switch {
			case errors.Is(err, errEnded):
				return fatal(adminShutdown, "the server is shutting down; connect again when it is back")
			case errors.Is(err, errLong):
				return fatal(protocolViolation, fmt.Sprintf("the message is longer than %d bytes, which is as much as the server takes",
					s.server.options.MessageSize))
			case errors.Is(err, errShort):
				return fatal(protocolViolation, "the message has an impossible length")
			case errors.As(err, &late) && late.Timeout():
				return fatal(adminShutdown, "the session was idle, or half a message came, for longer than the server waits")
			}
			return errSilent
		}
		size := s.conn.left
		if err := s.borrow(size); err != nil {
			return err
		}
		message, err := s.backend.Receive()
		if err != nil || s.conn.left > 0 {
			if s.conn.err != nil {
				return errSilent
			}
			return fatal(protocolViolation, "the message cannot be read, or took too long to arrive")
		}
		if _, end := message.(*pgproto3.Terminate); end {
			return errSilent
		}
		if err := s.hear(message); err != nil {
			return err
		}
		s.giveBack(size)
	}
}

// hear does what a message says. An error that it returns ends the session.
func (s *session) hear(message pgproto3.FrontendMessage) error {
	switch m := message.(type) {
	case *pgproto3.Query:
		s.skipping = false
		return s.simple(m.String)
	case *pgproto3.Sync:
		return s.sync()
	case *pgproto3.Flush:
		return s.flush()
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return nil // left over from a COPY that was refused
	case *pgproto3.FunctionCall:
		if err := s.fail(failure(notSupported, "function calls are not supported").hinting("write a SELECT"), "", 0); err != nil {
			return err
		}
		s.ready()
		return s.flush()
	case *pgproto3.Parse, *pgproto3.Bind, *pgproto3.Describe, *pgproto3.Execute, *pgproto3.Close:
		if s.skipping {
			return nil
		}
		return s.extended(message)
	}
	return fatal(protocolViolation, "this message does not belong here")
}

// flush sends what waits.
func (s *session) flush() error {
	s.conn.flush()
	return s.reached()
}

// reached says whether the client takes what is sent.
func (s *session) reached() error {
	if s.conn.lost != nil {
		return errSilent
	}
	return nil
}

func (s *session) ready() { s.conn.send(&pgproto3.ReadyForQuery{TxStatus: s.block.status()}) }

// fail tells an error, and what it does to a block. What it returns ends the session.
func (s *session) fail(err error, text string, offset int) error {
	if errors.Is(err, errSilent) {
		return err
	}
	e := explain(context.Background(), err)
	if e.severity == "FATAL" {
		return e
	}
	s.conn.send(e.response(text, offset))
	s.block.fail()
	return nil
}

// running runs something that waits for others: it can be canceled, by the user, by
// statement_timeout and by going away.
func (s *session) running(do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(admission.Checked(s.server.base, func(ctx context.Context) error {
		err := s.server.options.Users.Still(ctx, s.user)
		if users.Denied(err) {
			return admission.ErrRevoked
		}
		return err
	}))
	defer cancel(nil)
	timed := ctx
	if limit := s.settings.timeout(); limit > 0 {
		var done context.CancelFunc
		timed, done = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer done()
	}
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	stop := s.conn.watch(func() { cancel(errGone) })
	defer func() { // also where it panics
		stop()
		s.mu.Lock()
		s.cancel = nil
		s.mu.Unlock()
	}()
	err := do(timed)
	if err == nil {
		return nil
	}
	if errors.Is(context.Cause(timed), errGone) {
		return errSilent
	}
	return explain(timed, err) // while the context still knows why
}

// still makes sure that the user has not been revoked meanwhile.
func (s *session) still() error {
	ctx, done := context.WithTimeout(s.server.base, messageDeadline)
	defer done()
	err := s.server.options.Users.Still(ctx, s.user)
	if users.Denied(err) {
		return fatal(adminShutdown, "your account was revoked, or has another password; ask the owner of the data")
	}
	if err != nil {
		return explain(ctx, admission.ErrUnchecked) // who cannot be checked is not let on
	}
	return nil
}

func list(names []string) string { return strings.Join(names, ", ") }
