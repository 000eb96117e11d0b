package httpapi

import (
	"context"
	"net/http"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// routes is a mux that knows what was put into it, so that a test can compare it with the document.
type routes struct {
	mux      *http.ServeMux
	patterns []string
}

// HandleFunc and ServeHTTP are what the adapter wants.
func (r *routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	r.patterns = append(r.patterns, pattern)
	r.mux.HandleFunc(pattern, h)
}

func (r *routes) ServeHTTP(w http.ResponseWriter, q *http.Request) { r.mux.ServeHTTP(w, q) }

// way sends a request where it belongs, and says in our words where nothing is there. The mux would
// redirect paths that are not clean; here they do not exist, so that every address has one
// spelling.
func (d *door) way() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := r.URL.EscapedPath(); at == "" || at[0] != '/' || path.Clean(at) != at {
			d.write(w, r, errNoPath())
			return
		}
		h, pattern := d.routes.mux.Handler(r)
		if pattern != "" {
			d.metrics.request(pattern)
			note(r.Context()).route = pattern
			d.routes.mux.ServeHTTP(w, r)
			return
		}
		var seen nobody
		h.ServeHTTP(&seen, r)
		if seen.status != http.StatusMethodNotAllowed {
			d.write(w, r, errNoPath())
			return
		}
		w.Header().Set("Allow", seen.Header().Get("Allow"))
		d.write(w, r, &Problem{Status: http.StatusMethodNotAllowed, Kind: "method",
			Detail: "there is nothing here for this method; the header Allow says for which"})
	})
}

func errNoPath() *Problem {
	return &Problem{Status: http.StatusNotFound, Kind: "path", Detail: "there is nothing at this address",
		Instead: "GET /openapi.json lists what there is"}
}

// nobody takes what the mux says about a path that it does not have.
type nobody struct {
	header http.Header
	status int
}

func (n *nobody) Header() http.Header {
	if n.header == nil {
		n.header = http.Header{}
	}
	return n.header
}
func (n *nobody) Write(p []byte) (int, error) { return len(p), nil }
func (n *nobody) WriteHeader(status int)      { n.status = status }

// For whom an operation is.
const (
	everybody = iota // without logging in
	anyUser
	ownerOnly
)

// operation is an operation as it is documented. Problems are the codes that it can answer beside
// those that all can.
func operation(whom int, method, at, id, summary, description string, problems ...int) huma.Operation {
	o := huma.Operation{
		OperationID: id, Method: method, Path: at, Summary: summary, Description: description,
		Errors: problems, BodyReadTimeout: -1, // the body was read before; see door.read
		MaxBodyBytes: maxBody + 1, RejectUnknownQueryParameters: true,
		Metadata: map[string]any{"whom": whom},
	}
	if first, _, _ := strings.Cut(strings.TrimPrefix(at, "/v1/"), "/"); strings.HasPrefix(at, "/v1/") {
		o.Tags = []string{first}
	} else {
		o.Tags = []string{"operations"}
	}
	if whom == everybody {
		return o
	}
	o.Security = []map[string][]string{{"bearer": {}}, {"basic": {}}, {"cookie": {}}}
	o.Errors = append(o.Errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable,
		http.StatusUnprocessableEntity)
	if method == http.MethodPost || method == http.MethodPut {
		o.Errors = append(o.Errors, sending...)
	}
	return o
}

// sending are the codes with which a body can be wrong.
var sending = []int{http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}

// register adds an operation for those who came in. Whatever goes wrong in it leaves as a problem.
func register[I, O any](d *door, o huma.Operation, do func(context.Context, users.User, *I) (*O, error)) {
	owners := o.Metadata["whom"] == ownerOnly
	huma.Register(d.api, o, func(ctx context.Context, in *I) (*O, error) {
		u := note(ctx).user
		if owners && u.Role != users.Owner {
			return nil, errOwner()
		}
		out, err := do(ctx, u, in)
		if err != nil {
			return nil, ProblemOf(err)
		}
		return out, nil
	})
}

func errOwner() *Problem {
	return &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "this is for the owner of the data"}
}

// body is an answer with nothing but a body.
type body[T any] struct{ Body T }

func of[T any](v T) *body[T] { return &body[T]{v} }

// nothing is an input or an output without anything in it.
type nothing struct{}
