package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Analysts ask the owner for more budget here, and see what became of it. A request changes nothing
// about any budget: more is given by a top-up, which the owner signs. It has no data in it but what
// the analyst writes.

// The kind of requests among what users have saved, how many somebody may have open in a dataset,
// and how many are kept.
const (
	kindRequest     = "request"
	maxOpenRequests = 3
	maxRequests     = 50
)

type NewRequest struct {
	Epsilon decimal `json:"epsilon" doc:"How much you ask for"`
	Reason  string  `json:"reason" minLength:"1" maxLength:"1000" doc:"What for, in one line"`
}

// RequestState is what became of a request.
type RequestState struct {
	State   string     `json:"state" enum:"open,granted,declined" doc:"What became of it"`
	Answer  string     `json:"answer,omitempty" doc:"What the owner says"`
	Granted decimal    `json:"granted,omitempty" doc:"How much epsilon the top-up gave, whatever was asked for"`
	Record  uint64     `json:"record,omitempty" doc:"The top-up in the ledger, if it was granted"`
	Closed  *time.Time `json:"closed,omitempty"`
}

// BudgetRequest is a request for more budget.
type BudgetRequest struct {
	ID      string    `json:"id"`
	Dataset string    `json:"dataset"`
	Analyst string    `json:"analyst"`
	Created time.Time `json:"created"`
	NewRequest
	RequestState
}

// BudgetRequests are several, the newest change first.
type BudgetRequests struct {
	Requests []BudgetRequest `json:"requests"`
}

