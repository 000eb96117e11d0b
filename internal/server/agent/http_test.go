package agent_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// post sends a body to /mcp, with headers name, value, ...
func (w *world) post(body string, headers ...string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), "POST", w.address+"/mcp", strings.NewReader(body))
	must(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+w.tokens["ana"])
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	must(w.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(w.t, err)
	return answer.StatusCode, string(text)
}

const list = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`

// Nobody comes in without a token of this server, and a page of another origin not even with one.
func TestWhoComesIn(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), usual)
	for name, c := range map[string]struct {
		status  int
		headers []string
	}{
		"ana":            {200, nil},
		"nobody":         {401, []string{"Authorization", ""}},
		"a wrong token":  {401, []string{"Authorization", "Bearer wrong"}},
		"no token":       {401, []string{"Authorization", "Bearer "}},
		"another origin": {403, []string{"Origin", "https://evil.example"}},
		"a cross-site":   {403, []string{"Sec-Fetch-Site", "cross-site"}},
		"no JSON":        {415, []string{"Content-Type", "text/plain"}},
		"its own page":   {200, []string{"Origin", w.address}},
		"a proxy's name": {200, []string{"Host", "db.example"}},
		"JSON alone":     {200, []string{"Accept", "application/json"}},
	} {
		if status, text := w.post(list, c.headers...); status != c.status || status == 200 && !strings.Contains(text, "sandbox") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if _, err := w.connect("wrong"); err == nil {
		t.Error("a client came in with a wrong token")
	}
	for _, method := range []string{"GET", "DELETE"} {
		r, _ := http.NewRequestWithContext(t.Context(), method, w.address+"/mcp", nil)
		answer, err := bearer(w.tokens["ana"]).RoundTrip(r)
		if err != nil || answer.StatusCode != 405 || answer.Header.Get("Allow") == "" {
			t.Error(method, answer.Status, err)
		}
		answer.Body.Close()
	}
}

// Who is revoked is out with the next call, and also one that waits is not charged.
func TestRevoked(t *testing.T) {
	t.Parallel() // it waits
	w := newWorld(t, hospital.New(people, 1), "{epsilon: 2, per_query: {default: 0.1, max: 1}}\n    release: {tick: 2s}")
	ben, ana := w.as("ben"), w.as("ana")
	ana.must("ask", sql("SELECT COUNT(*) FROM patients")) // and so a tick has just been
	done := make(chan said, 1)
	go func() { done <- ben.call("ask", sql("SELECT COUNT(*) FROM visits")) }()
	time.Sleep(300 * time.Millisecond)
	must(t, w.users.Revoke(t.Context(), "ben"))
	if got := <-done; !got.failed || got.json["kind"] != "denied" || got.json["spent"] != false {
		t.Error(got.text)
	}
	if _, err := ben.CallTool(t.Context(), &mcp.CallToolParams{Name: "budget"}); err == nil {
		t.Error("who is revoked has tools")
	}
	ana.must("budget", nil, "left: epsilon 1.9") // nothing of Ben's
}

// Who may ask about nothing is told nothing, and an owner asks nothing here either.
func TestWithoutDatasets(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), usual)
	cy := w.as("cy")
	for _, tool := range []string{"describe", "budget"} {
		cy.fails(tool, nil, "missing")
		cy.fails(tool, map[string]any{"dataset": "hospital"}, "missing")
	}
	for _, tool := range []string{"quote", "ask", "sandbox"} {
		cy.fails(tool, sql(bySex, "dataset", "hospital"), "missing")
		w.as("olga").fails(tool, sql(bySex, "dataset", "hospital"), "role")
	}
	w.as("olga").fails("budget", map[string]any{"dataset": "hospital"}, "role")
	w.as("olga").fails("describe", map[string]any{"dataset": "hospital"}, "role")
	if n := w.charges("olga"); n != 0 {
		t.Errorf("%d charges", n)
	}
}

// Whatever is sent, the server says that it is wrong, and goes on.
func TestBadInput(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), usual)
	call := func(params string) string {
		return `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ` + params + `}`
	}
	for body, status := range map[string]int{
		"": 400, "[]": 400, "null": 400, "{": 400, "{}": 400, `"x"`: 400, "[" + list + "," + list + "]": 400, list + list: 400,
		`{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}`:                             400,
		`{"jsonrpc": "2.0", "id": 1, "method": "nothing"}`:                                400,
		`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}`:                   404,
		`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "Method": "ping"}`: 404,
		`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "method": "ping"}`: 400,
		`{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "subscriptions/listen"}`: 400,
		`{"jsonrpc": "2.0", "method": "notifications/initialized"}`:                       202,
		`{"jsonrpc": "2.0", "id": 1, "result": {}}`:                                       202,
		strings.Repeat(" ", 1<<20) + list:                                                 413,
		strings.Repeat(`{"a":`, 100_000):                                                  400,
		"\xff":                                                                            400,
		call(`{"name": "release", "arguments": {}}`):                                      200,
		call(`{"name": "ask", "arguments": []}`):                                          200,
		call(`{"name": "ask", "arguments": "x"}`):                                         200,
		call(`{"name": "ask"}`):                                                           200,
		call(`[]`):                                                                        200,
		call(`{"name": "ask", "arguments": {"sql": 7}}`):                                  200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT 1", "parameters": {"a": 1}}}`): 200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "dataset": "../hospital"}}`):     200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "analyst": "ben"}}`):             200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "free": true}}`):                 200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients\u0000"}}`):                         200,
		call(`{"name": "ask", "arguments": {"SQL": "SELECT COUNT(*) FROM patients"}}`):                               200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "Epsilon": 1}}`):                 200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "epsilon": 0.1, "epsilon": 1}}`): 200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "Request": "x"}}`):               200,
		call(`{"name": "budget", "arguments": {"dataset": "hospital", "Dataset": "hospital"}}`):                      200,
		call(`{"name": "budget", "arguments": {"dataset": "` + strings.Repeat("x", 100_000) + `"}}`):                 200,
		call(`{"name": "sandbox", "arguments": {"sql": "` + strings.Repeat("SELECT ", 10_000) + `"}}`):               200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "epsilon": 1e400}}`):             200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "epsilon": -1}}`):                200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "confidence": "NaN"}}`):          200,
		call(`{"name": "quote", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "request": "x"}}`):             200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "request": "a\nb"}}`):            200,
		call(`{"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM patients", "settings": {"dp.error": ""}}}`): 200,
	} {
		got, text := w.post(body)
		if got != status || len(text) > 10_000 || status == 200 && !strings.Contains(text, `"isError":true`) && !strings.Contains(text, `"error":`) {
			t.Errorf("%.100q: %d %.300s", body, got, text)
		}
	}
	if status, text := w.post(list, "Mcp-Protocol-Version", "1999-01-01"); status != 400 {
		t.Error(status, text)
	}
	if n := w.charges("ana"); n != 0 {
		t.Errorf("%d charges", n)
	}
	w.as("ana").must("ask", sql(bySex))
}

// python is an interpreter that has the official client, package mcp: that of the folder of tools
// (.ci/tools), or the first on the path. Without one the test is skipped, and fails where
// DISCREET_NEED_TOOLS has mcp, or all.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{filepath.Join(os.Getenv("DISCREET_TOOLS"), "mcp", "bin", "python"), "python3"} {
		if exec.Command(name, "-c", "from mcp import Client").Run() == nil {
			return name
		}
	}
	const missing = "there is no Python with the package mcp: .ci/tools installs it, or pip install mcp"
	if needed := strings.Split(os.Getenv("DISCREET_NEED_TOOLS"), ","); slices.Contains(needed, "mcp") || slices.Contains(needed, "all") {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// The official client for Python has the same tools, answers and errors.
func TestPython(t *testing.T) {
	interpreter := python(t)
	w := newWorld(t, hospital.New(people, 1), usual)
	var in bytes.Buffer
	calls := []struct {
		tool string
		with any
		want string
	}{
		{"describe", map[string]any{}, "Table patients"}, {"sandbox", sql(bySex), "MADE UP"},
		{"quote", sql(bySex), "price: epsilon 0.1; left: epsilon 2"}, {"ask", sql(bySex), "price: epsilon 0.1; left: epsilon 1.9"},
		{"ask", sql(bySex), "free, already paid for"}, {"ask", sql("SELECT * FROM patients"), "refused: * would show rows"},
		{"budget", map[string]any{}, "left: epsilon 1.9"},
	}
	for _, c := range calls {
		must(t, json.NewEncoder(&in).Encode([]any{c.tool, c.with}))
	}
	run := func(token string) ([]string, error) {
		c := exec.CommandContext(t.Context(), interpreter, "testdata/client.py", "http", w.address+"/mcp")
		c.Env = append(os.Environ(), "TOKEN="+token)
		c.Stdin = bytes.NewReader(in.Bytes())
		out, err := c.Output()
		return strings.Split(strings.TrimSpace(string(out)), "\n"), err
	}
	lines, err := run(w.tokens["ana"])
	if err != nil || len(lines) != 1+len(calls) || !strings.Contains(lines[0], `["ask", "budget", "describe", "quote", "sandbox"]`) {
		t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
	}
	for i, c := range calls {
		var got struct {
			Tool, Text string
			Error      bool
			JSON       map[string]any
		}
		must(t, json.Unmarshal([]byte(lines[1+i]), &got))
		if got.Tool != c.tool || !strings.Contains(got.Text, c.want) || got.Error != strings.HasPrefix(c.want, "refused") ||
			got.JSON == nil {
			t.Errorf("%s %v: %s", c.tool, c.with, lines[1+i])
		}
	}
	if n := w.charges("ana"); n != 1 {
		t.Errorf("%d charges", n)
	}
	if lines, err := run("wrong"); err == nil {
		t.Errorf("a wrong token gets %s", lines)
	}
}
