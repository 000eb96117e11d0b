package httpapi

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
)

// Problem is an error as RFC 9457 has it, with members of our own.
type Problem struct {
	Type     string `json:"type" doc:"urn:discreet:problem: and the kind"`
	Title    string `json:"title" doc:"The words of the status code"`
	Status   int    `json:"status"`
	Detail   string `json:"detail" doc:"What is wrong, for people"`
	Instance string `json:"instance" doc:"Names this very request: urn:discreet:request: and what X-Request-Id says"`
	// Kind is what programs look at.
	Kind    string `json:"kind" doc:"What kind of problem it is: refused, budget, price, closed, limit, ending, ended, timeout, canceled, request, window, ledger, data, training, denied, locked, role, signature, stale, exists, revoked, running, origin, invalid, body, path, method, missing, unsupported, unexpected"`
	Instead string `json:"instead,omitempty" doc:"What to do instead"`
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
func (p *Problem) finish(n *notes) *Problem {
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

// write answers with a problem where the framework has nothing to say.
func (d *door) write(w http.ResponseWriter, r *http.Request, p *Problem) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(p.finish(note(r.Context()))) // who does not read it any more misses nothing
}

// The truth has an address where it may be unknown.
var (
	yes = new(true)
	no  = new(false)
)

// maxFaults is how many faults of an input are told.
const maxFaults = 20

// configure sets the framework's switches, which count for the whole program, which is ours.
var configure = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		p := &Problem{Status: status, Kind: "invalid", Detail: message, Spent: no}
		for _, err := range errs {
			if len(p.Errors) == maxFaults {
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
