package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// model is a session with discreet mcp in a process of its own, by the SDK's client.
type model struct {
	t *testing.T
	*mcp.ClientSession
	process *exec.Cmd
	errors  *bytes.Buffer
}

func newModel(t *testing.T, args ...string) *model {
	t.Helper()
	var errs bytes.Buffer
	c := process(nil, &errs, append([]string{"mcp"}, args...)...)
	c.Stdout = nil // which is the transport's
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: c}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	m := &model{t, s, c, &errs}
	t.Cleanup(func() { s.Close() })
	return m
}

// call calls a tool, and wants words in its text. It returns what programs read.
func (m *model) call(tool string, arguments any, words ...string) map[string]any {
	m.t.Helper()
	r, err := m.CallTool(m.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		m.t.Fatalf("%s %v: %v\n%s", tool, arguments, err, m.errors)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	for _, word := range words {
		if !strings.Contains(text, word) {
			m.t.Errorf("%s %v: there is no %q in\n%s", tool, arguments, word, text)
		}
	}
	out := map[string]any{}
	raw, err := json.Marshal(r.StructuredContent)
	if err != nil || json.Unmarshal(raw, &out) != nil {
		m.t.Fatal(err)
	}
	return out
}

// mcpWorld writes a hospital, and returns its policy. Answers leave at once.
func mcpWorld(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, hospital.New(200, 1).Write(filepath.Join(dir, "data")))
	policy := filepath.Join(dir, "policy.yaml")
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 1, per_query: {default: 0.1, max: 1}}") +
		"    release: immediate\n"
	must(t, os.WriteFile(policy, []byte(text), 0o600))
	return policy
}

var (
	mcpCount = map[string]any{"sql": "SELECT COUNT(*) FROM patients"}
	mcpWard  = map[string]any{"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "epsilon": 0.3}
)

// A program starts discreet mcp on a policy, and its model asks; when the program closes the pipe
// the ledger is closed in order, and the next one goes on with it.
func TestMCPOnAPolicy(t *testing.T) {
	t.Parallel()
	policy := mcpWorld(t)
	m := newModel(t, "--policy", policy, "--as", "ben")
	m.call("describe", nil, "Table patients", "Table visits")
	m.call("sandbox", mcpWard, "MADE UP", "emergency")
	m.call("quote", mcpWard, "price: epsilon 0.3; left: epsilon 0.5")
	first := m.call("ask", mcpWard, "price: epsilon 0.3; left: epsilon 0.2")
	m.call("ask", mcpCount, "price: epsilon 0.1; left: epsilon 0.1")
	m.call("ask", map[string]any{"sql": "SELECT COUNT(*) FROM visits", "epsilon": 0.2}, "budget: ", "spent: nothing")
	m.call("ask", map[string]any{"sql": "SELECT pid FROM patients"}, "refused: ", "byte 7")
	// Meanwhile the ledger is this process's, and the owner can look.
	command("mcp", "--policy", policy, "--as", "ana").wants(t, 1, "the ledger is open already")
	command("budget", "--policy", policy).wants(t, 0, "hospital/ben")
	if err := m.Close(); err != nil {
		t.Errorf("it did not end in order: %v\n%s", err, m.errors)
	}
	if m.errors.Len() > 0 {
		t.Errorf("it wrote %s", m.errors)
	}
	again := newModel(t, "--policy", policy, "--as", "ben").call("ask", mcpWard, "free, already paid for; left: epsilon 0.1")
	if a, b := first["rows"], again["rows"]; len(a.([]any)) != 3 || a.([]any)[0].([]any)[1] != b.([]any)[0].([]any)[1] {
		t.Errorf("%v and %v", a, b)
	}
}

// A process that is killed while it asks has paid at most once: after the same call to the next
// one, answered or told that the dataset is closed, one charge is gone and no second.
func TestMCPKilled(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond, 40 * time.Millisecond} {
		policy := mcpWorld(t)
		m := newModel(t, "--policy", policy, "--as", "ana")
		m.call("ask", mcpCount, "left: epsilon 0.9") // and so the data is open
		asked := make(chan error, 1)
		go func() {
			_, err := m.CallTool(context.Background(), &mcp.CallToolParams{Name: "ask", Arguments: mcpWard})
			asked <- err
		}()
		time.Sleep(after)
		must(t, m.process.Process.Kill())
		t.Logf("after %v: %v", after, <-asked)
		n := newModel(t, "--policy", policy, "--as", "ana")
		got := n.call("ask", mcpWard)
		if got["rows"] == nil && got["kind"] != "closed" {
			t.Errorf("after %v: %v", after, got)
		}
		n.call("budget", nil, "left: epsilon 0.6")
	}
}

