package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// Problem is an error as RFC 9457 has it, with members of our own.
type Problem struct {
	Type     string `json:"type" doc:"urn:discreet:problem: and the kind"`
	Title    string `json:"title" doc:"The words of the status code"`
	Status   int    `json:"status"`
	Detail   string `json:"detail" doc:"What is wrong, for people"`
	Instance string `json:"instance" doc:"Names this very request: urn:discreet:request: and what X-Request-Id says"`
	Kind     string `json:"kind" doc:"What kind of problem it is: refused, budget, price, closed, limit, ending, ended, timeout, canceled, request, window, ledger, data, training, denied, locked, role, signature, stale, exists, revoked, running, origin, invalid, body, path, method, missing, unsupported, unexpected"`
	Instead  string `json:"instead,omitempty" doc:"What to do instead"`
	// Position is where in the text of the question.
	Position *int `json:"position,omitempty" doc:"Where in the SQL, as a byte offset from 0"`
	// Spent says what became of the budget.
	Spent *bool `json:"spent,omitempty" doc:"Whether something was charged; left out where it is not known, or where nothing could have been"`
	// Request names the question.
	Request string `json:"request,omitempty" doc:"The Idempotency-Key of the question: sent again with it, it is not charged a second time"`
	// Price is that of a question that was asked only where it is free.
	Price  *api.Explanation `json:"price,omitempty" doc:"What it would cost, as POST /v1/explain says it"`
	Errors []*Fault         `json:"errors,omitempty" doc:"What is wrong with the input, one by one"`

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

// ProblemOf says what an error means here. Texts come from the question, the policy and the ledger;
// an error that is not known gets fixed words, because nobody knows what it holds.
func ProblemOf(err error) *Problem {
	var (
		problem   *Problem
		refusal   *api.Refusal
		budget    *ledger.BudgetError
		limit     *admission.LimitError
		lockout   *ledger.LockoutError
		again     *ledger.RequestError
		window    *ledger.WindowError
		lapsed    *ledger.LapsedError
		malformed *ledger.InvalidError
		written   *ledger.WriteError
		unfit     *users.InvalidError
		around    *api.AroundError
		stopped   *admission.Stopped
		price     *api.PriceError
	)
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &refusal):
		p := &Problem{Status: http.StatusUnprocessableEntity, Kind: "refused", Detail: refusal.Reason, Instead: refusal.Instead, Spent: no}
		if refusal.Position >= 0 {
			p.Position = new(refusal.Position)
		}
		return p
	case errors.As(err, &price):
		return &Problem{Status: http.StatusPaymentRequired, Kind: "price", Detail: price.Error(), Price: price.Explanation,
			Instead: "look at the price, and ask without free to pay it", Spent: no}
	case errors.As(err, &around):
		p := &Problem{Status: http.StatusUnprocessableEntity, Kind: "refused", Detail: clip(around.Error()), Spent: no}
		if around.Bought {
			p.Spent = nil // the answers inside may have been paid for before
		}
		return p
	case errors.As(err, &budget):
		return &Problem{Status: http.StatusPaymentRequired, Kind: "budget", Detail: err.Error(), Spent: no}
	case errors.Is(err, api.ErrStreamPart):
		return &Problem{Status: http.StatusPaymentRequired, Kind: "budget", Detail: api.ErrStreamPart.Error(),
			Instead: "set dp.stream to off, which asks past the stream for a price of its own, or ask for less"}
	case errors.As(err, &lockout):
		p := &Problem{Status: http.StatusLocked, Kind: "closed", Detail: lockout.Error(), Spent: no}
		if lockout.Charged {
			p.Spent = nil // it may have been answered from what was paid for before
		}
		return p
	case errors.As(err, &limit):
		return &Problem{Status: http.StatusTooManyRequests, Kind: "limit", Detail: limit.Reason,
			Instead: "wait as long as Retry-After says", Spent: no,
			header: http.Header{"Retry-After": {retryAfter(limit.Wait)}}}
	case errors.Is(err, admission.ErrEnding):
		return &Problem{Status: http.StatusServiceUnavailable, Kind: "ending", Detail: admission.ErrEnding.Error(), Spent: no,
			header: http.Header{"Retry-After": {"5"}}}
	case errors.Is(err, admission.ErrOpening):
		return &Problem{Status: http.StatusServiceUnavailable, Kind: "opening", Detail: admission.ErrOpening.Error(), Spent: no,
			header: http.Header{"Retry-After": {"5"}}}
	case errors.As(err, &stopped):
		return stoppedProblem(stopped)
	case errors.Is(err, admission.ErrRevoked):
		return &Problem{Status: http.StatusUnauthorized, Kind: "denied", Detail: admission.ErrRevoked.Error(), Spent: no}
	case errors.Is(err, admission.ErrWithdrawn):
		return &Problem{Status: statusCanceled, Kind: "canceled", Detail: admission.ErrWithdrawn.Error(), Spent: no}
	case errors.Is(err, context.Canceled):
		return &Problem{Status: statusCanceled, Kind: "canceled", Detail: admission.ErrCanceled.Error()}
	case errors.As(err, &again):
		return &Problem{Status: http.StatusConflict, Kind: "request", Detail: "this Idempotency-Key was charged before with another " +
			again.Differs, Instead: "use a new one for a new question", Spent: no}
	case errors.As(err, &window):
		return &Problem{Status: http.StatusConflict, Kind: "window", Detail: "the budget was renewed meanwhile",
			Instead: "ask again", Spent: no}
	case errors.As(err, &lapsed):
		p := &Problem{Status: http.StatusConflict, Kind: "window",
			Detail: "this question was charged in a window of the budget that ended before it had an answer, and what one window paid " +
				"for is not answered in another", Instead: "ask with a new Idempotency-Key, which is charged in the current window",
			Spent: no}
		if lapsed.Charged {
			p.Spent = yes
		}
		return p
	case errors.As(err, &unfit):
		return &Problem{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: clip(unfit.Error()), Spent: no}
	case errors.As(err, &malformed):
		return &Problem{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: malformed.Error(), Spent: no}
	case errors.As(err, &written):
		// The words of the ledger name a file of this machine.
		p := &Problem{Status: http.StatusServiceUnavailable, Kind: "ledger",
			Detail:  "the ledger could not be written, so nothing may be released",
			Instead: "tell the owner of the data to look after the disk, then ask again with the same Idempotency-Key",
			header:  http.Header{"Retry-After": {"60"}}}
		if written.Charged {
			p.Spent = yes
		} else if !written.Broken && !written.Unknown {
			p.Spent = no
		}
		return p
	case errors.Is(err, errors.ErrUnsupported):
		return &Problem{Status: http.StatusNotImplemented, Kind: "unsupported", Detail: "this server cannot do that", Spent: no}
	}
	return sessionProblem(err)
}

