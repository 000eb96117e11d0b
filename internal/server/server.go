package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/sandbox"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/agent"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/internal/server/manual"
	"github.com/discreet-dp/discreet/internal/server/openid"
	"github.com/discreet-dp/discreet/internal/server/pgwire"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/server/web"
	"github.com/discreet-dp/discreet/policy"
)

// Server is an open policy with its listeners. Its methods are safe for concurrent use.
type Server struct {
	config      Config
	db          *discreet.DB
	users       *users.Store
	dispatcher  *admission.Dispatcher
	ticks       atomic.Pointer[map[string]time.Duration] // nil until the data is open
	certificate *certificate                             // nil without TLS
	begun       chan struct{}                            // closed when Begin is done

	wire, web net.Listener // nil where there is no such listener
	pg        *pgwire.Server
	sandbox   *sandbox.Sandbox
	http      *http.Server
	cut       context.CancelFunc    // interrupts requests
	held      *clientlimits.Counter // what the listeners hold for users
	slots     *clientlimits.Slots   // of the HTTP listener
	requests  *clientlimits.Requests

	ending atomic.Bool
	end    sync.Mutex // held by Shutdown
	closed bool
}

// ErrNoUsers: nobody could come in.
var ErrNoUsers = errors.New("nobody can log in yet")

