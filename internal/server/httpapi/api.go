package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/bytelimit"
	"github.com/discreet-dp/discreet/internal/server/clientaddr"
	"github.com/discreet-dp/discreet/internal/server/openid"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Options are what the door needs.
type Options struct {
	Dispatcher *admission.Dispatcher
	Users      *users.Store
	Log        *slog.Logger
	Version    string
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
	Held *bytelimit.Counter
	// Demo is told to who asks how to sign in.
	Demo bool
	// Trusted are the proxies whose headers say where a client is.
	Trusted clientaddr.Trusted
	// LoggedIn is told of a request whose sender came in; what it returns is called when the
	// request is over. It may be nil.
	LoggedIn func(context.Context) (over func())
	// Agent serves the Model Context Protocol at /mcp to a user who came in, or is nil. It is no
	// operation of this interface, and so none of its document.
	Agent func(http.ResponseWriter, *http.Request, users.User)
}

// door is the handler and what it remembers.
type door struct {
	Options
	routes  *routes
	api     huma.API
	metrics *metrics
	head    head
	past    past
	most    int           // of the records of the ledger that one request for receipts looks through
	audits  chan struct{} // holds one, so that one audit runs at a time

	verifying recheck[Verified]
	replaying recheck[Audit]

	vouching  chan struct{} // of strangers who come back from a provider
	unvouched few

	proxied sync.Once // somebody who is not trusted said for whom they connect

	mu    sync.Mutex
	names *entropy.Source
}

// New returns the handler of everything under / : /healthz, /readyz, /metrics, /openapi.json and
// /v1.
func New(o Options) http.Handler { return newDoor(o).handler() }

func newDoor(o Options) *door {
	configure()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Held == nil {
		o.Held = bytelimit.New(bytelimit.Usual)
	}
	if o.Version == "" {
		o.Version = "unknown"
	}
	o.Ends.Idle, o.Ends.Whole = cmp.Or(o.Ends.Idle, users.UsualEnds.Idle), cmp.Or(o.Ends.Whole, users.UsualEnds.Whole)
	d := &door{Options: o, routes: &routes{mux: http.NewServeMux()}, names: entropy.New(), audits: make(chan struct{}, 1), most: mostRead,
		vouching: make(chan struct{}, strangersVouched)}
	d.metrics = newMetrics(d)
	d.api = humago.New(d.routes, d.config())
	d.health()
	d.me()
	d.signIns()
	d.openIDs()
	d.tokens()
	d.people()
	d.userChanges()
	d.datasets()
	d.budgets()
	d.spendings()
	d.topUps()
	d.renewals()
	d.releases()
	d.questions()
	d.sessions()
	d.streams()
	d.holdouts()
	d.models()
	d.saved()
	d.receipts()
	d.ledger()
	d.audit()
	d.rechecks()
	d.policies()
	d.scrapes()
	d.documents()
	if o.Agent != nil {
		d.routes.mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) { o.Agent(w, r, note(r.Context()).user) })
	}
	return d
}

// handler puts the layers around the routes, from the outermost in: a name for the request and a
// net for panics, then who it is, then the body, then the way.
func (d *door) handler() http.Handler {
	return d.named(d.safe(d.let(d.read(d.way()))))
}

// name draws a name that nothing else has.
func (d *door) name() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names.Name()
}
