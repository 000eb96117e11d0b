package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A relay that is told to end does not wait for the server's answer.
func TestRelayEnds(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	waits := make(chan struct{})
	send := func(ctx context.Context, message json.RawMessage) (json.RawMessage, error) {
		switch method, err := methodOf(message); {
		case err != nil:
			return nil, err
		case method == "initialize":
			return json.RawMessage(`{"result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}}`), nil
		case method == "tools/list":
			return json.RawMessage(`{"result": {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}}`), nil
		}
		close(waits)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Second):
			return json.RawMessage(`{"result": {}}`), nil
		}
	}
	relay, err := Relay(ctx, send, "test")
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := relay.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	go func() {
		<-waits
		end()
	}()
	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "server: context canceled") {
		t.Errorf("%+v %v", r, err)
	}
}
