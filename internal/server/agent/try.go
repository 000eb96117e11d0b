package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
)

// madeUp stands before everything that the sandbox says.
const madeUp = "MADE UP: this is the sandbox. The rows are made from the policy alone, the numbers mean nothing, and nothing was spent."

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
	q, request, err := a.asked(arguments)
	if err != nil {
		return nil, err
	}
	if request != "" {
		return nil, invalid("request is for ask: nothing is paid for here")
	}
	var answer *api.Answer
	err = a.dispatcher.Look(ctx, a.user.Name, func(ctx context.Context) (err error) {
		answer, err = a.sandbox.Ask(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	left := shorten(answer)
	render.Body(&text, answer)
	text.WriteString("on the data this would cost at most " + render.Cost(answer.Cost) + "; quote says what it costs now\n")
	sayLeft(&text, left)
	return &reply{text.String(), MadeUp{answer}}, nil
}
