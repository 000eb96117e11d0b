package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/internal/table"
)

// Trouble is why a call has no answer, as programs read it: a problem of /v1 without what is about
// HTTP.
type Trouble struct {
	Kind     string `json:"kind"`
	Reason   string `json:"reason"`
	Instead  string `json:"instead,omitempty"`
	Position *int   `json:"position,omitempty"`
	// Spent says whether something was charged; it is missing where that is not known.
	Spent *bool `json:"spent,omitempty"`
	// Request is the name to ask again with, so that nothing is charged twice.
	Request string           `json:"request,omitempty"`
	Price   *api.Explanation `json:"price,omitempty"`
	MadeUp  bool             `json:"made_up,omitempty"`
}

// errPanic stands for everything that nobody thought of.
var errPanic = errors.New("a panic was caught")

// failed is the result of a call that went wrong.
func (t tool) failed(p *httpapi.Problem) *mcp.CallToolResult {
	// What HTTP has headers for has another name here.
	words := strings.NewReplacer("this Idempotency-Key", "this request", "a new Idempotency-Key", "a new request",
		"the same Idempotency-Key", "the same request", "as long as Retry-After says", p.RetryAfter()+" seconds")
	out := Trouble{Kind: p.Kind, Reason: table.Clean(words.Replace(p.Detail)), Instead: table.Clean(words.Replace(p.Instead)),
		Position: p.Position, Spent: p.Spent, Request: p.Request, Price: p.Price, MadeUp: t.madeUp}
	if t.madeUp && p.Kind == "unexpected" {
		out.Reason, out.Instead = "this did not work in the sandbox", "ask for its price with quote, which needs no rows"
		out.Spent = new(false)
	}
	result := t.result(&reply{out.String(), out})
	result.IsError = true
	return result
}

// String says it to a model.
func (t Trouble) String() string {
	text := t.Kind + ": " + t.Reason
	if t.Instead != "" {
		text += "\ninstead: " + t.Instead
	}
	if t.Position != nil {
		text += fmt.Sprintf("\nposition: byte %d of the SQL", *t.Position)
	}
	switch {
	case t.Spent == nil && t.Request != "":
		text += "\nspent: perhaps; call again with request " + t.Request + ", which is not charged a second time"
	case t.Spent != nil && *t.Spent:
		text += "\nspent: yes"
	case t.Spent != nil:
		text += "\nspent: nothing"
	}
	return text
}

// invalid is an input that is not as the schema says.
func invalid(detail string) *httpapi.Problem {
	const most = 300
	if r := []rune(detail); len(r) > most {
		detail = string(r[:most]) + "…"
	}
	return &httpapi.Problem{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: detail,
		Instead: "look at the schema of the tool", Spent: new(false)}
}
