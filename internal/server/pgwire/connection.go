package pgwire

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

// connection is one client's, from its first byte to its last: it finds out who is there, waits for
// messages, and gives them to the protocol. What others do to it from outside, it does behind mu.
type connection struct {
	server  *Server
	tcp     net.Conn // for whoever hangs up from outside; packets may be TLS over it
	packets *packetConn
	backend *pgproto3.Backend
	address string
	slot    *clientlimits.Slot

	endpoint string // what a login can be bound to; empty without TLS
	identity
	protocol *protocol // nil before login

	mu       sync.Mutex
	loggedIn bool
	evicted  bool // by somebody who came later
	ending   bool
	busy     bool
}

// identity is who has logged in, and to which dataset.
type identity struct {
	user    users.User
	analyst bool // whether the policy lists the user in this dataset
	dataset *policy.Dataset
}

func newConnection(server *Server, tcp net.Conn, address string) *connection {
	c := &connection{server: server, tcp: tcp, packets: newPacketConn(tcp, server.writeTimeout, server.options.Held), address: address,
		busy: true}
	c.slot = server.connections.slots.Enter(clientlimits.Newcomer{Address: clientlimits.Block(address),
		Familiar: server.options.Users.Familiar(address), Cut: c.evict})
	return c
}

// serve is the whole life of a connection. A panic ends it and nothing else; what it says could
// hold data.
func (c *connection) serve() {
	defer c.slot.Leave()
	defer func() { c.packets.raw.Close() }()
	defer func() {
		if recover() != nil {
			c.server.options.Log.Error("a session ended because of a fault", "door", "wire")
			c.sendLast(fatal(internalError, internalFailure().message))
		}
	}()
	if c.setStartupDeadline() != nil {
		return
	}
	c.open()
	if err := c.admit(); err != nil {
		if c.wasEvicted() {
			err = fatal(tooManyConnections, "many connections are waiting for a login, and this one had to make room; try again")
		}
		// or strangers could fill the disk; the trail has them
		c.server.options.Log.Debug("not let in", "door", "wire", "address", c.address)
		c.refuse(err)
		return
	}
	c.server.options.Log.Info("login", "door", "wire", "user", c.user.Name, "dataset", c.dataset.Name, "address", c.address)
	defer c.server.connections.removeUser(c.user.Name)
	defer c.protocol.memory.share.Close()
	defer c.server.executions.remove(c.protocol.execution)
	c.refuse(c.handleMessages())
}

func (c *connection) open() {
	c.backend = pgproto3.NewBackend(c.packets, c.packets)
	c.backend.SetMaxBodyLen(maxStartupBytes)
}

// admit lets those in who can log in, to a dataset, while there is a slot for them.
func (c *connection) admit() error {
	start, err := c.readStartup()
	if err != nil {
		return err
	}
	if proxied, ok := c.tcp.(interface{ HasHeader() bool }); ok && !proxied.HasHeader() {
		return fatal(protocolViolation, "connections from this address come from a proxy, and must begin with a PROXY protocol "+
			"header").withHint("let the proxy send it (send-proxy-v2, proxy_protocol on), or take the address out of --trust-proxy")
	}
	if err := refuseWithoutSlot(c.slot); err != nil {
		return err
	}
	wanted := start.Parameters
	if err := checkStartup(wanted); err != nil {
		return err
	}
	ctx, done := context.WithTimeout(c.server.base, c.server.options.StartupDeadline)
	defer done()
	if err := c.authenticate(ctx, wanted["user"]); err != nil {
		return err
	}
	c.packets.send(&pgproto3.AuthenticationOk{})
	if err := c.chooseDataset(wanted["database"]); err != nil {
		return err
	}
	if !c.slot.Hold() {
		return errSilent // somebody else was given this slot meanwhile
	}
	if !c.server.connections.addUser(c.user.Name) {
		return fatal(tooManyConnections, fmt.Sprintf("you have %d connections, the most that a user can have; close some",
			c.server.options.PerUser))
	}
	if err := c.beginProtocol(wanted); err != nil {
		c.server.connections.removeUser(c.user.Name)
		return err
	}
	return nil
}

// beginProtocol gives somebody who is in what messages need, and tells them.
func (c *connection) beginProtocol(wanted map[string]string) error {
	o := c.server.options
	out := &clientWriter{packets: c.packets}
	out.settings = newSettings(o.Version, c.user.Name, out.say)
	if err := out.settings.applyStartup(wanted); err != nil {
		return err
	}
	c.packets.grow()
	c.backend.SetMaxBodyLen(o.MessageSize)
	running := &execution{base: c.server.base, users: o.Users, user: c.user, settings: out.settings, packets: c.packets}
	c.server.executions.add(running)
	c.protocol = newProtocol(c.server, c.identity, out, running)
	for _, name := range reportedSettings {
		value, _ := out.settings.show(name)
		c.packets.send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	c.packets.send(&pgproto3.BackendKeyData{ProcessID: running.pid, SecretKey: running.secret})
	c.protocol.ready()
	// Before the client hears that it is in: a server that ends from then on says so.
	c.mu.Lock()
	c.loggedIn = true
	c.mu.Unlock()
	if c.packets.flush() != nil {
		c.server.executions.remove(running)
		return errSilent
	}
	return c.packets.raw.SetDeadline(time.Time{})
}

func (c *connection) handleMessages() error {
	for {
		if err := c.awaitMessage(); err != nil {
			var late net.Error
			switch {
			case errors.Is(err, errServerEnds):
				return fatal(adminShutdown, "the server is shutting down; connect again when it is back")
			case errors.Is(err, errPacketTooLong):
				return fatal(protocolViolation, fmt.Sprintf("the message is longer than %d bytes, the most that the server accepts",
					c.server.options.MessageSize))
			case errors.Is(err, errPacketLength):
				return fatal(protocolViolation, "the message has an impossible length")
			case errors.As(err, &late) && late.Timeout():
				return fatal(adminShutdown, "the session was idle, or a message was incomplete, for longer than the server waits")
			}
			return errSilent
		}
		size := c.packets.unread
		if err := c.protocol.memory.borrow(size); err != nil {
			return err
		}
		message, err := c.backend.Receive()
		if err != nil || c.packets.unread > 0 {
			if c.packets.readErr != nil {
				return errSilent
			}
			return fatal(protocolViolation, "the message cannot be read, or took too long to arrive")
		}
		if _, end := message.(*pgproto3.Terminate); end {
			return errSilent
		}
		if err := c.protocol.handle(message); err != nil {
			return err
		}
		c.protocol.memory.giveBack(size)
	}
}

// awaitMessage waits for the next message. Whoever is told to end meanwhile is woken by a deadline
// that has passed.
func (c *connection) awaitMessage() error {
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return errServerEnds
	}
	c.busy = false
	c.packets.raw.SetReadDeadline(time.Now().Add(c.server.options.IdleDeadline))
	c.mu.Unlock()
	err := c.packets.fill(1)
	c.mu.Lock()
	c.busy = true
	if c.ending {
		c.mu.Unlock()
		return errServerEnds
	}
	c.packets.raw.SetReadDeadline(time.Now().Add(c.server.messageTimeout))
	c.mu.Unlock()
	if err == nil {
		_, err = c.packets.expectMessage(c.server.options.MessageSize)
	}
	return err
}