type Decline struct {
	Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"Why, for the analyst"`
}

type requestInput struct {
	Name string `path:"name" maxLength:"64"`
	Body NewRequest
}

type declineInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body Decline
}

// requestHandler serves requests for more budget.
type requestHandler struct {
	users      *users.Store
	dispatcher *admission.Dispatcher
	notify     func(event any)

	mu     sync.Mutex // one request is made or closed at a time
	recent map[string][]time.Time
}

// maxHourly is how many requests somebody may make in an hour, withdrawn ones too: each is told.
const maxHourly = 10

// tooMany notes a request, and reports whether it is one too many.
func (h *requestHandler) tooMany(name string) bool {
	now := time.Now()
	h.recent[name] = slices.DeleteFunc(h.recent[name], func(t time.Time) bool { return now.Sub(t) > time.Hour })
	if len(h.recent[name]) >= maxHourly {
		return true
	}
	h.recent[name] = append(h.recent[name], now)
	return false
}

func (h *requestHandler) register(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/datasets/{name}/requests", "request-budget", "Ask the owner for more budget",
		"You can have three open requests for a dataset. The owner sees them, and tops up your quota or declines.",
		http.StatusNotFound, http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *requestInput) (*body[BudgetRequest], error) {
		return h.ask(ctx, u, in.Name, in.Body)
	})
	register(r, operation(anyUser, http.MethodGet, "/v1/requests", "requests", "Requests for more budget",
		"Your own; for an owner, those of all analysts."),
		func(ctx context.Context, u users.User, _ *empty) (*body[BudgetRequests], error) {
			all, err := h.list(ctx, u)
			return bodyOf(BudgetRequests{all}), err
		})
	register(r, operation(anyUser, http.MethodDelete, "/v1/requests/{id}", "withdraw-request", "Withdraw a request of yours",
		"Or remove one that is closed. An owner can remove any.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*empty, error) {
			s, err := h.users.SavedItems().Find(ctx, kindRequest, in.ID)
			if err == nil && s.User != u.Name && u.Role != users.Owner {
				err = users.ErrNoSaved
			}
			if err == nil {
				err = h.users.SavedItems().Remove(ctx, kindRequest, in.ID)
			}
			return nil, missingIfUnsaved(err, kindRequest)
		})
	register(r, operation(ownerOnly, http.MethodPost, "/v1/requests/{id}/decline", "decline-request", "Decline a request for more budget",
		"For the owner. To grant one, top up the quota of its analyst, which closes all of theirs for the dataset.",
		http.StatusNotFound, http.StatusConflict),
		func(ctx context.Context, _ users.User, in *declineInput) (*body[BudgetRequest], error) {
			s, err := h.users.SavedItems().Find(ctx, kindRequest, in.ID)
			if err != nil {
				return nil, missingIfUnsaved(err, kindRequest)
			}
			if err := checkLine(in.Body.Reason); err != nil {
				return nil, err
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			b, err := h.end(ctx, s.ID, RequestState{State: "declined", Answer: in.Body.Reason})
			return bodyOf(b), err
		})
}

// checkLine refuses a reason that is more than one line of text, or nothing.
func checkLine(reason string) error {
	if strings.TrimSpace(reason) == "" || strings.ContainsFunc(reason, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return invalidInput("body.reason", "write a reason, in one line")
	}
	return nil
}

func (h *requestHandler) ask(ctx context.Context, u users.User, name string, n NewRequest) (*body[BudgetRequest], error) {
	ds, err := datasetFor(h.dispatcher.DB().Policy(), u, name)
	if err != nil {
		return nil, err
	}
	if own := ds.Analysts[u.Name]; own == nil || !own.Expires.IsZero() && !time.Now().Before(own.Expires) {
		return nil, missing("dataset")
	}
	amount, err := dp.Parse(string(n.Epsilon))
	if err == nil && amount <= 0 {
		err = errors.New("it must be above 0")
	}
	if err != nil {
		return nil, invalidInput("body.epsilon", err.Error())
	}
	if err := checkLine(n.Reason); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	own, err := h.users.SavedItems().ByUser(ctx, kindRequest, u.Name)
	if err != nil {
		return nil, err
	}
	open := 0
	for i, s := range own {
		b, err := h.read(ctx, s)
		switch {
		case err != nil:
			return nil, err
		case b.State == "open" && b.Dataset == ds.Name:
			open++
		case b.State != "open" && i >= maxRequests/2: // old, and answered
			if err := h.users.SavedItems().Remove(ctx, kindRequest, s.ID); err != nil && !errors.Is(err, users.ErrNoSaved) {
				return nil, err
			}
		}
	}
	if open >= maxOpenRequests {
		return nil, &Problem{Status: http.StatusConflict, Kind: "limit", Detail: "you have three open requests for this dataset",
			Instead: "wait for the owner, or withdraw one", Spent: no}
	}
	if h.tooMany(u.Name) {
		return nil, &Problem{Status: http.StatusConflict, Kind: "limit", Detail: "you have made ten requests in an hour",
			Instead: "wait an hour", Spent: no}
	}
	text, err := json.Marshal(storedRequest{n, RequestState{State: "open"}})
	if err != nil {
		return nil, err
	}
	s, err := h.users.SavedItems().Add(ctx, users.Saved{Kind: kindRequest, User: u.Name, Dataset: ds.Name, Shared: true, Title: kindRequest,
		Body: string(text)}, maxRequests)
	if err != nil {
		return nil, err
	}
	b := BudgetRequest{s.ID, s.Dataset, s.User, s.Created.UTC(), n, RequestState{State: "open"}}
	h.tell(b)
	return bodyOf(b), nil
}

type storedRequest struct {
	NewRequest
	RequestState
}

// read reads a request of which a list has told that it is there.
func (h *requestHandler) read(ctx context.Context, s users.Saved) (BudgetRequest, error) {
	s, err := h.users.SavedItems().Find(ctx, kindRequest, s.ID)
	if errors.Is(err, users.ErrNoSaved) {
		return BudgetRequest{}, nil // it was withdrawn meanwhile
	}
	if err != nil {
		return BudgetRequest{}, err
	}
	v, err := decodeSaved[storedRequest](s)
	return BudgetRequest{s.ID, s.Dataset, s.User, s.Created.UTC(), v.NewRequest, v.RequestState}, err
}

func (h *requestHandler) list(ctx context.Context, u users.User) ([]BudgetRequest, error) {
	items, err := h.users.SavedItems().ByUser(ctx, kindRequest, u.Name)
	if err != nil {
		return nil, err
	}
	if u.Role == users.Owner {
		items = nil
		for _, dataset := range visibleDatasets(h.dispatcher.DB().Policy(), u) {
			some, err := h.users.SavedItems().SharedIn(ctx, kindRequest, dataset)
			if err != nil {
				return nil, err
			}
			items = append(items, some...)
		}
	}
	out := []BudgetRequest{}
	for _, s := range items {
		b, err := h.read(ctx, s)
		if err != nil {
			return nil, err
		}
		if b.ID != "" {
			out = append(out, b)
		}
	}
	slices.SortStableFunc(out, func(a, b BudgetRequest) int { return b.Created.Compare(a.Created) })
	return out, nil
}

// end closes an open request.
func (h *requestHandler) end(ctx context.Context, id string, state RequestState) (BudgetRequest, error) {
	s, err := h.users.SavedItems().Find(ctx, kindRequest, id)
	if err != nil {
		return BudgetRequest{}, missingIfUnsaved(err, kindRequest)
	}
	v, err := decodeSaved[storedRequest](s)
	if err != nil {
		return BudgetRequest{}, err
	}
	if v.State != "open" {
		return BudgetRequest{}, &Problem{Status: http.StatusConflict, Kind: "limit", Detail: "this request was answered before", Spent: no}
	}
	now := time.Now().UTC().Truncate(time.Second)
	state.Closed, v.RequestState = &now, state
	text, err := json.Marshal(v)
	if err != nil {
		return BudgetRequest{}, err
	}
	s.Body, v.RequestState.Closed = string(text), &now
	if s, err = h.users.SavedItems().Replace(ctx, s); err != nil {
		return BudgetRequest{}, missingIfUnsaved(err, kindRequest)
	}
	b := BudgetRequest{s.ID, s.Dataset, s.User, s.Created.UTC(), v.NewRequest, v.RequestState}
	h.tell(b)
	return b, nil
}

// toppedUp closes the open requests of an analyst whose quota was raised. The top-up stands
// whatever becomes of that.
func (h *requestHandler) toppedUp(ctx context.Context, dataset string, t TopUp, record uint64) {
	if t.Analyst == "" {
		return
	}
	ctx = context.WithoutCancel(ctx) // the record is there, whether somebody waits for the answer or not
	h.mu.Lock()
	defer h.mu.Unlock()
	own, err := h.users.SavedItems().ByUser(ctx, kindRequest, t.Analyst)
	if err != nil {
		return
	}
	for _, s := range own {
		if s.Dataset == dataset {
			_, _ = h.end(ctx, s.ID, RequestState{State: "granted", Answer: t.Reason, Granted: t.Epsilon, Record: record})
		}
	}
}

// tell hands what became of a request to the command that the owner has named.
func (h *requestHandler) tell(b BudgetRequest) {
	if h.notify != nil {
		h.notify(struct {
			Event string `json:"event"`
			BudgetRequest
		}{"budget-request", b})
	}
}