// Open opens everything, the data too, and answers nobody before Serve.
func Open(ctx context.Context, c Config) (*Server, error) {
	s, err := Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := s.OpenData(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// OpenData opens the data, and then lets questions in. Call it once. Where it fails, Shutdown.
func (s *Server) OpenData(ctx context.Context) error {
	if err := s.db.Warm(ctx); err != nil {
		return err
	}
	ticks, err := Ticks(ctx, s.db)
	if err != nil {
		return err
	}
	s.ticks.Store(&ticks)
	s.dispatcher.Opened(ticks)
	return nil
}

// Begin opens everything but the data: the policy, the users, the ledger and the listeners. Whoever
// comes in before [Server.OpenData] is done sees the catalogue, and questions wait.
func Begin(ctx context.Context, c Config) (s *Server, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s = &Server{config: c, begun: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()
	p, err := s.readPolicy(policy.Load)
	if err != nil {
		return s, err
	}
	if err := s.listen(); err != nil {
		return s, err
	}
	if s.config.Users == "" {
		s.config.Users = users.Beside(p.Ledger)
	}
	if s.users, err = s.openUsers(s.config.Users); err != nil {
		return s, err
	}
	how := []discreet.Option{discreet.WithPolicy(p), discreet.WithMemory(c.Memory), discreet.WithThreads(c.Threads),
		discreet.WithIncidents(s.incident), discreet.WithProgress(s.progress()), discreet.WithOwnerSocket(),
		discreet.WithReload(func() (*policy.Policy, error) { return s.readPolicy(policy.LoadAgain) }, s.reloaded)}
	if !users.InDatabase(p.Ledger) {
		how = append(how, discreet.WithUnderway(p.Ledger+".underway"))
	}
	if c.FullCheck {
		how = append(how, discreet.WithFullCheck())
	}
	if s.db, err = discreet.Open(ctx, "", how...); err != nil {
		return s, err
	}
	s.dispatcher = admission.New(s.db,
		admission.Options{Running: c.Running, Waiting: c.Waiting, Timeout: c.Timeout, Rate: c.Rate, Patience: c.Patience, Log: c.Log,
			Texts: c.Texts, Opening: true})
	s.makeListeners()
	close(s.begun)
	return s, nil
}

// incident tells the owner of a question that failed after its charge. What the engine said about
// it is nowhere.
func (s *Server) incident(i api.Incident) {
	if s.config.Log == nil {
		return
	}
	s.config.Log.Error("incident", "dataset", i.Dataset, "analyst", i.Analyst, "failure", string(i.Failure), "charge", i.Charge,
		"closed", i.Closed)
}

func (s *Server) listen() (err error) {
	c := s.config
	if c.Certificate != "" {
		if s.certificate, err = openCertificate(c.Certificate, c.Key, c.Log); err != nil {
			return err
		}
	}
	s.web = c.Web
	for _, at := range []struct {
		address  string
		listener *net.Listener
	}{{c.Listen, &s.wire}, {c.HTTP, &s.web}} {
		if at.address == "" {
			continue
		}
		l, err := listen(at.address, s.certificate != nil || c.Plaintext)
		if err != nil {
			return err
		}
		*at.listener = l
	}
	return nil
}

// openUsers opens the users, who have to be there: a server that nobody can come in to is a
// mistake.
func (s *Server) openUsers(where string) (*users.Store, error) {
	store, err := users.Find(where)
	if errors.Is(err, users.ErrNone) {
		return nil, fmt.Errorf("%w: there are no users at %s; add them with 'discreet user add'", ErrNoUsers, where)
	}
	if err != nil {
		return nil, err
	}
	store.Tell(func(err error) {
		if s.config.Log != nil {
			s.config.Log.Error("users", "error", err)
		}
	})
	all, err := store.List(context.Background())
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: there are no users in %s; add one with 'discreet user add'", ErrNoUsers, where)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// maxHeadBytes is what the head of a request may have: ours have some hundred bytes. net/http takes
// 4 KiB more.
const maxHeadBytes = 8 << 10

// maxFirstBytes is what a stranger can send before the head of a first request is complete: a
// handshake, and the head itself.
const maxFirstBytes = maxHeadBytes + 16<<10

// liftFirstLimit takes the limit of a connection away when its first request is there, of which the
// rest is read after a login. It is a hook of http.Server.
func liftFirstLimit(c net.Conn, state http.ConnState) {
	if state != http.StateActive {
		return
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if limited, ok := c.(interface{ Widen() }); ok {
		limited.Widen()
	}
}

func (s *Server) makeListeners() {
	c := s.config
	var encrypted *tls.Config
	if s.certificate != nil {
		encrypted = s.certificate.config()
	}
	s.held = clientlimits.NewCounter(clientlimits.DefaultLimits)
	s.slots = &clientlimits.Slots{Most: c.Connections, PerAddress: c.perAddress()}
	s.requests = &clientlimits.Requests{Most: 2 * c.Connections, From: s.addressOf}
	s.pg = pgwire.New(pgwire.Options{Dispatcher: s.dispatcher, Users: s.users, TLS: encrypted, Log: c.Log, Version: c.Version,
		Connections: c.Connections, PerAddress: c.perAddress(), Held: s.held})
	var provider *openid.Provider
	if c.OpenID.Issuer != "" {
		provider, _ = openid.New(c.OpenID) // which was checked
	}
	s.sandbox = sandbox.New(s.db.Policy())
	base, cut := context.WithCancel(context.Background())
	s.cut = cut
	patience := cmp.Or(c.patience, clientlimits.UnreadTimeout)
	port := 0
	if a, ok := s.WireAddr().(*net.TCPAddr); ok {
		port = a.Port
	}
	var notify func(event any)
	if n := newNotifier(c.Notify, c.Log); n != nil {
		notify = n.add
		go n.run(base)
	}
	handler := httpapi.New(httpapi.Options{Port: port, Notify: notify,
		Dispatcher: s.dispatcher, Users: s.users, Log: c.Log, Version: c.Version,
		Ready:       s.Ready,
		Connections: s.pg.Connections, Limits: s.turnedAway, Secure: encrypted != nil || c.Plaintext, Ends: c.Ends, OpenID: provider,
		Demo: c.Demo, Agent: agent.New(s.dispatcher, s.sandbox, c.Version).Serve, Sandbox: s.sandbox,
		Held: s.held, Trusted: c.trusted, LoggedIn: loggedIn})
	s.http = &http.Server{
		Handler:           clientlimits.LimitUnread(s.requests.Limit(manual.Handler(web.Handler(handler))), patience, s.held),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeadBytes,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 64 << 10,
			MaxReceiveBufferPerStream: 64 << 10, WriteByteTimeout: patience},
		ConnState:   liftFirstLimit,
		ConnContext: clientlimits.WithSlot,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug), // garbage that strangers send
	}
	if encrypted != nil {
		s.http.TLSConfig = encrypted.Clone()
	}
}

// loggedIn notes that somebody logged in with a request.
func loggedIn(ctx context.Context) (over func()) {
	clientlimits.LoggedIn(ctx)
	return clientlimits.HoldSlot(ctx)
}

// addressOf says where the client of a request is, and whether somebody logged in from there
// before.
func (s *Server) addressOf(r *http.Request) (address string, familiar bool) {
	address, err := s.config.trusted.OfRequest(r)
	if err != nil {
		address = clientlimits.Host(r.RemoteAddr) // which is told that nobody knows
	}
	return clientlimits.Block(address), s.users.Familiar(address)
}

// turnedAway is how often each limit turned somebody away.
func (s *Server) turnedAway() map[string]uint64 {
	held, wire, webLimits := s.held.TurnedAway(), s.pg.TurnedAway(), s.slots.TurnedAway()
	return map[string]uint64{"memory_user": held.User, "memory_server": held.Server, "unread": held.Unread,
		"wire_full": wire.Full, "wire_address": wire.Address, "wire_made_room": wire.MadeRoom, "wire_user": s.pg.UsersTurnedAway(),
		"http_full": webLimits.Full, "http_address": webLimits.Address, "http_made_room": webLimits.MadeRoom,
		"http_requests": s.requests.TurnedAway(), "guesses": s.users.LockedOut()}
}

// limitConnections limits the connections of the HTTP listener. Those of a proxy that speaks HTTP
// are of many people.
func (s *Server) limitConnections(l net.Listener) net.Listener {
	return &clientlimits.Listener{Listener: l, MaxFirstBytes: maxFirstBytes,
		Slots: s.slots,
		Newcomer: func(a net.Addr) clientlimits.Newcomer {
			address := clientlimits.Host(a.String())
			proxy := s.config.trusted.Has(address)
			return clientlimits.Newcomer{Address: clientlimits.Block(address), Familiar: proxy || s.users.Familiar(address), Proxy: proxy}
		}}
}

// WireAddr and HTTPAddr are the addresses that were taken, or nil.
func (s *Server) WireAddr() net.Addr { return addr(s.wire) }
func (s *Server) HTTPAddr() net.Addr { return addr(s.web) }

func addr(l net.Listener) net.Addr {
	if l == nil {
		return nil
	}
	return l.Addr()
}

// Encrypted says whether the listeners speak TLS.
func (s *Server) Encrypted() bool { return s.certificate != nil }

func (s *Server) Policy() *policy.Policy { return s.db.Policy() }

var (
	errEnding  = errors.New("the server is shutting down")
	errStopped = errors.New("the ledger has stopped")
)

// Ready says whether questions can be asked: nil, or why not.
func (s *Server) Ready() error {
	if s.ending.Load() {
		return errEnding
	}
	if s.dispatcher.Opening() {
		return admission.ErrOpening
	}
	if s.dispatcher.Stopped() {
		return errStopped
	}
	return nil
}

// ReloadCertificate reads the certificate again. An error leaves the last one in use.
func (s *Server) ReloadCertificate() error {
	if s.certificate == nil {
		return nil
	}
	return s.certificate.reload()
}

// Serve answers until Shutdown, and then returns nil; or until a listener fails, and then returns
// why. Shutdown is called in both cases.
func (s *Server) Serve() error {
	failed := make(chan error, 2)
	open := 0
	if s.wire != nil {
		open++
		go func() { failed <- s.pg.Serve(clientlimits.TrustProxies(s.wire, s.config.trusted)) }()
	}
	if s.web != nil {
		open++
		go func() {
			l := s.limitConnections(clientlimits.TrustProxies(s.web, s.config.trusted))
			var err error
			if s.http.TLSConfig != nil {
				err = s.http.ServeTLS(l, "", "")
			} else {
				err = s.http.Serve(l)
			}
			failed <- err
		}()
	}
	for range open {
		if err := <-failed; !s.ending.Load() {
			return fmt.Errorf("a listener no longer accepts connections: %w", errors.Join(err, errUnexpected))
		}
	}
	return nil
}

var errUnexpected = errors.New("it closed by itself")