// ProblemWithRequest is [ProblemOf] for what may have been charged under a key: whoever sent none
// gets to know the one that was drawn, or could not ask again with it.
func ProblemWithRequest(err error, key string) *Problem {
	p := *ProblemOf(err)
	if p.Spent == nil || *p.Spent {
		p.Request = key
	}
	return &p
}

// stoppedProblem says that a question was stopped.
func stoppedProblem(err *admission.Stopped) *Problem {
	p := &Problem{Status: statusCanceled, Kind: "canceled", Detail: err.Error()}
	if errors.Is(err, admission.ErrTimeout) {
		p.Status, p.Kind = http.StatusGatewayTimeout, "timeout"
	}
	if err.Free {
		p.Spent = no
	}
	return p
}

// sessionProblem says what is wrong with what there is beside questions.
func sessionProblem(err error) *Problem {
	var many *users.FullError
	var held *clientlimits.FullError
	switch {
	case errors.As(err, &held):
		return memoryProblem(held)
	case errors.As(err, &many):
		return &Problem{Status: http.StatusConflict, Kind: "limit", Detail: many.Error(), Instead: "delete some, or change one of them",
			Spent: no}
	case errors.Is(err, admission.ErrUnchecked):
		return &Problem{Status: http.StatusServiceUnavailable, Kind: "users", Detail: admission.ErrUnchecked.Error(), Spent: no,
			header: http.Header{"Retry-After": {"5"}}}
	case errors.Is(err, admission.ErrNoSession):
		return &Problem{Status: http.StatusNotFound, Kind: "missing", Detail: admission.ErrNoSession.Error(), Spent: no}
	case errors.Is(err, api.ErrSessionUsed), errors.Is(err, api.ErrSessionAsked), errors.Is(err, api.ErrSessionRun),
		errors.Is(err, api.ErrSessionData), errors.Is(err, api.ErrSessionWindow):
		return &Problem{Status: http.StatusGone, Kind: "ended", Detail: err.Error(),
			Instead: "open another session, which costs as much again"}
	case errors.As(err, new(*api.DataError)):
		return &Problem{Status: http.StatusServiceUnavailable, Kind: "data", Detail: api.ErrData.Error(),
			header: http.Header{"Retry-After": {"60"}}}
	case errors.Is(err, api.ErrLabels):
		return &Problem{Status: http.StatusServiceUnavailable, Kind: "data", Detail: api.ErrLabels.Error(), Spent: no,
			header: http.Header{"Retry-After": {"60"}}}
	case errors.Is(err, api.ErrMoved):
		return &Problem{Status: http.StatusConflict, Kind: "moved", Detail: api.ErrMoved.Error(),
			Instead: "ask with a new Idempotency-Key, which is charged in full", Spent: yes}
	case errors.Is(err, api.ErrChanging):
		return &Problem{Status: http.StatusServiceUnavailable, Kind: "data", Detail: api.ErrChanging.Error(),
			header: http.Header{"Retry-After": {"5"}}}
	case errors.Is(err, api.ErrHoldoutRun):
		return &Problem{Status: http.StatusServiceUnavailable, Kind: "data", Detail: api.ErrHoldoutRun.Error(),
			header: http.Header{"Retry-After": {"60"}}}
	case errors.Is(err, api.ErrNoModel):
		return missing("model")
	case errors.Is(err, api.ErrTraining):
		return &Problem{Status: http.StatusInternalServerError, Kind: "training", Detail: api.ErrTraining.Error(), Spent: yes}
	}
	return ownerProblem(err)
}

