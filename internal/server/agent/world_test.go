package agent_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// world is a server with a hospital behind it. Ana may spend all of its budget and Ben half of it;
// Cy may ask about nothing, and Olga owns it.
type world struct {
	t       *testing.T
	dir     string
	server  *server.Server
	users   *users.Store
	tokens  map[string]string
	address string
}

const people = 300

// usual is a budget for a few questions, whose answers leave at once.
const usual = "{epsilon: 2, per_query: {default: 0.1, max: 1}}\n    release: immediate"

func newWorld(t *testing.T, h *hospital.Hospital, budget string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), tokens: map[string]string{}}
	must(t, h.Write(filepath.Join(w.dir, "data")))
	c := server.Config{Policy: filepath.Join(w.dir, "policy.yaml"), Users: filepath.Join(w.dir, "policy.users"), HTTP: "127.0.0.1:0",
		Version: "test"}
	must(t, os.WriteFile(c.Policy, []byte("datasets:\n"+hospital.Dataset("hospital", "data", budget)), 0o600))
	everybody := map[string]users.Role{"ana": users.Analyst, "ben": users.Analyst, "cy": users.Analyst, "olga": users.Owner}
	userstest.Write(t, c.Users, everybody, "")
	var err error
	if w.users, err = users.Open(c.Users); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.users.Close() })
	for name := range everybody {
		if w.tokens[name], _, err = w.users.NewToken(t.Context(), name, "test", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if w.server, err = server.Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.address = "http://" + w.server.HTTPAddr().String()
	served := make(chan error, 1)
	go func() { served <- w.server.Serve() }()
	t.Cleanup(func() {
		if err := w.server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return w
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// model is a session with the tools.
type model struct {
	t *testing.T
	*mcp.ClientSession
}

// connect opens a session with a token, by the SDK's own client.
func (w *world) connect(token string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(w.t.Context(), &mcp.StreamableClientTransport{Endpoint: w.address + "/mcp",
		HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil)
}

func (w *world) as(name string) model {
	w.t.Helper()
	s, err := w.connect(w.tokens[name])
	must(w.t, err)
	w.t.Cleanup(func() { s.Close() })
	return model{w.t, s}
}

// said is what came of a call.
type said struct {
	failed bool
	text   string
	json   map[string]any
	raw    string
}

func (a model) call(name string, arguments any) said {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s %v: %v", name, arguments, err)
	}
	return read(a.t, r)
}

func read(t *testing.T, r *mcp.CallToolResult) said {
	t.Helper()
	out := said{failed: r.IsError}
	if len(r.Content) != 1 {
		t.Fatalf("%d contents", len(r.Content))
	}
	out.text = r.Content[0].(*mcp.TextContent).Text
	raw, err := json.Marshal(r.StructuredContent)
	if err != nil || json.Unmarshal(raw, &out.json) != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	out.raw = string(raw)
	return out
}

// must is a call that has an answer with these words.
func (a model) must(name string, arguments any, words ...string) said {
	a.t.Helper()
	got := a.call(name, arguments)
	if got.failed {
		a.t.Errorf("%s %v: %s", name, arguments, got.text)
	}
	got.has(a.t, words...)
	return got
}

// fails is a call that has none, of a kind, with these words.
func (a model) fails(name string, arguments any, kind string, words ...string) said {
	a.t.Helper()
	got := a.call(name, arguments)
	if !got.failed || got.json["kind"] != kind || !strings.HasPrefix(got.text, kind+": ") && got.json["made_up"] != true {
		a.t.Errorf("%s %v: %v %s %s", name, arguments, got.failed, got.text, got.raw)
	}
	got.has(a.t, words...)
	return got
}

func (s said) has(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(s.text, word) {
			t.Errorf("there is no %q in\n%s", word, s.text)
		}
	}
}

func sql(text string, more ...any) map[string]any {
	out := map[string]any{"sql": text}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// charges counts what is in the ledger of somebody.
func (w *world) charges(name string) int {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), "GET", w.address+"/v1/receipts", nil)
	must(w.t, err)
	answer, err := bearer(w.tokens[name]).RoundTrip(r)
	must(w.t, err)
	defer answer.Body.Close()
	var all struct{ Receipts []any }
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil || answer.StatusCode != 200 {
		w.t.Fatal(answer.Status, err)
	}
	return len(all.Receipts)
}

// must ends a test that cannot go on.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
