package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// metrics are numbers for those who watch the server. Often they are not those who may see the
// data, and what they see is kept for long, so none of them may depend on it:
//
//   - who sends what to which address, and who logs in, is decided by the clients;
//   - what came of a question is counted as the text, the policy or the ledger decides it, before
//     the engine is asked;
//   - whom a limit turns away is decided by who connects, logs in and reads what is sent to them, and
//     by the size of answers that were released;
//   - what is spent follows from these, and how many sessions are open from these and from answers
//     that were released.
//
// The one exception is incidents: whether a question fails can depend on the data, and the owner
// has to know. Those that are counted are those that an analyst was told of, so they are no more
// than the policy bears between two releases, and whoever watches learns no more than the analyst
// did.
//
// There are no durations, no sizes, no rows, no other failures of the engine and no status codes:
// all of them can differ between two databases that differ in one person. So there is no count of
// answers either: less than the questions that were admitted, it would be the failures and those
// that take long. How many run or wait at this moment says how long they take. Nothing is here
// about memory, garbage or processor time, so the registry is our own and not the one that comes
// with these.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	logins   *prometheus.CounterVec
}

func newMetrics(o Options) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_http_requests_total",
			Help: "HTTP requests by users, by route."}, []string{"route"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_http_logins_total",
			Help: "HTTP requests with credentials, by outcome: in, denied or locked."}, []string{"outcome"}),
	}
	m.registry.MustRegister(m.requests, m.logins, &serverState{o.Version, o.Connections, o.Limits, o.Dispatcher})
	return m
}

func (m *metrics) request(pattern string) { m.requests.WithLabelValues(pattern).Inc() }
func (m *metrics) login(outcome string)   { m.logins.WithLabelValues(outcome).Inc() }

// serverState reads what others count when somebody looks.
type serverState struct {
	version     string
	connections func() int               // or nil
	limits      func() map[string]uint64 // or nil
	dispatcher  *admission.Dispatcher    // or nil
}

var (
	infoDesc      = prometheus.NewDesc("discreet_info", "The version of the server.", []string{"version"}, nil)
	questionsDesc = prometheus.NewDesc("discreet_questions_total", "Questions received.", nil, nil)
	declinedDesc  = prometheus.NewDesc("discreet_questions_declined_total",
		"Questions that were not answered, by reason: refused because of the text, disputed because two checks of it disagree, exhausted "+
			"because of the budget, closed because of incidents, limited because there were too many.", []string{"outcome"}, nil)
	sessionsDesc    = prometheus.NewDesc("discreet_sessions", "Open sessions of interactive mechanisms.", nil, nil)
	connectionsDesc = prometheus.NewDesc("discreet_wire_connections", "Open connections of PostgreSQL clients.", nil, nil)
	turnedAwayDesc  = prometheus.NewDesc("discreet_turned_away_total",
		"How often a limit turned somebody away. wire_full, http_full: no connection was free. wire_address, http_address: their address "+
			"had too many. wire_made_room, http_made_room: a connection that nobody had logged in on made room for a newcomer. "+
			"wire_user: the user had too many. http_requests: HTTP/2 requests. memory_user, memory_server: too much was held for the "+
			"user, or for all. unread: a client read nothing. guesses: at passwords.",
		[]string{"limit"}, nil)
	spentRatioDesc = prometheus.NewDesc("discreet_budget_spent_ratio", "The part of its limit that an account has spent, from 0 to 1.",
		[]string{"dataset", "account", "kind"}, nil)
	incidentsDesc = prometheus.NewDesc("discreet_incidents",
		"Questions that failed after they were charged and that the owner has not released.",
		[]string{"dataset"}, nil)
	closedDesc = prometheus.NewDesc("discreet_closed", "1 if incidents stop a dataset from giving anybody new answers, otherwise 0.",
		[]string{"dataset"}, nil)
	shutOutDesc = prometheus.NewDesc("discreet_analysts_shut_out",
		"How many analysts get no new answers from a dataset because of their own incidents.", []string{"dataset"}, nil)
	spentDesc = prometheus.NewDesc("discreet_budget_spent", "What an account has spent, in each claim that it adds up.",
		[]string{"dataset", "account", "kind", "claim"}, nil)
)

func (s *serverState) Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{infoDesc, questionsDesc, declinedDesc, sessionsDesc, connectionsDesc, turnedAwayDesc,
		incidentsDesc, closedDesc, shutOutDesc, spentRatioDesc, spentDesc} {
		c <- d
	}
}

