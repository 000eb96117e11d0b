package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/problem"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Problem is an error as RFC 9457 has it, with members of our own.
type Problem struct {
	Type     string `json:"type" doc:"urn:discreet:problem: and the kind"`
	Title    string `json:"title" doc:"The words of the status code"`
	Status   int    `json:"status"`
	Detail   string `json:"detail" doc:"What is wrong, in words"`
	Instance string `json:"instance" doc:"Identifies this request: urn:discreet:request: followed by its X-Request-Id"`
	Kind     string `json:"kind" doc:"The kind of problem: refused, budget, price, closed, limit, ending, ended, timeout, canceled, request, window, ledger, data, training, denied, locked, role, signature, stale, exists, revoked, running, origin, invalid, body, path, method, missing, unsupported, unexpected"`
	Instead  string `json:"instead,omitempty" doc:"What to do instead"`
	// Position is where in the text of the question.
	Position *int `json:"position,omitempty" doc:"The position in the SQL, as a byte offset from 0"`
	// Spent says what became of the budget.
	Spent *bool `json:"spent,omitempty" doc:"Whether something was charged; left out if that is not known, or if nothing could have been"`
	// Request names the question.
	Request string `json:"request,omitempty" doc:"The Idempotency-Key of the question: sent again with this key, it is not charged twice"`
	// Price is that of a question that was asked only where it is free.
	Price  *api.Explanation `json:"price,omitempty" doc:"What it would cost, as POST /v1/explain returns it"`
	Errors []*Fault         `json:"errors,omitempty" doc:"Each thing that is wrong with the input"`

	header http.Header
}

// Fault is one thing that is wrong with an input.
type Fault struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty" doc:"Where, such as body.sql or query.limit"`
}

// Error, GetStatus, GetHeaders and ContentType are what the framework wants of an error.
func (p *Problem) Error() string             { return p.Detail }
func (p *Problem) GetStatus() int            { return p.Status }
func (p *Problem) GetHeaders() http.Header   { return p.header }
func (p *Problem) ContentType(string) string { return mediaProblem }

// RetryAfter is how many seconds to wait before another try; empty where that is not known.
func (p *Problem) RetryAfter() string { return p.header.Get("Retry-After") }

// finish fills in what follows from the rest, for one request.
func (p *Problem) finish(n *requestInfo) *Problem {
	out := *p
	if out.Kind == "" {
		out.Kind = "invalid"
	}
	out.Type, out.Title, out.Instance = "urn:discreet:problem:"+out.Kind, http.StatusText(out.Status), "urn:discreet:request:"+n.id
	if out.Status == statusCanceled {
		out.Title = "Client Closed Request"
	}
	return &out
}

// writeProblem answers with a problem where the framework has nothing to say.
func writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(p.finish(infoOf(r.Context()))) // who does not read it any more misses nothing
}

// The truth has an address where it may be unknown.
var (
	yes = new(true)
	no  = new(false)
)

// maxFaultsTold is how many faults of an input are told.
const maxFaultsTold = 20

// configure sets the framework's switches, which count for the whole program, which is ours.
var configure = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		p := &Problem{Status: status, Kind: "invalid", Detail: message, Spent: no}
		for _, err := range errs {
			if len(p.Errors) == maxFaultsTold {
				break
			}
			// What was sent is not sent back.
			if e, ok := err.(huma.ErrorDetailer); ok {
				detail := e.ErrorDetail()
				p.Errors = append(p.Errors, &Fault{clip(detail.Message), clip(detail.Location)})
			} else if err != nil {
				p.Errors = append(p.Errors, &Fault{Message: clip(err.Error())})
			}
		}
		switch {
		case status == http.StatusBadRequest:
			p.Kind, p.Detail = "body", "the body cannot be read"
		case status == http.StatusUnprocessableEntity:
			p.Detail = "the input is not as the document says"
			p.Instead = "GET /openapi.json has its schema"
		case status >= http.StatusInternalServerError:
			return errUnexpected()
		}
		return p
	}
})

