package httpapi

import (
	"context"
	"net/http"
	"time"

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

// Sessions are several.
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

// opening are the kinds of sessions. Another kind is another line here, and fields in NewSession.
var opening = map[string]func(context.Context, *admission.Dispatcher, opened) (*admission.Session, error){
	"sparse": openSparse, "stream": openStream, "holdout": openHoldout,
}

// opened is what every kind needs.
type opened struct {
	analyst, dataset, request string
	epsilon                   dp.Amount
	NewSession
}

func openSparse(ctx context.Context, at *admission.Dispatcher, o opened) (*admission.Session, error) {
	return at.OpenSparse(ctx, api.SparseQuestion{
		Dataset: o.dataset, Analyst: o.analyst, Epsilon: o.epsilon, Request: o.request,
		Above: max(1, o.Above), Values: o.Values, Sensitivity: max(1, o.Sensitivity), Step: string(o.Step), Signed: o.Signed,
	})
}

func openStream(ctx context.Context, at *admission.Dispatcher, o opened) (*admission.Session, error) {
	if err := o.unpriced("stream"); err != nil {
		return nil, err
	}
	return at.OpenStream(ctx, o.analyst, o.dataset, o.Name)
}

func openHoldout(ctx context.Context, at *admission.Dispatcher, o opened) (*admission.Session, error) {
	if err := o.unpriced("holdout"); err != nil {
		return nil, err
	}
	return at.OpenHoldout(ctx, o.analyst, o.dataset, o.Name)
}

// unpriced refuses what only a sparse session has: who sends a price thinks that it matters.
func (o opened) unpriced(kind string) error {
	if o.Epsilon != "" || o.Above != 0 || o.Values || o.Step != "" || o.Signed || o.Sensitivity != 0 {
		return invalid("the policy says what a "+kind+" costs and how exact it is", "send kind, dataset and name only")
	}
	return nil
}

func (d *door) sessions() {
	o := operation(anyUser, http.MethodPost, "/v1/sessions", "open-session", "Open a session",
		"An interactive mechanism. sparse is charged for in full at once, and ends with the server; what it cost stays. Opening a stream "+
			"or a holdout charges nothing. What these know is kept: opened again, also after the server was restarted, they go on "+
			"where they were.", asking...)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *newSessionInput) (*body[Session], error) {
		q, key, err := d.question(u,
			&questionInput{in.Key, Question{Dataset: in.Body.Dataset, Epsilon: in.Body.Epsilon, Request: in.Body.Request}})
		if err != nil {
			return nil, err
		}
		s, err := opening[in.Body.Kind](ctx, d.Dispatcher, opened{u.Name, q.Dataset, q.Request, q.Epsilon, in.Body})
		if err != nil {
			p := *ProblemOf(err)
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
			for _, s := range d.Dispatcher.Sessions(u.Name) {
				out.Sessions = append(out.Sessions, sessionOf(s))
			}
			return of(out), nil
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/sessions/{id}", "session", "A session of yours",
		"There is no difference between another's and one that does not exist.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *sessionPath) (*body[Session], error) {
			s, err := d.Dispatcher.Session(u.Name, in.ID)
			if err != nil {
				return nil, err
			}
			return of(sessionOf(s)), nil
		})
	d.inquiries()
	register(d, operation(anyUser, http.MethodDelete, "/v1/sessions/{id}", "close-session", "Close a session of yours",
		"It gives nothing back.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *sessionPath) (*nothing, error) {
			return nil, d.Dispatcher.CloseSession(u.Name, in.ID)
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
