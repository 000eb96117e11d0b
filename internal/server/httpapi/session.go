package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// NewSession opens a session. Each kind has fields of its own.
type NewSession struct {
	Kind    string  `json:"kind" enum:"sparse,stream,holdout" doc:"sparse: up to 10,000 questions whether a number is at or above a threshold, at one price, until so many were above. stream: any number of counting questions, of which only those cost something that cannot be predicted from the others. holdout: scores that stay honest however often one tries"`
	Dataset string  `json:"dataset,omitempty" maxLength:"64" doc:"May be left out where you have only one"`
	Epsilon decimal `json:"epsilon,omitempty" doc:"sparse: what the whole session costs, which is charged at once; the policy's default where it is left out"`
	Request string  `json:"request,omitempty" pattern:"^[!-~]{1,63}$" doc:"The same as the header Idempotency-Key"`
	// Of stream and holdout.
	Name string `json:"name,omitempty" maxLength:"64" doc:"stream, holdout: which of those that the policy gives to the dataset; may be left out where there is one"`
	// Of sparse.
	Above       int     `json:"above,omitempty" minimum:"1" maximum:"10000" doc:"sparse: how many questions may be answered above before the session ends; 1 where it is left out"`
	Values      bool    `json:"values,omitempty" doc:"sparse: a noisy value comes with every above, which half of the epsilon is for"`
	Step        decimal `json:"step,omitempty" doc:"sparse: the lattice of the answers, in units: 1 where it is left out, 0.01 for sums of cents"`
	Signed      bool    `json:"signed,omitempty" doc:"sparse: sums may be of values that can be negative, at the price of more noise"`
	Sensitivity int64   `json:"sensitivity,omitempty" minimum:"1" doc:"sparse: how far one person may move a question, in units of its answer; 1, which is for counts of people, where it is left out"`
}

// Session is an interactive mechanism that is open.
type Session struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind" enum:"sparse,stream,holdout"`
	Dataset string    `json:"dataset"`
	Name    string    `json:"name,omitempty" doc:"stream, holdout: which one of the dataset's"`
	Opened  time.Time `json:"opened"`
	Cost    dp.Cost   `json:"cost" doc:"What it cost. sparse: all of it when it was opened. stream, holdout: what the answers of this session charged so far"`
	Receipt *uint64   `json:"receipt,omitempty" doc:"sparse: the charge in the ledger, for GET /v1/receipts"`
	Left    *int      `json:"left,omitempty" doc:"sparse: how many more can be above. holdout: how many more can come from the holdout, as far as this session was told: it is shared with others"`
}

type Sessions struct {
	Sessions []Session `json:"sessions"`
}

type newSessionInput struct {
	Key  string `header:"Idempotency-Key" pattern:"^[!-~]{1,63}$" doc:"Names the charge for retries: with the same key it is charged once"`
	Body NewSession
}

type sessionPath struct {
	ID string `path:"id" maxLength:"128"`
}

// sessionOpeners are the kinds of sessions. Another kind is another line here, and fields in
// NewSession.
var sessionOpeners = map[string]func(context.Context, *admission.Sessions, sessionOpening) (*admission.Session, error){
	"sparse": openSparse, "stream": openStream, "holdout": openHoldout,
}

type sessionOpening struct {
	analyst, dataset, request string
	epsilon                   dp.Amount
	NewSession
}

func openSparse(ctx context.Context, at *admission.Sessions, o sessionOpening) (*admission.Session, error) {
	return at.OpenSparse(ctx, api.SparseQuestion{
		Dataset: o.dataset, Analyst: o.analyst, Epsilon: o.epsilon, Request: o.request,
		Above: max(1, o.Above), Values: o.Values, Sensitivity: max(1, o.Sensitivity), Step: string(o.Step), Signed: o.Signed,
	})
}

func openStream(ctx context.Context, at *admission.Sessions, o sessionOpening) (*admission.Session, error) {
	if err := o.unpriced("stream"); err != nil {
		return nil, err
	}
	return at.OpenStream(ctx, o.analyst, o.dataset, o.Name)
}

func openHoldout(ctx context.Context, at *admission.Sessions, o sessionOpening) (*admission.Session, error) {
	if err := o.unpriced("holdout"); err != nil {
		return nil, err
	}
	return at.OpenHoldout(ctx, o.analyst, o.dataset, o.Name)
}

// unpriced refuses what only a sparse session has: who sends a price thinks that it matters.
func (o sessionOpening) unpriced(kind string) error {
	if o.Epsilon != "" || o.Above != 0 || o.Values || o.Step != "" || o.Signed || o.Sensitivity != 0 {
		return invalid("the policy says what a "+kind+" costs and how exact it is", "send kind, dataset and name only")
	}
	return nil
}

