package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/problem"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/policy"
)

func quote(ctx context.Context, a analyst, arguments json.RawMessage) (*reply, error) {
	q, request, err := a.readQuestion(arguments)
	if err != nil {
		return nil, err
	}
	if request != "" {
		return nil, invalid("request belongs to ask: a price is free")
	}
	x, err := a.dispatcher.Explain(ctx, q)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	render.Explanation(&text, x)
	return &reply{text.String(), x}, nil
}

// Answered is an answer as programs read it.
type Answered struct {
	*api.Answer
	// Request is the name under which it was asked.
	Request string `json:"request"`
	// LeftOut is how many rows there are that are not told.
	LeftOut int `json:"rows_left_out,omitempty"`
}

// MarshalJSON puts the members beside those of the answer, which writes itself.
func (a Answered) MarshalJSON() ([]byte, error) {
	return withMembers(a.Answer, map[string]any{"request": a.Request}, a.LeftOut)
}

func withMembers(a *api.Answer, members map[string]any, leftOut int) ([]byte, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	if leftOut > 0 {
		members["rows_left_out"] = leftOut
	}
	for name, v := range members {
		if all[name], err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

func ask(ctx context.Context, a analyst, arguments json.RawMessage) (*reply, error) {
	q, request, err := a.readQuestion(arguments)
	if err != nil {
		return nil, err
	}
	answer, request, err := a.askOnce(ctx, q, request)
	if err != nil {
		return nil, httpapi.ProblemWithRequest(err, request)
	}
	var text strings.Builder
	left := cutRows(answer)
	render.Answer(&text, answer)
	if r := answer.Receipt; r.Hash != "" {
		fmt.Fprintf(&text, "receipt: record %d, %s\n", r.Sequence, r.Hash)
	}
	tellRowsLeft(&text, left)
	return &reply{text.String(), Answered{answer, request, left}}, nil
}

// askOnce asks under the name that the model gave, or else under one of its own for a call that may
// be made again.
func (a analyst) askOnce(ctx context.Context, q api.Question, given string) (answer *api.Answer, request string, err error) {
	if given != "" {
		answer, err = a.askAs(ctx, q, given)
		return answer, given, err
	}
	request = a.retries.name(q, a.now())
	for tried := 1; ; tried++ {
		answer, err = a.askAs(ctx, q, request)
		if !usedElsewhere(err) || tried == maxNamesTried {
			return answer, request, err
		}
		request = a.retries.next(q, request, a.now())
	}
}

func (a analyst) askAs(ctx context.Context, q api.Question, request string) (*api.Answer, error) {
	q.Request = request
	return a.dispatcher.Ask(ctx, q)
}

// usedElsewhere says whether a name was used before for what is another question now: the text is
// the same, and the data, the time that it asks for or the window of the budget is not. Nothing was
// charged.
func usedElsewhere(err error) bool {
	p := problem.Of(err)
	return p.Kind == problem.Request || p.Kind == problem.Lapsed && p.Spent == problem.Nothing
}

// MostRows is how many rows of an answer a model is told: more would fill its memory.
const MostRows = 500

// cutRows leaves out the rows beyond, and says how many.
func cutRows(a *api.Answer) int {
	left := len(a.Rows) - MostRows
	if left <= 0 {
		return 0
	}
	short := *a
	short.Rows = a.Rows[:MostRows]
	if a.Errors != nil {
		short.Errors = a.Errors[:MostRows]
	}
	if a.Whole != nil {
		short.Whole = a.Whole[:MostRows]
	}
	*a = short
	return left
}

func tellRowsLeft(text *strings.Builder, left int) {
	if left > 0 {
		// The order is that of the question, which a query around it keeps; its price has to be the
		// same, or it would be a sharper question.
		fmt.Fprintf(text, "%d more rows are not shown; they are paid for. Ask for them free, with the same other arguments: SELECT * "+
			"FROM (the question) AS t LIMIT %d OFFSET %d\n", left, MostRows, MostRows)
	}
}

// question is what a model asks: a question of /v1, and the settings that it should think of by
// name.
type question struct {
	httpapi.Question
	Error      json.Number `json:"error"`
	Confidence json.Number `json:"confidence"`
}

func (a analyst) readQuestion(arguments json.RawMessage) (q api.Question, request string, err error) {
	var in question
	if err := read(arguments, askSchema, &in); err != nil {
		return q, "", err
	}
	if in.SQL == "" {
		return q, "", invalid("sql is missing")
	}
	if in.Epsilon != "" && in.Error != "" {
		return q, "", invalid("epsilon names a price and error finds one; give only one of them")
	}
	ds, err := a.dataset(in.Dataset)
	if err != nil {
		return q, "", err
	}
	q.Dataset, q.Analyst = ds.Name, a.user.Name
	if err := in.Fill(&q); err != nil {
		return q, "", err
	}
	for name, value := range map[string]json.Number{"dp.error": in.Error, "dp.confidence": in.Confidence} {
		if value == "" {
			continue
		}
		if err := q.Settings.Set(name, string(value)); err != nil {
			return q, "", invalid(err.Error())
		}
	}
	if in.Request != "" && !requestPattern.MatchString(in.Request) {
		return q, "", invalid("request: it must be 1 to 63 ASCII characters without spaces")
	}
	return q, in.Request, nil
}

var requestPattern = regexp.MustCompile(`^[!-~]{1,63}$`)

// dataset finds the dataset that a call is about.
func (a analyst) dataset(name string) (*policy.Dataset, error) {
	p := a.dispatcher.DB().Policy()
	found, err := httpapi.ChooseDataset(p, a.user, name)
	if err != nil {
		return nil, err
	}
	return p.Datasets[found], nil
}

// madeUp stands before everything that the sandbox says.
const madeUp = "MADE UP: this is the sandbox. The rows are made from the policy only, the numbers mean nothing, and nothing was spent."

// MadeUp is an answer of the sandbox as programs read it: what is about the text, and no receipt.
type MadeUp struct{ answer *api.Answer }

// MarshalJSON leaves out what is about a ledger and about data, which there is none of.
func (m MadeUp) MarshalJSON() ([]byte, error) {
	a := m.answer
	return json.Marshal(map[string]any{
		"made_up": true, "warning": madeUp, "columns": a.Columns, "rows": api.List[[]any](a.Rows), "errors": a.Errors,
		"confidence": a.Confidence, "notes": a.Notes, "would_cost": a.Cost,
	})
}

// try asks a question of made-up people. It is bounded as a look at the catalogue is.
func try(ctx context.Context, a analyst, arguments json.RawMessage) (*reply, error) {
	q, request, err := a.readQuestion(arguments)
	if err != nil {
		return nil, err
	}
	if request != "" {
		return nil, invalid("request belongs to ask: nothing is paid for here")
	}
	var answer *api.Answer
	err = a.dispatcher.RunLookup(ctx, a.user.Name, func(ctx context.Context) (err error) {
		answer, err = a.sandbox.Ask(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	left := cutRows(answer)
	render.Body(&text, answer)
	text.WriteString("on the real data this would cost at most " + render.Cost(answer.Cost) + "; quote tells you what it costs now\n")
	tellRowsLeft(&text, left)
	return &reply{text.String(), MadeUp{answer}}, nil
}

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

// failure is the result of a call that went wrong.
func (t tool) failure(p *httpapi.Problem) *mcp.CallToolResult {
	// What HTTP has headers for has another name here.
	words := strings.NewReplacer("this Idempotency-Key", "this request", "a new Idempotency-Key", "a new request",
		"the same Idempotency-Key", "the same request", "as long as Retry-After says", p.RetryAfter()+" seconds")
	out := Trouble{Kind: p.Kind, Reason: render.Clean(words.Replace(p.Detail)), Instead: render.Clean(words.Replace(p.Instead)),
		Position: p.Position, Spent: p.Spent, Request: p.Request, Price: p.Price, MadeUp: t.madeUp}
	if t.madeUp && p.Kind == "unexpected" {
		out.Reason, out.Instead = "this question failed in the sandbox", "get its price with quote, which needs no rows"
		out.Spent = new(false)
	}
	result := t.result(&reply{out.String(), out})
	result.IsError = true
	return result
}

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
		text += "\nspent: perhaps; call again with request " + t.Request + ", which is not charged twice"
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
		Instead: "check the tool's schema", Spent: new(false)}
}
