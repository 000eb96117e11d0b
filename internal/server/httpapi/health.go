package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Health is what everybody may know.
type Health struct {
	Status string `json:"status" enum:"ok,not ready"`
}

type healthAnswer struct {
	Status int
	Body   Health
}

// health adds the two addresses that need no user. They say nothing but yes or no.
func (d *door) health() {
	huma.Register(d.api, operation(everybody, http.MethodGet, "/healthz", "alive", "Whether the server runs",
		"For those who start it again when it does not."),
		func(context.Context, *nothing) (*body[Health], error) { return of(Health{"ok"}), nil })
	o := operation(everybody, http.MethodGet, "/readyz", "ready", "Whether questions can be asked", "For those who send others here.")
	o.Responses = map[string]*huma.Response{"503": {Description: "Not ready",
		Content: map[string]*huma.MediaType{mediaJSON: {Schema: schema[Health](d)}}}}
	huma.Register(d.api, o, func(context.Context, *nothing) (*healthAnswer, error) {
		if d.Ready != nil && d.Ready() != nil {
			return &healthAnswer{http.StatusServiceUnavailable, Health{"not ready"}}, nil
		}
		return &healthAnswer{http.StatusOK, Health{"ok"}}, nil
	})
}
