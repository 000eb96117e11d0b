package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/sandbox"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/openid"
	"github.com/discreet-dp/discreet/internal/server/users"
)

type Options struct {
	Dispatcher *admission.Dispatcher
	Users      *users.Store
	Log        *slog.Logger
	Version    string
	// Port is that of the listener for PostgreSQL clients; 0 where there is none.
	Port int
	// Ready says whether questions can be asked: nil, or why not in words for everybody.
	Ready func() error
	// Connections is how many wire connections there are, for the metrics.
	Connections func() int
	// Limits is how often each limit turned somebody away, for the metrics. It may be nil.
	Limits func() map[string]uint64
	// Secure says that browsers come over TLS, which a cookie is then bound to.
	Secure bool
	// Ends are when sessions of browsers end by themselves; the usual ones where it is left out.
	Ends users.Ends
	// OpenID is the provider that people sign in with, or nil.
	OpenID *openid.Provider
	// Held counts what is held for users, here and elsewhere; nil means one of its own.
	Held *clientlimits.Counter
	// Demo is told to who asks how to sign in.
	Demo bool
	// Trusted are the proxies whose headers say where a client is.
	Trusted clientlimits.Trusted
	// LoggedIn is told of a request whose sender came in; what it returns is called when the
	// request is over. It may be nil.
	LoggedIn func(context.Context) (over func())
	// Sandbox answers questions about people who do not exist; nil where there is none.
	Sandbox *sandbox.Sandbox
	// Notify is told what becomes of requests for more budget; nil where nobody is.
	Notify func(event any)
	// Agent serves the Model Context Protocol at /mcp to a user who came in, or is nil. It is no
	// operation of this interface, and so none of its document.
	Agent func(http.ResponseWriter, *http.Request, users.User)
}

// New returns the handler of everything under / : /healthz, /readyz, /metrics, /openapi.json and
// /v1.
func New(o Options) http.Handler { return newServer(o).layers.handler() }

// server is what all requests go through.
type server struct {
	router   *router
	layers   *layers
	handlers []handler
}

// handler serves the operations of one subject.
type handler interface {
	register(r *router)
}

func newServer(o Options) *server {
	configure()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Held == nil {
		o.Held = clientlimits.NewCounter(clientlimits.DefaultLimits)
	}
	if o.Version == "" {
		o.Version = "unknown"
	}
	o.Ends.Idle, o.Ends.Whole = cmp.Or(o.Ends.Idle, users.DefaultEnds.Idle), cmp.Or(o.Ends.Whole, users.DefaultEnds.Whole)
	metrics := newMetrics(o)
	auth := &authenticator{users: o.Users, metrics: metrics, secure: o.Secure, ends: o.Ends}
	names := &nameSource{source: entropy.New()}
	s := &server{router: newRouter(o.Version, auth.cookieName())}
	s.layers = &layers{router: s.router, auth: auth, dispatcher: o.Dispatcher, metrics: metrics, held: o.Held, log: o.Log, names: names,
		trusted: o.Trusted, onLogin: o.LoggedIn}
	s.handlers = handlers(o, auth, metrics, names)
	for _, h := range s.handlers {
		h.register(s.router)
	}
	if o.Agent != nil {
		s.router.mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) { o.Agent(w, r, infoOf(r.Context()).user) })
	}
	return s
}