type sessionHandler struct {
	dispatcher *admission.Dispatcher
	questions  *questionHandler
}

func (h *sessionHandler) register(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/sessions", "open-session", "Open a session",
		"An interactive mechanism. sparse is charged for in full at once, and ends with the server; what it cost stays. Opening a stream "+
			"or a holdout charges nothing. What these know is kept: opened again, also after the server was restarted, they go on "+
			"where they were.", questionProblems...)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *newSessionInput) (*body[Session], error) {
		q, key, err := h.questions.read(u,
			&questionInput{in.Key, Question{Dataset: in.Body.Dataset, Epsilon: in.Body.Epsilon, Request: in.Body.Request}})
		if err != nil {
			return nil, err
		}
		s, err := sessionOpeners[in.Body.Kind](ctx, h.dispatcher.Sessions(),
			sessionOpening{u.Name, q.Dataset, q.Request, q.Epsilon, in.Body})
		if err != nil {
			return nil, ProblemWithRequest(err, key)
		}
		return bodyOf(sessionOf(s)), nil
	})
	register(r, operation(anyUser, http.MethodGet, "/v1/sessions", "sessions", "Your sessions", "Those that are open."),
		func(_ context.Context, u users.User, _ *empty) (*body[Sessions], error) {
			out := Sessions{[]Session{}}
			for _, s := range h.dispatcher.Sessions().List(u.Name) {
				out.Sessions = append(out.Sessions, sessionOf(s))
			}
			return bodyOf(out), nil
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/sessions/{id}", "session", "A session of yours",
		"There is no difference between another's and one that does not exist.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *sessionPath) (*body[Session], error) {
			s, err := h.dispatcher.Sessions().Find(u.Name, in.ID)
			if err != nil {
				return nil, err
			}
			return bodyOf(sessionOf(s)), nil
		})
	h.registerQuestions(r)
	register(r, operation(anyUser, http.MethodDelete, "/v1/sessions/{id}", "close-session", "Close a session of yours",
		"It gives nothing back.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *sessionPath) (*empty, error) {
			return nil, h.dispatcher.Sessions().Close(u.Name, in.ID)
		})
}

func sessionOf(s *admission.Session) Session {
	out := Session{ID: s.ID, Kind: s.Kind, Dataset: s.Dataset, Name: s.Name, Opened: s.Opened.UTC(), Cost: s.Cost()}
	if s.Sparse != nil {
		out.Receipt = new(s.Sparse.Receipt().Sequence)
	}
	if left := s.Left(); left >= 0 {
		out.Left = new(left)
	}
	return out
}

// SessionQuestion is one question of a session. Each kind has fields of its own.
type SessionQuestion struct {
	SQL string `json:"sql,omitempty" doc:"sparse: one SELECT with one number. stream: a condition, such as sex = 'F' AND age >= 30, or a SELECT COUNT(*) with it. holdout: an expression with values from 0 to 1"`
	// Of sparse.
	Threshold decimal `json:"threshold,omitempty" doc:"sparse: whether the number is at or above this"`
	// Of stream.
	Where map[string][]string `json:"where,omitempty" maxProperties:"64" doc:"stream, instead of sql: for each attribute the values to count, as GET /v1/datasets/{name}/streams lists them; attributes that are left out may have any"`
	// Of holdout.
	Predictions []label `json:"predictions,omitempty" doc:"holdout with labels, instead of sql: one prediction for each label, in the order of the labels"`
	IDs         []label `json:"ids,omitempty" doc:"holdout whose labels have ids: whom each prediction is about; then the order does not matter"`
	Training    decimal `json:"training,omitempty" doc:"holdout: the score on the training side, from 0 to 1; computed where it is left out and the policy has the data for it"`
	Name        string  `json:"name,omitempty" maxLength:"64" doc:"holdout: what to call it on the board"`
}

// label is a prediction: a text, a number or a truth, as it was written.
type label string

func (l *label) UnmarshalJSON(b []byte) error {
	if text := string(b); text == "true" || text == "false" {
		*l = label(text)
		return nil
	}
	return (*decimal)(l).UnmarshalJSON(b)
}

func (label) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString, MaxLength: new(1024)}, {Type: huma.TypeNumber},
		{Type: huma.TypeBoolean}}}
}

func labelTexts(labels []label) (out []string) {
	for _, l := range labels {
		out = append(out, string(l))
	}
	return out
}

type inquiryInput struct {
	ID   string `path:"id" maxLength:"128"`
	Body SessionQuestion
}

// sessionAskers are the kinds of sessions, with how each is asked.
var sessionAskers = map[string]func(context.Context, *admission.Sessions, sessionInquiry) (any, error){
	"sparse": askSparse, "stream": askStream, "holdout": askHoldout,
}

