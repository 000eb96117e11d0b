package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Health is what everybody may know.
type Health struct {
	Status string `json:"status" enum:"ok,not ready"`
	Reason string `json:"reason,omitempty" doc:"What it waits for, or why it ends: the data, the ledger, or the end of the server"`
}

type healthAnswer struct {
	Status int
	Body   Health
}

// health adds the two addresses that need no user. They say yes or no, and what is waited for, in
// words that are the same whatever data and ledger there are.
func (d *door) health() {
	d.says(operation(everybody, http.MethodGet, "/healthz", "alive", "Whether the server runs",
		"For those who start it again when it does not: 503 once its ledger does no more work before that."), func() error {
		if d.Dispatcher != nil && d.Dispatcher.Stopped() {
			return errStopped
		}
		return nil
	})
	d.says(operation(everybody, http.MethodGet, "/readyz", "ready", "Whether questions can be asked", "For those who send others here."),
		func() error {
			if d.Ready == nil {
				return nil
			}
			return d.Ready()
		})
}

// errStopped is said of a server that has to be started again.
var errStopped = errors.New("the ledger has stopped")

// says answers with yes, or with why not.
func (d *door) says(o huma.Operation, well func() error) {
	o.Responses = map[string]*huma.Response{"503": {Description: "Not ready",
		Content: map[string]*huma.MediaType{mediaJSON: {Schema: schema[Health](d)}}}}
	huma.Register(d.api, o, func(context.Context, *nothing) (*healthAnswer, error) {
		if err := well(); err != nil {
			return &healthAnswer{http.StatusServiceUnavailable, Health{"not ready", err.Error()}}, nil
		}
		return &healthAnswer{http.StatusOK, Health{Status: "ok"}}, nil
	})
}