// handlers are all subjects, in the order in which they are registered. An endpoint of a new
// subject is a type with a method register, and a line here.
func handlers(o Options, auth *authenticator, metrics *metrics, names *nameSource) []handler {
	history, head := &history{}, &head{}
	requests := &requestHandler{users: o.Users, dispatcher: o.Dispatcher, notify: o.Notify, recent: map[string][]time.Time{}}
	questions := &questionHandler{dispatcher: o.Dispatcher, names: names, sandbox: o.Sandbox}
	return []handler{
		&healthHandler{dispatcher: o.Dispatcher, ready: o.Ready},
		&signInHandler{auth: auth, users: o.Users, dispatcher: o.Dispatcher, provider: o.OpenID, demo: o.Demo},
		&openIDHandler{auth: auth, users: o.Users, provider: o.OpenID, metrics: metrics, log: o.Log, secure: o.Secure,
			strangers: make(chan struct{}, maxStrangersAtProvider)},
		&userHandler{users: o.Users, dispatcher: o.Dispatcher, log: o.Log},
		&datasetHandler{dispatcher: o.Dispatcher},
		&budgetHandler{dispatcher: o.Dispatcher, history: history},
		&ownerHandler{dispatcher: o.Dispatcher, history: history, requests: requests},
		requests,
		questions,
		&sessionHandler{dispatcher: o.Dispatcher, questions: questions},
		&streamHandler{dispatcher: o.Dispatcher},
		&holdoutHandler{dispatcher: o.Dispatcher},
		&modelHandler{dispatcher: o.Dispatcher, questions: questions},
		&savedHandler{users: o.Users, dispatcher: o.Dispatcher},
		&receiptHandler{dispatcher: o.Dispatcher, history: history, head: head, maxRead: maxRecordsRead},
		&ledgerHandler{dispatcher: o.Dispatcher, head: head},
		&auditHandler{dispatcher: o.Dispatcher, head: head, running: make(chan struct{}, 1)},
		&policyHandler{dispatcher: o.Dispatcher, history: history},
		&versionHandler{dispatcher: o.Dispatcher, version: o.Version, port: o.Port},
		metrics,
		documentHandler{}, // the last: it describes the others
	}
}

// nameSource draws names that nothing else has.
type nameSource struct {
	mu     sync.Mutex
	source *entropy.Source
}

func (n *nameSource) next() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.source.Name()
}

// router is a mux that knows what was put into it, so that a test can compare it with the document.
type router struct {
	mux      *http.ServeMux
	patterns []string
	api      huma.API
}

func newRouter(version, cookieName string) *router {
	r := &router{mux: http.NewServeMux()}
	r.api = humago.New(r, documentConfig(version, cookieName))
	return r
}

// HandleFunc and ServeHTTP are what the adapter wants.
func (r *router) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	r.patterns = append(r.patterns, pattern)
	r.mux.HandleFunc(pattern, h)
}

func (r *router) ServeHTTP(w http.ResponseWriter, q *http.Request) { r.mux.ServeHTTP(w, q) }

// For whom an operation is.
const (
	everybody = iota // without logging in
	anyUser
	ownerOnly
)

// operation is an operation as it is documented. Problems are the codes that it can answer beside
// those that all can.
func operation(whom int, method, at, id, summary, description string, problems ...int) huma.Operation {
	o := huma.Operation{
		OperationID: id, Method: method, Path: at, Summary: summary, Description: description,
		Errors: problems, BodyReadTimeout: -1, // the body was read before; see layers.readBody
		MaxBodyBytes: maxBodyBytes + 1, RejectUnknownQueryParameters: true,
		Metadata: map[string]any{"whom": whom},
	}
	if first, _, _ := strings.Cut(strings.TrimPrefix(at, "/v1/"), "/"); strings.HasPrefix(at, "/v1/") {
		o.Tags = []string{first}
	} else {
		o.Tags = []string{"operations"}
	}
	if whom == everybody {
		return o
	}
	o.Security = []map[string][]string{{"bearer": {}}, {"basic": {}}, {"cookie": {}}}
	o.Errors = append(o.Errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable,
		http.StatusUnprocessableEntity)
	if method == http.MethodPost || method == http.MethodPut {
		o.Errors = append(o.Errors, bodyProblems...)
	}
	return o
}

// bodyProblems are the codes with which a body can be wrong.
var bodyProblems = []int{http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
	http.StatusUnsupportedMediaType}

// register adds an operation for those who came in. Whatever goes wrong in it leaves as a problem.
func register[I, O any](r *router, o huma.Operation, do func(context.Context, users.User, *I) (*O, error)) {
	owners := o.Metadata["whom"] == ownerOnly
	huma.Register(r.api, o, func(ctx context.Context, in *I) (*O, error) {
		u := infoOf(ctx).user
		if owners && u.Role != users.Owner {
			return nil, errOwnerOnly()
		}
		out, err := do(ctx, u, in)
		if err != nil {
			return nil, ProblemOf(err)
		}
		return out, nil
	})
}

func errOwnerOnly() *Problem {
	return &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "this is for the owner of the data"}
}

// body is an answer with nothing but a body.
type body[T any] struct{ Body T }

func bodyOf[T any](v T) *body[T] { return &body[T]{v} }

// empty is an input or an output without anything in it.
type empty struct{}
