package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

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

// UnmarshalJSON implements [json.Unmarshaler].
func (l *label) UnmarshalJSON(b []byte) error {
	if text := string(b); text == "true" || text == "false" {
		*l = label(text)
		return nil
	}
	return (*decimal)(l).UnmarshalJSON(b)
}

// Schema implements [huma.SchemaProvider].
func (label) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString, MaxLength: new(1024)}, {Type: huma.TypeNumber},
		{Type: huma.TypeBoolean}}}
}

func texts(labels []label) (out []string) {
	for _, l := range labels {
		out = append(out, string(l))
	}
	return out
}

type inquiryInput struct {
	ID   string `path:"id" maxLength:"128"`
	Body SessionQuestion
}

// answering are the kinds of sessions, with how each is asked.
var answering = map[string]func(context.Context, *admission.Dispatcher, inquiry) (any, error){
	"sparse": askSparse, "stream": askStream, "holdout": askHoldout,
}

// inquiry is a question to a session.
type inquiry struct {
	analyst, id string
	SessionQuestion
}

func askSparse(ctx context.Context, at *admission.Dispatcher, q inquiry) (any, error) {
	switch {
	case q.Where != nil || q.Predictions != nil || q.IDs != nil || q.Training != "" || q.Name != "":
		return nil, invalid("this session is sparse", "send sql and threshold only")
	case q.SQL == "" || q.Threshold == "":
		return nil, invalid("a question of a sparse session has sql and threshold", "send both of them")
	}
	return at.AskSparse(ctx, q.analyst, q.id, q.SQL, string(q.Threshold))
}

// stream returns the question of a stream.
func (q inquiry) stream() (api.StreamQuestion, error) {
	switch {
	case q.Threshold != "" || q.Predictions != nil || q.IDs != nil || q.Training != "" || q.Name != "":
		return api.StreamQuestion{}, invalid("this session is on a stream", "send sql or where only")
	case (q.SQL == "") == (q.Where == nil):
		return api.StreamQuestion{},
			invalid("a question of a stream is either sql or where", "send one of them; an empty where counts everybody")
	}
	return api.StreamQuestion{SQL: q.SQL, Where: q.Where}, nil
}

func askStream(ctx context.Context, at *admission.Dispatcher, q inquiry) (any, error) {
	asked, err := q.stream()
	if err != nil {
		return nil, err
	}
	return at.AskStream(ctx, q.analyst, q.id, asked)
}

func askHoldout(ctx context.Context, at *admission.Dispatcher, q inquiry) (any, error) {
	switch {
	case q.Threshold != "" || q.Where != nil:
		return nil, invalid("this session is on a holdout", "send predictions or sql, training and name only")
	case (q.SQL == "") == (q.Predictions == nil):
		return nil, invalid("what a holdout scores is either predictions or sql", "send one of them")
	}
	asked := api.HoldoutQuestion{SQL: q.SQL, Predictions: texts(q.Predictions), IDs: texts(q.IDs),
		Training: string(q.Training), Name: q.Name}
	return at.AskHoldout(ctx, q.analyst, q.id, asked)
}

func (d *door) inquiries() {
	o := operation(anyUser, http.MethodPost, "/v1/sessions/{id}/ask", "ask-session", "Ask a session",
		"sparse answers with one bit. A stream answers with a count, which is free where it could be predicted. A holdout answers with a "+
			"score. What a stream or a holdout was asked before has the same answer again, free, so a question can be sent again without "+
			"an Idempotency-Key.", append(slices.Clone(asking), http.StatusGone)...)
	content(&o, http.StatusOK,
		map[string]*huma.Schema{mediaJSON: {AnyOf: []*huma.Schema{schema[api.SparseVerdict](d), schema[api.StreamAnswer](d),
			schema[api.HoldoutAnswer](d)}}})
	register(d, o, func(ctx context.Context, u users.User, in *inquiryInput) (*stream, error) {
		s, err := d.inquired(u, in)
		if err != nil {
			return nil, err
		}
		a, err := answering[s.Kind](ctx, d.Dispatcher, inquiry{u.Name, in.ID, in.Body})
		if err != nil {
			return nil, err
		}
		return &stream{func(c huma.Context) { whole(c, a) }}, nil
	})
	register(d, operation(anyUser, http.MethodPost, "/v1/sessions/{id}/explain", "explain-session", "Price a question of a stream",
		"How it would be answered now and the most that it can cost. It is free, and the data is not looked at.", asking...),
		func(ctx context.Context, u users.User, in *inquiryInput) (*body[api.StreamQuote], error) {
			s, err := d.inquired(u, in)
			if err != nil {
				return nil, err
			}
			if s.Kind != "stream" {
				return nil,
					invalid("questions of a session have a price of their own on streams only",
						"a new score of a holdout costs at most one round, which GET /v1/datasets/{name}/holdouts prices; that of a "+
							"sparse session was paid for when it was opened")
			}
			q, err := inquiry{u.Name, in.ID, in.Body}.stream()
			if err != nil {
				return nil, err
			}
			x, err := d.Dispatcher.QuoteStream(ctx, u.Name, in.ID, q)
			if err != nil {
				return nil, err
			}
			return of(*x), nil
		})
}

// inquired finds the session of a question that asks something.
func (d *door) inquired(u users.User, in *inquiryInput) (*admission.Session, error) {
	if b := in.Body; b.SQL == "" && b.Where == nil && b.Predictions == nil {
		return nil, invalid("nothing is asked", "send sql; for a stream, sql or where; for a holdout, sql or predictions")
	}
	return d.Dispatcher.Session(u.Name, in.ID)
}
