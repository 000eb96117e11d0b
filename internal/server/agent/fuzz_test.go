package agent_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/sandbox"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/agent"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// FuzzServe sends bodies to the handler in the name of somebody who came in. Nothing of them
// crashes the process, whose tools run outside of net/http's net, and nothing but ask is charged.
func FuzzServe(f *testing.F) {
	dir := f.TempDir()
	if err := hospital.New(20, 1).Write(filepath.Join(dir, "data")); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, "policy.yaml")
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 100}\n    release: immediate")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
	db, err := discreet.Open(f.Context(), path)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	made := sandbox.New(db.Policy())
	f.Cleanup(func() { made.Close() })
	handler := agent.New(admission.New(db, admission.Options{Rate: 100_000_000}), made, "test")
	for _, tool := range []string{"describe", "quote", "ask", "budget", "sandbox"} {
		f.Add(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "`+tool+
			`", "arguments": {"sql": "SELECT COUNT(*) FROM patients WHERE age > $1", "parameters": [3, null, {"kind": "date", "value": "x"}], `+
			`"epsilon": 0.1, "settings": {"dp.confidence": 0.9}, "request": "a"}}}`, "2025-11-25")
	}
	f.Add(list, "")
	f.Add(`{"jsonrpc": "2.0", "id": "x", "method": "server/discover", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": `+
		`"2026-07-28"}}}`, "2026-07-28")
	f.Add(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}`, "")
	f.Add(`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}`, "2024-11-05")
	f.Add(`{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}`, "")
	f.Fuzz(func(t *testing.T, body, version string) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		r := httptest.NewRequestWithContext(ctx, "POST", "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Protocol-Version", version)
		w := httptest.NewRecorder()
		handler.Serve(w, r, users.User{Name: "ana", Role: users.Analyst})
		if ctx.Err() != nil {
			t.Error("it was never answered")
		}
		if w.Code >= http.StatusInternalServerError {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
