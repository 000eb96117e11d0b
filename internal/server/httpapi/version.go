package httpapi

import (
	"context"
	"maps"
	"net/http"
	"runtime"
	"slices"

	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/policy"
)

// Version is which program answers. Nobody is told who has not signed in: who looks for servers
// with a hole that is known begins by asking. That makes it no secret: the page and the docs, which
// everybody can read, are other files in other releases.
type Version struct {
	Version string   `json:"version" doc:"The release of this server"`
	Commit  string   `json:"commit,omitempty" doc:"For the owner: what it was built from, if that is known"`
	Go      string   `json:"go,omitempty" doc:"For the owner: the version of Go that it was built with"`
	Port    int      `json:"postgres_port,omitempty" doc:"The port for PostgreSQL clients; missing if there is none. A proxy in front can have another"`
	Engines []Engine `json:"engines" doc:"The engines that run the questions about the datasets that you may see, by name"`
}

// Engine is an engine as the policy names it. No engine is asked which version it has.
type Engine struct {
	Name     string   `json:"name" doc:"As in the policy: duckdb or trino"`
	Datasets []string `json:"datasets" doc:"Your datasets that it runs"`
}

// versionHandler tells which program answers.
type versionHandler struct {
	dispatcher *admission.Dispatcher
	version    string
	port       int
}

func (h *versionHandler) register(r *router) {
	register(r, operation(anyUser, http.MethodGet, "/v1/version", "version", "Which version this is",
		"The release of the server, and the engines of the datasets that you may see, as the policy names them; for the owner, also what "+
			"it was built from and with. Nothing is read from the data."),
		func(_ context.Context, u users.User, _ *empty) (*body[Version], error) {
			out := Version{Version: h.version, Port: h.port, Engines: enginesFor(h.dispatcher.DB().Policy(), u)}
			if u.Role == users.Owner {
				out.Commit, out.Go = version.Revision(), runtime.Version()
			}
			return bodyOf(out), nil
		})
}

// enginesFor are the engines of the datasets that a user may see.
func enginesFor(p *policy.Policy, u users.User) []Engine {
	datasets := map[string][]string{}
	for _, name := range visibleDatasets(p, u) {
		engine := p.Datasets[name].Engine
		datasets[engine] = append(datasets[engine], name)
	}
	out := []Engine{}
	for _, engine := range slices.Sorted(maps.Keys(datasets)) {
		out = append(out, Engine{engine, datasets[engine]})
	}
	return out
}