// clip cuts a text that a client can make long.
func clip(s string) string {
	const most = 300
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// statusCanceled is what others use for a client that did not wait. The standard has no number for
// it.
const statusCanceled = 499

// rendered is how HTTP tells a kind of problem: its number, the word that clients go by, and the
// words that are about HTTP, where the problem has none or others.
type rendered struct {
	status                int
	word, detail, instead string
}

const (
	canceledWord = "canceled"
	ledgerAgain  = "tell the owner of the data to check the disk, then ask again with the same Idempotency-Key"
)

var renderings = map[problem.Kind]rendered{
	problem.Refused:  {status: http.StatusUnprocessableEntity, word: "refused"},
	problem.Disputed: {status: http.StatusUnprocessableEntity, word: "refused"},
	problem.Around:   {status: http.StatusUnprocessableEntity, word: "refused"},
	problem.Priced: {status: http.StatusPaymentRequired, word: "price",
		instead: "look at the price; to pay it, ask without free"},
	problem.NoSession:   {status: http.StatusNotFound, word: "missing"},
	problem.NoModel:     {status: http.StatusNotFound, word: "missing"},
	problem.Unsupported: {status: http.StatusNotImplemented, word: "unsupported", detail: "this server cannot do that"},

	problem.Budget: {status: http.StatusPaymentRequired, word: "budget"},
	problem.StreamPart: {status: http.StatusPaymentRequired, word: "budget",
		instead: "set dp.stream to off, which asks past the stream for a price of its own, or ask for less"},
	problem.Closed: {status: http.StatusLocked, word: "closed"},
	problem.Request: {status: http.StatusConflict, word: "request", detail: "this Idempotency-Key was charged before with another ",
		instead: "use a new one for a new question"},
	problem.Window: {status: http.StatusConflict, word: "window", detail: "the budget was renewed meanwhile", instead: "ask again"},
	problem.Lapsed: {status: http.StatusConflict, word: "window", detail: "this question was charged in a window of the budget that " +
		"ended before the answer; what one window paid for is not answered in another",
		instead: "ask with a new Idempotency-Key, which is charged in the current window"},
	problem.Invalid:       {status: http.StatusUnprocessableEntity, word: "invalid"},
	problem.LedgerFailed:  {status: http.StatusServiceUnavailable, word: "ledger", instead: ledgerAgain},
	problem.LedgerStopped: {status: http.StatusServiceUnavailable, word: "ledger", instead: ledgerAgain},
	problem.Stale:         {status: http.StatusConflict, word: "stale", instead: "draft it again, and sign that"},
	problem.Signature: {status: http.StatusForbidden, word: "signature",
		instead: "sign the text of a draft with the key of the ledger's owner"},

	problem.Limited:     {status: http.StatusTooManyRequests, word: "limit", instead: "wait as long as Retry-After says"},
	problem.Ending:      {status: http.StatusServiceUnavailable, word: "ending"},
	problem.Opening:     {status: http.StatusServiceUnavailable, word: "opening"},
	problem.Revoked:     {status: http.StatusUnauthorized, word: "denied"},
	problem.Unchecked:   {status: http.StatusServiceUnavailable, word: "users"},
	problem.Withdrawn:   {status: statusCanceled, word: canceledWord},
	problem.Timeout:     {status: http.StatusGatewayTimeout, word: "timeout"},
	problem.Canceled:    {status: statusCanceled, word: canceledWord},
	problem.Interrupted: {status: statusCanceled, word: canceledWord},

	problem.Ended:      {status: http.StatusGone, word: "ended", instead: "open another session, which costs as much again"},
	problem.Data:       {status: http.StatusServiceUnavailable, word: "data"},
	problem.Labels:     {status: http.StatusServiceUnavailable, word: "data"},
	problem.Changing:   {status: http.StatusServiceUnavailable, word: "data"},
	problem.HoldoutRun: {status: http.StatusServiceUnavailable, word: "data"},
	problem.Moved: {status: http.StatusConflict, word: "moved",
		instead: "ask with a new Idempotency-Key, which is charged in full"},
	problem.Training: {status: http.StatusInternalServerError, word: "training"},
}

// ProblemOf says what an error means here.
func ProblemOf(err error) *Problem {
	var made *Problem
	if errors.As(err, &made) {
		return made
	}
	p := problem.Of(err)
	r, ok := renderings[p.Kind]
	if !ok {
		return usersProblem(err)
	}
	out := &Problem{Status: r.status, Kind: r.word, Detail: cmp.Or(r.detail, p.Detail), Instead: cmp.Or(r.instead, p.Instead),
		Position: p.Position, Price: p.Price, Spent: spentMember[p.Spent]}
	switch p.Kind {
	case problem.Around:
		out.Detail = clip(out.Detail)
	case problem.Request:
		out.Detail += p.Differs
	}
	out.Detail = p.Before + out.Detail
	if p.Retry > 0 || p.Kind == problem.Limited {
		out.header = http.Header{"Retry-After": {retryAfter(p.Retry)}}
	}
	return out
}

var spentMember = map[problem.Spent]*bool{problem.Nothing: no, problem.Something: yes}

// ProblemWithRequest is [ProblemOf] for what may have been charged under a key: whoever sent none
// gets to know the one that was drawn, or could not ask again with it.
func ProblemWithRequest(err error, key string) *Problem {
	p := *ProblemOf(err)
	if p.Spent == nil || *p.Spent {
		p.Request = key
	}
	return &p
}

// usersProblem says what is wrong with what there is of users, and with what they hold.
func usersProblem(err error) *Problem {
	var unfit *users.InvalidError
	var many *users.FullError
	var held *clientlimits.FullError
	switch {
	case errors.As(err, &unfit):
		return &Problem{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: clip(unfit.Error()), Spent: no}
	case errors.As(err, &held):
		return memoryProblem(held)
	case errors.As(err, &many):
		return &Problem{Status: http.StatusConflict, Kind: "limit", Detail: many.Error(), Instead: "delete some, or change an existing one",
			Spent: no}
	case errors.Is(err, users.ErrUnknown):
		return missing("user")
	case errors.Is(err, users.ErrExists):
		return &Problem{Status: http.StatusConflict, Kind: "exists", Detail: "a user with this name already exists",
			Instead: "give them another password, or choose another name"}
	case errors.Is(err, users.ErrRevoked):
		return &Problem{Status: http.StatusConflict, Kind: "revoked", Detail: "this user was revoked",
			Instead: "a new password lets them in again"}
	}
	return errUnexpected()
}

// errUnexpected is for everything that we did not think of, always the same.
func errUnexpected() *Problem {
	return &Problem{Status: http.StatusInternalServerError, Kind: "unexpected",
		Detail: "this did not work. If a question was charged, the charge stays; if you ask again with the same Idempotency-Key, it is " +
			"not charged twice",
		Instead: "ask again; if that does not help, ask the owner of the data to run 'discreet check'"}
}

// missing is the answer to everything that somebody may not see, and to everything that does not
// exist.
func missing(what string) *Problem {
	return &Problem{Status: http.StatusNotFound, Kind: "missing", Detail: "there is no such " + what + ", or it is not yours", Spent: no}
}
