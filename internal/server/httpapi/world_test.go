package httpapi

import (
	"context"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// world is a server with a hospital behind it. Ana and Ben may ask about the hospital, Ben also
// about the clinic, Cy about nothing, and Olga owns all of it.
type world struct {
	t        testing.TB
	options  Options
	api      *server
	server   *httptest.Server
	users    *users.Store
	db       *discreet.DB
	document map[string]any
	tokens   map[string]string
	log      *paper
	seen     map[string]bool // operations and codes that were answered
	end      func()
}

// paper is what the log is written on.
type paper struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

const people = 300

// password is Ana's.
const password = "correct horse battery staple"

// atOnce lets answers leave when they are there: most tests want no tick.
const atOnce = "    release: immediate\n"

func policyText(budget string) string {
	clinic := strings.Replace(hospital.Dataset("clinic", "other", budget), "{ana: {share: 1}, ben: {share: 0.5}}", "{ben: {share: 1}}", 1)
	return "datasets:\n" + hospital.Dataset("hospital", "data", budget) + atOnce + clinic + atOnce
}

func newWorld(t testing.TB) *world { return newWorldOf(t, hospital.New(people, 1), "{epsilon: 10}") }

func newWorldOf(t testing.TB, h *hospital.Hospital, budget string) *world {
	t.Helper()
	dir := t.TempDir()
	furnish(t, dir, h, policyText(budget))
	return newWorldIn(t, dir)
}

// configure goes on as a server with other options.
func (w *world) configure(change func(*Options)) {
	change(&w.options)
	w.api = newServer(w.options)
}

// handlerOf finds the handler of a type.
func handlerOf[T handler](s *server) (h T) {
	for _, one := range s.handlers {
		if found, ok := one.(T); ok {
			return found
		}
	}
	panic("there is no such handler")
}

// furnish writes the data and the policy of a world.
func furnish(t testing.TB, dir string, h *hospital.Hospital, policy string) {
	t.Helper()
	must(t, h.Write(filepath.Join(dir, "data")))
	must(t, hospital.New(50, 2).Write(filepath.Join(dir, "other")))
	must(t, os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600))
}

// newWorldIn opens what is in a folder. Where there was a world before, this is it after a restart.
func newWorldIn(t testing.TB, dir string) *world {
	t.Helper()
	path := filepath.Join(dir, "policy.yaml")
	ctx := context.Background()
	db, err := discreet.Open(ctx, path)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	everybody := map[string]users.Role{"olga": users.Owner, "ana": users.Analyst, "ben": users.Analyst, "cy": users.Analyst}
	if _, missing := os.Stat(filepath.Join(dir, "users.db")); missing != nil {
		userstest.Write(t, filepath.Join(dir, "users.db"), everybody, password)
	}
	store, err := users.Open(filepath.Join(dir, "users.db"))
	must(t, err)
	t.Cleanup(func() { store.Close() })
	w := &world{t: t, users: store, db: db, tokens: map[string]string{}, log: &paper{}, seen: map[string]bool{}}
	for name := range everybody {
		if w.tokens[name], _, err = store.NewToken(ctx, name, "test", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	w.options = Options{Dispatcher: admission.New(db, admission.Options{Rate: 100_000_000}), Users: store, Version: "1.2.3",
		Log: slog.New(slog.NewTextHandler(w.log, nil)), Connections: func() int { return 7 },
		Limits: func() map[string]uint64 { return map[string]uint64{"unread": 3} }}
	w.api = newServer(w.options)
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.api.layers.handler().ServeHTTP(out, r)
	}))
	t.Cleanup(w.server.Close)
	w.end = func() { w.server.Close(); db.Close(); store.Close() }
	w.document = w.readDocument()
	return w
}

// theDocument is what every world says of itself: they are of one kind, and it takes long to write.
var theDocument struct {
	sync.Mutex
	read map[string]any
}

func (w *world) readDocument() map[string]any {
	w.t.Helper()
	theDocument.Lock()
	defer theDocument.Unlock()
	if theDocument.read == nil {
		got, asks := httptest.NewRecorder(), w.request("GET", "/openapi.json", "olga", "")
		other := w.options // a server that counts and logs for itself: whether it was asked must not show
		other.Log = nil
		newServer(other).layers.handler().ServeHTTP(got, asks)
		v, err := parse(got.Body.String())
		if err != nil || got.Code != 200 {
			w.t.Fatalf("the document: %d %v", got.Code, err)
		}
		theDocument.read = v.(map[string]any)
	}
	return theDocument.read
}