func (c *connection) refuse(err error) {
	if err == nil || errors.Is(err, errSilent) {
		return
	}
	e := toWireError(context.Background(), err)
	e.severity = "FATAL"
	c.sendLast(e)
}

// sendLast is the last thing that a client hears.
func (c *connection) sendLast(e *wireError) {
	if c.backend == nil {
		return
	}
	c.packets.send(e.response("", 0))
	c.packets.flush()
}

// evict ends a connection that nobody has logged in on, in favour of one that came later.
func (c *connection) evict() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evicted = true
	c.tcp.SetReadDeadline(time.Unix(1, 0)) // long ago: whoever reads is told why
}

func (c *connection) wasEvicted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evicted
}

// shutDown ends an idle connection, and a busy one after its statement.
func (c *connection) shutDown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	switch {
	case !c.loggedIn:
		c.tcp.Close() // nobody whom we know
	case !c.busy:
		c.packets.raw.SetReadDeadline(time.Unix(1, 0))
	}
}

// hangUp cuts a connection off, from outside.
func (c *connection) hangUp() { c.tcp.Close() }

// execution runs the statements of one connection, one at a time, so that each can be stopped.
type execution struct {
	base     context.Context
	users    *users.Store
	user     users.User
	settings *settings
	packets  *packetConn

	pid    uint32 // what its client cancels it by
	secret []byte

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the statement that runs
}

// run runs something that waits for others: it can be canceled, by the user, by
// statement_timeout and by going away.
func (e *execution) run(do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(admission.Checked(e.base, func(ctx context.Context) error {
		err := e.users.CheckAgain(ctx, e.user)
		if users.Denied(err) {
			return admission.ErrRevoked
		}
		return err
	}))
	defer cancel(nil)
	timed := ctx
	if limit := e.settings.timeout(); limit > 0 {
		var done context.CancelFunc
		timed, done = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer done()
	}
	e.mu.Lock()
	e.cancel = cancel
	e.mu.Unlock()
	stop := e.packets.watch(func() { cancel(errClientGone) })
	defer func() { // also where it panics
		stop()
		e.mu.Lock()
		e.cancel = nil
		e.mu.Unlock()
	}()
	err := do(timed)
	if err == nil {
		return nil
	}
	if errors.Is(context.Cause(timed), errClientGone) {
		return errSilent
	}
	return toWireError(timed, err) // while the context still knows why
}

// stop ends the statement that runs, if one does.
func (e *execution) stop(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(why)
	}
}

// checkUser makes sure that the user has not been revoked meanwhile.
func (e *execution) checkUser() error {
	ctx, done := context.WithTimeout(e.base, defaultMessageTimeout)
	defer done()
	err := e.users.CheckAgain(ctx, e.user)
	if users.Denied(err) {
		return fatal(adminShutdown, "your account was revoked, or its password was changed; ask the owner of the data")
	}
	if err != nil {
		return toWireError(ctx, admission.ErrUnchecked) // who cannot be checked is not let on
	}
	return nil
}

// executions are those that can be canceled, by the numbers that clients know them by.
type executions struct {
	mu     sync.Mutex
	random *entropy.Source
	byPID  map[uint32]*execution
}

func newExecutions() *executions {
	return &executions{random: entropy.New(), byPID: map[uint32]*execution{}}
}

// add gives an execution a number and a secret.
func (all *executions) add(e *execution) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for {
		pid := all.random.Uint32() >> 1 // clients take it for a signed number
		if _, taken := all.byPID[pid]; pid != 0 && !taken {
			e.pid, e.secret = pid, binary.BigEndian.AppendUint32(nil, all.random.Uint32())
			all.byPID[pid] = e
			return
		}
	}
}

func (all *executions) remove(e *execution) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byPID[e.pid] == e {
		delete(all.byPID, e.pid)
	}
}

// cancel stops a statement, for whoever knows the secret. Nobody is told whether there was one.
func (all *executions) cancel(pid uint32, secret []byte) {
	all.mu.Lock()
	e := all.byPID[pid]
	all.mu.Unlock()
	if e != nil && subtle.ConstantTimeCompare(e.secret, secret) == 1 {
		e.stop(errCanceled)
	}
}
