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
	Kind    string  `json:"kind" enum:"sparse,stream,holdout" doc:"sparse: up to 10,000 questions whether a number is at or above a threshold, at one price, until a set number were above. stream: any number of counting questions; only those that cannot be predicted from the others cost anything. holdout: scores that stay honest however often you try"`
	Dataset string  `json:"dataset,omitempty" maxLength:"64" doc:"You can leave it out if you have only one"`
	Epsilon decimal `json:"epsilon,omitempty" doc:"sparse: the price of the whole session, charged at once; the policy's default if you leave it out"`
	Request string  `json:"request,omitempty" pattern:"^[!-~]{1,63}$" doc:"The same as the header Idempotency-Key"`
	// Of stream and holdout.
	Name string `json:"name,omitempty" maxLength:"64" doc:"stream, holdout: the name of one of the dataset's; you can leave it out if there is only one"`
	// Of sparse.
	Above       int     `json:"above,omitempty" minimum:"1" maximum:"10000" doc:"sparse: how many questions can be answered above before the session ends; by default 1"`
	Values      bool    `json:"values,omitempty" doc:"sparse: return a noisy value with every above; half of the epsilon pays for that"`
	Step        decimal `json:"step,omitempty" doc:"sparse: the step between possible answers, in units; by default 1; use 0.01 for sums of cents"`
	Signed      bool    `json:"signed,omitempty" doc:"sparse: allow sums of values that can be negative, at the price of more noise"`
	Sensitivity int64   `json:"sensitivity,omitempty" minimum:"1" doc:"sparse: how far one person can change the answer to a question, in its units; by default 1, which is right for counts of people"`
}

// Session is an interactive mechanism that is open.
type Session struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind" enum:"sparse,stream,holdout"`
	Dataset string    `json:"dataset"`
	Name    string    `json:"name,omitempty" doc:"stream, holdout: the name of one of the dataset's"`
	Opened  time.Time `json:"opened"`
	Cost    dp.Cost   `json:"cost" doc:"What it cost. sparse: the full price, charged when it was opened. stream, holdout: the charges of this session's answers up to now"`
	Receipt *uint64   `json:"receipt,omitempty" doc:"sparse: the charge in the ledger, for GET /v1/receipts"`
	Left    *int      `json:"left,omitempty" doc:"sparse: how many more answers can be above. holdout: how many more can come from the holdout, as far as this session knows: the holdout is shared with others"`
}

type Sessions struct {
	Sessions []Session `json:"sessions"`
}

type newSessionInput struct {
	Key  string `header:"Idempotency-Key" pattern:"^[!-~]{1,63}$" doc:"A key for retries: with the same key the session is charged once"`
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
		"An interactive mechanism. A sparse session is charged in full at once, and ends with the server; the charge stays. Opening a "+
			"stream or a holdout charges nothing. What they know is kept: open them again, even after the server was restarted, and they "+
			"continue where they were.", questionProblems...)
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
	register(r, operation(anyUser, http.MethodGet, "/v1/sessions", "sessions", "Your sessions", "Your open sessions."),
		func(_ context.Context, u users.User, _ *empty) (*body[Sessions], error) {
			out := Sessions{[]Session{}}
			for _, s := range h.dispatcher.Sessions().List(u.Name) {
				out.Sessions = append(out.Sessions, sessionOf(s))
			}
			return bodyOf(out), nil
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/sessions/{id}", "session", "A session of yours",
		"Somebody else's looks the same as one that does not exist.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *sessionPath) (*body[Session], error) {
			s, err := h.dispatcher.Sessions().Find(u.Name, in.ID)
			if err != nil {
				return nil, err
			}
			return bodyOf(sessionOf(s)), nil
		})
	h.registerQuestions(r)
	register(r, operation(anyUser, http.MethodDelete, "/v1/sessions/{id}", "close-session", "Close a session of yours",
		"This refunds nothing.", http.StatusNotFound),
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
	Threshold decimal `json:"threshold,omitempty" doc:"sparse: asks whether the number is at or above this"`
	// Of stream.
	Where map[string][]string `json:"where,omitempty" maxProperties:"64" doc:"stream, instead of sql: for each attribute, the values to count, as GET /v1/datasets/{name}/streams lists them; an attribute that you leave out can have any value"`
	// Of holdout.
	Predictions []label `json:"predictions,omitempty" doc:"holdout with labels, instead of sql: one prediction for each label, in the order of the labels"`
	IDs         []label `json:"ids,omitempty" doc:"holdout whose labels have ids: the id that each prediction is for; then the order does not matter"`
	Training    decimal `json:"training,omitempty" doc:"holdout: the score on the training side, from 0 to 1; computed if you leave it out and the policy has the data for it"`
	Name        string  `json:"name,omitempty" maxLength:"64" doc:"holdout: its name on the leaderboard"`
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
		return nil, invalid("a question of a sparse session needs sql and threshold", "send both")
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
			invalid("a question of a stream has either sql or where", "send one of them; an empty where counts everybody")
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
		return nil, invalid("a holdout scores either predictions or sql", "send one of them")
	}
	asked := api.HoldoutQuestion{SQL: q.SQL, Predictions: labelTexts(q.Predictions), IDs: labelTexts(q.IDs),
		Training: string(q.Training), Name: q.Name}
	return at.AskHoldout(ctx, q.analyst, q.id, asked)
}

func (h *sessionHandler) registerQuestions(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/sessions/{id}/ask", "ask-session", "Ask a session",
		"A sparse session answers with one bit. A stream answers with a count, which is free if it could be predicted. A holdout answers "+
			"with a score. A stream or a holdout repeats earlier answers free, so you can send a question again without an "+
			"Idempotency-Key.", append(slices.Clone(questionProblems), http.StatusGone)...)
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
		"How it would be answered now, and the most it can cost. It is free, and the data is not read.", questionProblems...),
		func(ctx context.Context, u users.User, in *inquiryInput) (*body[api.StreamQuote], error) {
			s, err := h.sessionFor(u, in)
			if err != nil {
				return nil, err
			}
			if s.Kind != "stream" {
				return nil,
					invalid("only questions of a stream have a price of their own",
						"a new score of a holdout costs at most one round, which GET /v1/datasets/{name}/holdouts prices; the questions "+
							"of a sparse session were paid for when it was opened")
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
		return nil, invalid("the question is empty", "send sql; for a stream, sql or where; for a holdout, sql or predictions")
	}
	return h.dispatcher.Sessions().Find(u.Name, in.ID)
}