// With --server the calls go to a server, which decides; it can be restarted between two, and what
// it says about a token is told.
func TestMCPAtAServer(t *testing.T) {
	t.Parallel()
	policy := mcpWorld(t)
	store, err := users.Open(strings.TrimSuffix(policy, ".yaml") + ".users")
	must(t, err)
	defer store.Close()
	must(t, errorOf(store.Add(t.Context(), "ana", users.Analyst, "")))
	token, _, err := store.NewToken(t.Context(), "ana", "agent", time.Time{})
	must(t, err)
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	serve := func(at string) (*running, string) {
		r := starts(t, nil, "--policy", policy, "--listen", "", "--http", at)
		return r, r.out.find(t, `HTTP on (\S+)`)
	}
	r, address := serve("127.0.0.1:0")
	m := newModel(t, "--server", "http://"+address, "--token-file", file)
	tools, err := m.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 5 || !strings.Contains(m.InitializeResult().Instructions, "sandbox") {
		t.Fatal(tools, err)
	}
	m.call("describe", nil, "Table patients")
	m.call("sandbox", mcpWard, "MADE UP")
	paid := m.call("ask", mcpWard, "price: epsilon 0.3; left: epsilon 0.7")
	m.call("ask", map[string]any{"sql": "SELECT * FROM patients"}, "refused: ", "byte 7")
	r.stops(t, os.Interrupt)
	m.call("ask", mcpWard, "server: ", "call again")
	r, _ = serve(address)
	if again := m.call("ask", mcpWard, "free, already paid for"); again["request"] != paid["request"] {
		t.Errorf("%v and %v", again["request"], paid["request"])
	}
	must(t, store.Revoke(t.Context(), "ana"))
	m.call("budget", nil, "server: ", "wrong")
	var errs bytes.Buffer
	late := process(nil, &errs, "mcp", "--server", "http://"+address, "--token-file", file)
	late.Stdout = nil
	if err := late.Run(); err == nil || !strings.Contains(errs.String(), "wrong") {
		t.Errorf("%v %s", err, &errs)
	}
	r.stops(t, os.Interrupt)
}

// What cannot be meant is refused with what to write.
func TestMCPMisuse(t *testing.T) {
	t.Parallel()
	policy := mcpWorld(t)
	token := write(t, filepath.Join(t.TempDir(), "token"), "a-token-of-somebody")
	for args, want := range map[string]string{
		"":                                    "name a policy with --policy, or a running server",
		"--policy " + policy:                  "--as",
		"--as ana":                            "name a policy",
		"--policy " + policy + " --as nobody": `no analyst "nobody"`,
		"--policy " + policy + " --as ana --timeout 0s":       "--timeout",
		"--policy " + policy + " --server http://127.0.0.1:1": "not both",
		"--server http://127.0.0.1:1":                         "--token-file",
		"--server http://db.example --token-file " + token:    "does not use TLS",
	} {
		command(append([]string{"mcp"}, strings.Fields(args)...)...).wants(t, 2, want)
	}
	command("mcp", "--help").wants(t, 0, "Model Context Protocol", "sandbox", "discreet mcp --policy hospital.yaml --as agent")
}

// soon is a release on ticks that are long, of which one comes soon; who is not ready then waits
// for the next.
func soon() string {
	tick, now := int64(12_000), time.Now().UnixMilli()
	for ; tick-now%tick < 1500 || tick-now%tick > 2000; tick++ {
	}
	return fmt.Sprintf("release: {tick: %dms}", tick)
}

// A program that ends closes the input of this one, terminates it soon after, and kills it. Where a
// question waits for a tick then, it ends in order before that: it counts as no crash, and the
// question is not charged again.
func TestMCPHungUp(t *testing.T) {
	t.Parallel()
	policy := mcpWorld(t)
	replace(t, policy, "release: immediate", soon())
	var out, errs bytes.Buffer
	m := process(&out, &errs, "mcp", "--policy", policy, "--as", "ana")
	in, err := m.StdinPipe()
	if err != nil || m.Start() != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, ` +
			`"clientInfo": {"name": "test", "version": "1"}}}`,
		`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
		`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": ` +
			`{"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "epsilon": 0.3}}}`,
	} {
		must(t, errorOf(io.WriteString(in, line+"\n")))
	}
	// It is charged on one tick, and its answer would leave on the next.
	for n := 0; !strings.Contains(command("budget", "--policy", policy).out, "epsilon 0.3 of 1"); n++ {
		if n == 600 {
			t.Fatalf("nothing was charged: %s", errs.String())
		}
		time.Sleep(50 * time.Millisecond)
	}
	in.Close()
	kill := time.AfterFunc(4*time.Second, func() { m.Process.Kill() })
	defer kill.Stop()
	if err := m.Wait(); err == nil || m.ProcessState.ExitCode() != 1 {
		t.Error(err)
	}
	if !strings.Contains(errs.String(), "interrupted; what was charged for them stays charged") {
		t.Error(errs.String())
	}
	command("budget", "--policy", policy).wants(t, 0, "epsilon 0.3 of 1")
	command("incidents", "--policy", policy).wants(t, 0, "no incidents")
	command("query", "--policy", policy, "--as", "ana", "SELECT COUNT(*) FROM patients").wants(t, 0, "left: epsilon 0.6")
	command("incidents", "--policy", policy).wants(t, 0, "no incidents")
}
