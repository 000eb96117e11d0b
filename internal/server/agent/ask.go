package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/ledger"
)

// quote prices a question.
func quote(ctx context.Context, a analyst, arguments json.RawMessage) (*reply, error) {
	q, request, err := a.asked(arguments)
	if err != nil {
		return nil, err
	}
	if request != "" {
		return nil, invalid("request is for ask: a price is free")
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
	return with(a.Answer, map[string]any{"request": a.Request}, a.LeftOut)
}

// with adds members to an answer.
func with(a *api.Answer, members map[string]any, leftOut int) ([]byte, error) {
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

// ask asks a question, and pays.
func ask(ctx context.Context, a analyst, arguments json.RawMessage) (*reply, error) {
	q, request, err := a.asked(arguments)
	if err != nil {
		return nil, err
	}
	answer, request, err := a.askOnce(ctx, q, request)
	if err != nil {
		p := *httpapi.ProblemOf(err)
		if p.Spent == nil || *p.Spent {
			p.Request = request
		}
		return nil, &p
	}
	var text strings.Builder
	left := shorten(answer)
	render.Answer(&text, answer)
	if r := answer.Receipt; r.Hash != "" {
		fmt.Fprintf(&text, "receipt: record %d, %s\n", r.Sequence, r.Hash)
	}
	sayLeft(&text, left)
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
		if !elsewhere(err) || tried == mostNames {
			return answer, request, err
		}
		request = a.retries.next(q, request, a.now())
	}
}

// askAs asks under a name.
func (a analyst) askAs(ctx context.Context, q api.Question, request string) (*api.Answer, error) {
	q.Request = request
	return a.dispatcher.Ask(ctx, q)
}

// elsewhere says whether a name was used before for what is another question now: the text is the
// same, and the data, the time that it asks for or the window of the budget is not. Nothing was
// charged.
func elsewhere(err error) bool {
	var lapsed *ledger.LapsedError
	return errors.As(err, new(*ledger.RequestError)) || errors.As(err, &lapsed) && !lapsed.Charged
}

// MostRows is how many rows of an answer a model is told: more would fill its memory.
const MostRows = 500

// shorten leaves out the rows beyond, and says how many.
func shorten(a *api.Answer) int {
	left := len(a.Rows) - MostRows
	if left <= 0 {
		return 0
	}
	short := *a
	short.Rows = a.Rows[:MostRows]
	if a.Errors != nil {
		short.Errors = a.Errors[:MostRows]
	}
	*a = short
	return left
}

func sayLeft(text *strings.Builder, left int) {
	if left > 0 {
		// The order is that of the question, which a query around it keeps; its price has to be the
		// same, or it would be a sharper question.
		fmt.Fprintf(text, "%d more rows are not shown; they are paid for, and with the same other arguments asking for them is free: "+
			"SELECT * FROM (the question) AS t LIMIT %d OFFSET %d\n", left, MostRows, MostRows)
	}
}
