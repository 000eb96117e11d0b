package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/server/desk"
	"github.com/discreet-dp/discreet/server/users"
)

// NewSession opens a session. Each kind has fields of its own.
type NewSession struct {
	Kind    string  `json:"kind" enum:"sparse" doc:"sparse: any number of questions whether a number is at or above a threshold, of which only those that are answered above cost something"`
	Dataset string  `json:"dataset,omitempty" maxLength:"64" doc:"May be left out where you have only one"`
	Epsilon decimal `json:"epsilon,omitempty" doc:"What the whole session costs, which is charged at once; the policy's default where it is left out"`
	Request string  `json:"request,omitempty" pattern:"^[!-~]{1,63}$" doc:"The same as the header Idempotency-Key"`
	// Of sparse.
	Above       int     `json:"above,omitempty" minimum:"1" maximum:"100000" doc:"sparse: how many questions may be answered above before the session ends; 1 where it is left out"`
	Values      bool    `json:"values,omitempty" doc:"sparse: a noisy value comes with every above, which half of the epsilon is for"`
	Step        decimal `json:"step,omitempty" doc:"sparse: the lattice of the answers, in units: 1 where it is left out, 0.01 for sums of cents"`
	Signed      bool    `json:"signed,omitempty" doc:"sparse: sums may be of values that can be negative, at the price of more noise"`
	Sensitivity int64   `json:"sensitivity,omitempty" minimum:"1" doc:"sparse: how far one person may move a question, in units of its answer; 1, which is for counts of people, where it is left out"`
}

// Session is an interactive mechanism that is open.
type Session struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind" enum:"sparse"`
	Dataset string    `json:"dataset"`
	Opened  time.Time `json:"opened"`
	Cost    dp.Cost   `json:"cost" doc:"What it cost, all of it when it was opened"`
	Receipt uint64    `json:"receipt" doc:"The charge in the ledger, for GET /v1/receipts"`
	Left    int       `json:"left" doc:"sparse: how many more can be above"`
}

// Sessions are several.
type Sessions struct {
	Sessions []Session `json:"sessions"`
}

// SessionQuestion is one question of a session.
type SessionQuestion struct {
	SQL       string  `json:"sql" minLength:"1" doc:"One SELECT with one number"`
	Threshold decimal `json:"threshold" doc:"sparse: whether the number is at or above this"`
}

// Verdict is the answer to it.
type Verdict struct {
	Above bool    `json:"above" doc:"Whether the number is at or above the threshold, or rather looks so"`
	Value *string `json:"value,omitempty" doc:"The noisy number, where the session has values and the answer is above"`
	Left  int     `json:"left" doc:"How many more can be above"`
	Error float64 `json:"error" doc:"With probability 0.95, what is called above is at least the threshold less this, and what is called below at most the threshold and this"`
}

type newSessionInput struct {
	Key  string `header:"Idempotency-Key" pattern:"^[!-~]{1,63}$" doc:"Names the charge for retries: with the same key it is charged once"`
	Body NewSession
}

type sessionPath struct {
	ID string `path:"id" maxLength:"128"`
}

type inquiryInput struct {
	ID   string `path:"id" maxLength:"128"`
	Body SessionQuestion
}

// opening are the kinds of sessions. Another kind is another line here, and fields in NewSession.
var opening = map[string]func(context.Context, *desk.Desk, opened) (*desk.Session, error){
	"sparse": openSparse,
}

// opened is what every kind needs.
type opened struct {
	analyst, dataset, request string
	epsilon                   dp.Amount
	NewSession
}

func openSparse(ctx context.Context, at *desk.Desk, o opened) (*desk.Session, error) {
	return at.OpenSparse(ctx, discreet.SparseQuestion{
		Dataset: o.dataset, Analyst: o.analyst, Epsilon: o.epsilon, Request: o.request,
		Above: max(1, o.Above), Values: o.Values, Sensitivity: max(1, o.Sensitivity), Step: string(o.Step), Signed: o.Signed,
	})
}

func (d *door) sessions() {
	o := operation(anyUser, http.MethodPost, "/v1/sessions", "open-session", "Open a session", "An interactive mechanism, which is charged for in full at once. It ends with the server; what it cost stays.", asking...)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *newSessionInput) (*body[Session], error) {
		q, key, err := d.question(u, &questionInput{in.Key, Question{Dataset: in.Body.Dataset, Epsilon: in.Body.Epsilon, Request: in.Body.Request}})
		if err != nil {
			return nil, err
		}
		s, err := opening[in.Body.Kind](ctx, d.Desk, opened{u.Name, q.Dataset, q.Request, q.Epsilon, in.Body})
		if err != nil {
			p := *problemOf(err)
			if p.Spent != no {
				p.Request = key
			}
			return nil, &p
		}
		return of(sessionOf(s)), nil
	})
	register(d, operation(anyUser, http.MethodGet, "/v1/sessions", "sessions", "Your sessions", "Those that are open."),
		func(_ context.Context, u users.User, _ *nothing) (*body[Sessions], error) {
			out := Sessions{[]Session{}}
			for _, s := range d.Desk.Sessions(u.Name) {
				out.Sessions = append(out.Sessions, sessionOf(s))
			}
			return of(out), nil
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/sessions/{id}", "session", "A session of yours", "There is no difference between another's and one that does not exist.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *sessionPath) (*body[Session], error) {
			s, err := d.Desk.Session(u.Name, in.ID)
			if err != nil {
				return nil, err
			}
			return of(sessionOf(s)), nil
		})
	register(d, operation(anyUser, http.MethodPost, "/v1/sessions/{id}/ask", "ask-session", "Ask a session", "The question is as every other, and its answer is one bit.", append(slices.Clone(asking), http.StatusGone)...),
		func(ctx context.Context, u users.User, in *inquiryInput) (*body[Verdict], error) {
			v, err := d.Desk.AskSparse(ctx, u.Name, in.ID, in.Body.SQL, string(in.Body.Threshold))
			if err != nil {
				return nil, err
			}
			return of(Verdict{v.Above, v.Value, v.Left, v.Error}), nil
		})
	register(d, operation(anyUser, http.MethodDelete, "/v1/sessions/{id}", "close-session", "Close a session of yours", "It gives nothing back.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *sessionPath) (*nothing, error) {
			return nil, d.Desk.CloseSession(u.Name, in.ID)
		})
}

func sessionOf(s *desk.Session) Session {
	// Where another kind has no Sparse, all three are zero.
	return Session{s.ID, s.Kind, s.Dataset, s.Opened.UTC(), s.Sparse.Cost(), s.Sparse.Receipt().Sequence, s.Left()}
}
