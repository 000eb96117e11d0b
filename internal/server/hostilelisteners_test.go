package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// send sends something with the client's account, over a connection that it keeps.
func (h *hostile) send(ctx context.Context, method, at, body string) (string, error) {
	if h.web == nil {
		h.web = h.client(h.home(), true)
	}
	return fetchWith(ctx, h.web, method, "https://"+h.HTTP+at, h.who.Token, body)
}

// longBody is a request of nearly a MiB that comes to nothing, after all of it was read.
var longBody = `{"rows": [` + strings.Repeat(`{"a": 1}, `, 99_000) + `{"a": 1}]}`

func (h *hostile) longBodies(ctx context.Context) error {
	_, err := h.send(ctx, "POST", "/v1/models/none/predict", longBody)
	return err
}

// saves saves a question and removes it again.
func (h *hostile) saves(ctx context.Context) error {
	text, err := h.send(ctx, "POST", "/v1/saved", `{"title": "x", "dataset": "hospital", "sql": "SELECT COUNT(*) FROM patients"}`)
	if err != nil {
		return err
	}
	var kept struct{ ID string }
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return err
	}
	_, err = h.send(ctx, "DELETE", "/v1/saved/"+kept.ID, "")
	return err
}

// ownReceipts looks through all of one's receipts for one that is not there.
func (h *hostile) ownReceipts(ctx context.Context) error {
	_, err := h.send(ctx, "GET", "/v1/receipts?receipt="+strings.Repeat("f", 64), "")
	return err
}

// call calls a tool as an agent does.
func (h *hostile) call(ctx context.Context, tool, text string) error {
	const message = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": %q, ` +
		`"arguments": {"dataset": "hospital", "sql": %q}}}`
	_, err := h.send(ctx, "POST", "/mcp", fmt.Sprintf(message, tool, text))
	return err
}

func (h *hostile) longSandbox(ctx context.Context) error {
	return h.call(ctx, "sandbox", "SELECT sum(a.n * g.i) FROM (SELECT count(*) AS n FROM patients) AS a, "+
		fmt.Sprintf("generate_series(1, 10000) AS g(i), generate_series(1, %d) AS h(j)", 10_000+h.n))
}

func (h *hostile) listTools(ctx context.Context) error {
	_, err := h.send(ctx, "POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	return err
}