func (s *serverState) Collect(c chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v uint64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge(infoDesc, 1, s.version)
	if s.connections != nil {
		gauge(connectionsDesc, float64(s.connections()))
	}
	if s.limits != nil {
		for name, n := range s.limits() {
			count(turnedAwayDesc, n, name)
		}
	}
	if s.dispatcher == nil {
		return
	}
	n := s.dispatcher.Stats()
	count(questionsDesc, n.Questions)
	for name, v := range declined(n) {
		count(declinedDesc, v, name)
	}
	gauge(sessionsDesc, float64(n.Sessions))
	db := s.dispatcher.DB()
	for _, name := range db.Policy().Names() {
		if lockout, err := db.Lockout(context.Background(), name, ""); err == nil {
			gauge(incidentsDesc, float64(lockout.Incidents), name)
			gauge(shutOutDesc, float64(lockout.ShutOut), name)
			closed := 0.0
			if lockout.Closed {
				closed = 1
			}
			gauge(closedDesc, closed, name)
		}
		accounts, err := db.Budget(context.Background(), name)
		if err != nil {
			continue // the ledger says so at its own place
		}
		for _, a := range accounts {
			gauge(spentRatioDesc, a.Part, name, a.Name, a.Kind)
			for claim, amounts := range map[string][2]dp.Amount{"epsilon": {a.Limit.Epsilon, a.Spent.Epsilon},
				"rho": {a.Limit.Rho, a.Spent.Rho}, "delta": {a.Limit.Delta, a.Spent.Delta}} {
				if amounts[0] != dp.Unbounded {
					gauge(spentDesc, amounts[1].Float(), name, a.Name, a.Kind, claim)
				}
			}
		}
	}
}

func declined(n admission.Stats) map[string]uint64 {
	return map[string]uint64{"refused": n.Refused, "disputed": n.Disputed, "exhausted": n.Exhausted, "closed": n.Closed,
		"limited": n.Limited}
}

func (m *metrics) register(r *router) {
	h := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{DisableCompression: true, ErrorHandling: promhttp.ContinueOnError})
	o := operation(ownerOnly, http.MethodGet, "/metrics", "metrics", "Numbers for Prometheus",
		"For the owner. None of them depends on the data.")
	setContent(&o, http.StatusOK, map[string]*huma.Schema{"text/plain": {Type: huma.TypeString}})
	register(r, o, func(context.Context, users.User, *empty) (*streamedBody, error) {
		return &streamedBody{func(c huma.Context) {
			r, w := humago.Unwrap(c)
			h.ServeHTTP(w, r)
		}}, nil
	})
}

// Health is what everybody may know.
type Health struct {
	Status string `json:"status" enum:"ok,not ready"`
	Reason string `json:"reason,omitempty" doc:"What the server is waiting for, or why it is ending: the data, the ledger, or the shutdown"`
}

type healthAnswer struct {
	Status int
	Body   Health
}

// healthHandler tells everybody whether the server runs.
type healthHandler struct {
	dispatcher *admission.Dispatcher // nil where there are no questions
	ready      func() error          // or nil
}

// register adds the two addresses that need no user. They say yes or no, and what is waited for, in
// words that are the same whatever data and ledger there are.
func (h *healthHandler) register(r *router) {
	registerCheck(r, operation(everybody, http.MethodGet, "/healthz", "alive", "Whether the server is running",
		"For a supervisor that restarts it: 503 once its ledger has stopped."), func() error {
		if h.dispatcher != nil && h.dispatcher.Stopped() {
			return errStopped
		}
		return nil
	})
	registerCheck(r, operation(everybody, http.MethodGet, "/readyz", "ready", "Whether you can ask questions",
		"For a load balancer."),
		func() error {
			if h.ready == nil {
				return nil
			}
			return h.ready()
		})
}

// errStopped is said of a server that has to be started again.
var errStopped = errors.New("the ledger has stopped")

// registerCheck answers with yes, or with why not.
func registerCheck(r *router, o huma.Operation, well func() error) {
	o.Responses = map[string]*huma.Response{"503": {Description: "Not ready",
		Content: map[string]*huma.MediaType{mediaJSON: {Schema: schema[Health](r)}}}}
	huma.Register(r.api, o, func(context.Context, *empty) (*healthAnswer, error) {
		if err := well(); err != nil {
			return &healthAnswer{http.StatusServiceUnavailable, Health{"not ready", err.Error()}}, nil
		}
		return &healthAnswer{http.StatusOK, Health{Status: "ok"}}, nil
	})
}