// sessionInquiry is a question to a session.
type sessionInquiry struct {
	analyst, id string
	SessionQuestion
}

func askSparse(ctx context.Context, at *admission.Sessions, q sessionInquiry) (any, error) {
	switch {
	case q.Where != nil || q.Predictions != nil || q.IDs != nil || q.Training != "" || q.Name != "":
		return nil, invalid("this session is sparse", "send sql and threshold only")
	case q.SQL == "" || q.Threshold == "":
		return nil, invalid("a question of a sparse session has sql and threshold", "send both of them")
	}
	return at.AskSparse(ctx, q.analyst, q.id, q.SQL, string(q.Threshold))
}

// stream returns the question of a stream.
func (q sessionInquiry) stream() (api.StreamQuestion, error) {
	switch {
	case q.Threshold != "" || q.Predictions != nil || q.IDs != nil || q.Training != "" || q.Name != "":
		return api.StreamQuestion{}, invalid("this session is on a stream", "send sql or where only")
	case (q.SQL == "") == (q.Where == nil):
		return api.StreamQuestion{},
			invalid("a question of a stream is either sql or where", "send one of them; an empty where counts everybody")
	}
	return api.StreamQuestion{SQL: q.SQL, Where: q.Where}, nil
}

func askStream(ctx context.Context, at *admission.Sessions, q sessionInquiry) (any, error) {
	asked, err := q.stream()
	if err != nil {
		return nil, err
	}
	return at.AskStream(ctx, q.analyst, q.id, asked)
}

func askHoldout(ctx context.Context, at *admission.Sessions, q sessionInquiry) (any, error) {
	switch {
	case q.Threshold != "" || q.Where != nil:
		return nil, invalid("this session is on a holdout", "send predictions or sql, training and name only")
	case (q.SQL == "") == (q.Predictions == nil):
		return nil, invalid("what a holdout scores is either predictions or sql", "send one of them")
	}
	asked := api.HoldoutQuestion{SQL: q.SQL, Predictions: labelTexts(q.Predictions), IDs: labelTexts(q.IDs),
		Training: string(q.Training), Name: q.Name}
	return at.AskHoldout(ctx, q.analyst, q.id, asked)
}

func (h *sessionHandler) registerQuestions(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/sessions/{id}/ask", "ask-session", "Ask a session",
		"sparse answers with one bit. A stream answers with a count, which is free where it could be predicted. A holdout answers with a "+
			"score. What a stream or a holdout was asked before has the same answer again, free, so a question can be sent again without "+
			"an Idempotency-Key.", append(slices.Clone(questionProblems), http.StatusGone)...)
	setContent(&o, http.StatusOK,
		map[string]*huma.Schema{mediaJSON: {AnyOf: []*huma.Schema{schema[api.SparseVerdict](r), schema[api.StreamAnswer](r),
			schema[api.HoldoutAnswer](r)}}})
	register(r, o, func(ctx context.Context, u users.User, in *inquiryInput) (*streamedBody, error) {
		s, err := h.sessionFor(u, in)
		if err != nil {
			return nil, err
		}
		a, err := sessionAskers[s.Kind](ctx, h.dispatcher.Sessions(), sessionInquiry{u.Name, in.ID, in.Body})
		if err != nil {
			return nil, err
		}
		return &streamedBody{func(c huma.Context) { writeJSON(c, a) }}, nil
	})
	register(r, operation(anyUser, http.MethodPost, "/v1/sessions/{id}/explain", "explain-session", "Price a question of a stream",
		"How it would be answered now and the most that it can cost. It is free, and the data is not looked at.", questionProblems...),
		func(ctx context.Context, u users.User, in *inquiryInput) (*body[api.StreamQuote], error) {
			s, err := h.sessionFor(u, in)
			if err != nil {
				return nil, err
			}
			if s.Kind != "stream" {
				return nil,
					invalid("questions of a session have a price of their own on streams only",
						"a new score of a holdout costs at most one round, which GET /v1/datasets/{name}/holdouts prices; that of a "+
							"sparse session was paid for when it was opened")
			}
			q, err := sessionInquiry{u.Name, in.ID, in.Body}.stream()
			if err != nil {
				return nil, err
			}
			x, err := h.dispatcher.Sessions().QuoteStream(ctx, u.Name, in.ID, q)
			if err != nil {
				return nil, err
			}
			return bodyOf(*x), nil
		})
}

// sessionFor finds the session of a question that asks something.
func (h *sessionHandler) sessionFor(u users.User, in *inquiryInput) (*admission.Session, error) {
	if b := in.Body; b.SQL == "" && b.Where == nil && b.Predictions == nil {
		return nil, invalid("nothing is asked", "send sql; for a stream, sql or where; for a holdout, sql or predictions")
	}
	return h.dispatcher.Sessions().Find(u.Name, in.ID)
}