type reply struct {
	status int
	header http.Header
	body   string
	json   any
}

// get returns a member of a reply, by the names on the way to it.
func (r reply) get(names ...string) any {
	v := r.json
	for _, name := range names {
		switch o := v.(type) {
		case map[string]any:
			v = o[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(o) {
				return nil
			}
			v = o[i]
		default:
			return nil
		}
	}
	return v
}

// request makes a request of a user's; of nobody's, where there is no name.
func (w *world) request(method, path, user, body string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
	must(w.t, err)
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+w.tokens[user])
	}
	if method == "POST" || method == "PUT" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("X-Request-Id", "the-same")
	return r
}

// call sends a request and holds the answer against the document.
func (w *world) call(method, path, user, body string, headers ...string) reply {
	w.t.Helper()
	r := w.request(method, path, user, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return w.send(r)
}

func (w *world) send(r *http.Request) reply {
	w.t.Helper()
	response, err := w.server.Client().Do(r)
	must(w.t, err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	must(w.t, err)
	got := reply{status: response.StatusCode, header: response.Header, body: string(b)}
	got.json, _ = parse(got.body)
	if w.document != nil {
		w.honest(r, got)
	}
	return got
}

// honest holds an answer against what the document says about its operation, status and media type.
func (w *world) honest(r *http.Request, got reply) {
	w.t.Helper()
	what := r.Method + " " + r.URL.Path + " " + strconv.Itoa(got.status)
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		if got.header.Get(name) != want {
			w.t.Errorf("%s: %s is %q", what, name, got.header.Get(name))
		}
	}
	if got.header.Get("X-Request-Id") == "" {
		w.t.Errorf("%s: there is no request id", what)
	}
	media, _, _ := mime.ParseMediaType(got.header.Get("Content-Type"))
	if got.status >= 400 && media != mediaProblem && r.URL.Path != "/readyz" {
		w.t.Errorf("%s: the problem is %q: %s", what, media, got.body)
		return
	}
	problem := map[string]any{"$ref": "#/components/schemas/Problem"}
	_, pattern := w.api.router.mux.Handler(r)
	method, path, _ := strings.Cut(pattern, " ")
	w.seen[pattern+" "+strconv.Itoa(got.status)] = true
	if pattern == "" || r.Method != method || got.get("kind") == "path" {
		if got.status < 400 {
			w.t.Errorf("%s: nothing is documented here", what)
		}
		w.fits(what, problem, got.body)
		return
	}
	described, ok := reply{json: w.document}.get("paths", path, strings.ToLower(method), "responses",
		strconv.Itoa(got.status)).(map[string]any)
	if !ok {
		w.t.Errorf("%s: this code is not documented", what)
		return
	}
	types, _ := described["content"].(map[string]any)
	if len(types) == 0 {
		if got.body != "" {
			w.t.Errorf("%s: there is a body, and none is documented: %s", what, got.body)
		}
		return
	}
	one, ok := types[media].(map[string]any)
	if !ok {
		w.t.Errorf("%s: the media type %q is not documented", what, media)
		return
	}
	switch media {
	case mediaNDJSON:
		for _, line := range strings.Split(strings.TrimSuffix(got.body, "\n"), "\n") {
			w.fits(what, one["schema"], line)
		}
	case mediaCSV, "text/plain", "application/openapi+yaml":
	default:
		w.fits(what, one["schema"], got.body)
	}
}

func (w *world) fits(what string, schema any, text string) {
	w.t.Helper()
	v, err := parse(text)
	if err != nil {
		w.t.Errorf("%s: %v: %s", what, err, text)
		return
	}
	for _, fault := range check(w.document, schema, v, what) {
		w.t.Error(fault)
	}
}

// want fails unless the reply has a status.
func (w *world) want(got reply, status int) reply {
	w.t.Helper()
	if got.status != status {
		w.t.Fatalf("got %d and wanted %d: %s", got.status, status, got.body)
	}
	return got
}

// must ends a test that cannot go on.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