// ownerProblem says what is wrong with what an owner decides.
func ownerProblem(err error) *Problem {
	var stale *ledger.StaleError
	var signature *ledger.SignatureError
	switch {
	case errors.Is(err, users.ErrUnknown):
		return missing("user")
	case errors.Is(err, users.ErrExists):
		return &Problem{Status: http.StatusConflict, Kind: "exists", Detail: "there is a user of this name already",
			Instead: "give them another password, or take another name"}
	case errors.Is(err, users.ErrRevoked):
		return &Problem{Status: http.StatusConflict, Kind: "revoked", Detail: "this user was revoked",
			Instead: "a new password lets them in again"}
	case errors.As(err, &stale):
		return &Problem{Status: http.StatusConflict, Kind: "stale", Detail: stale.Error(), Instead: "draft it again, and sign that"}
	case errors.As(err, &signature):
		return &Problem{Status: http.StatusForbidden, Kind: "signature", Detail: signature.Error(),
			Instead: "sign the text of a draft with the key of the ledger's owner"}
	}
	return errUnexpected()
}

// errUnexpected is for everything that we did not think of, always the same.
func errUnexpected() *Problem {
	return &Problem{Status: http.StatusInternalServerError, Kind: "unexpected",
		Detail: "this did not work. If a question was charged for, the charge stays, and asked again with the same Idempotency-Key it " +
			"is not charged a second time",
		Instead: "ask again; if that does not help, ask the owner of the data to run 'discreet check'"}
}

// missing is the answer to everything that somebody may not see, and to everything that does not
// exist.
func missing(what string) *Problem {
	return &Problem{Status: http.StatusNotFound, Kind: "missing", Detail: "there is no such " + what + ", or it is not yours", Spent: no}
}
