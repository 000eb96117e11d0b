package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/internal/render"
)

// Send posts a message to /mcp of a server in somebody's name, and returns what came back. An error
// is in words for who runs the relay.
type Send func(ctx context.Context, message json.RawMessage) (json.RawMessage, error)

// Relay returns a server whose tools are those of another, which has the data and decides. A call
// is one request there: nothing is open between two, so nothing is lost when that server is
// restarted. The context ends the calls that wait for it, too.
func Relay(ctx context.Context, send Send, version string) (*mcp.Server, error) {
	var begun mcp.InitializeResult
	err := call(ctx, send, "initialize", map[string]any{"protocolVersion": protocolVersion, "capabilities": struct{}{},
		"clientInfo": mcp.Implementation{Name: "discreet", Version: version}}, &begun)
	if err != nil {
		return nil, err
	}
	var there mcp.ListToolsResult
	if err := call(ctx, send, "tools/list", struct{}{}, &there); err != nil {
		return nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "discreet", Title: "Discreet", Version: version}, &mcp.ServerOptions{
		Instructions: begun.Instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range there.Tools {
		s.AddTool(t, func(call context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, stop := joinContexts(ctx, call)
			defer stop()
			return forward(ctx, send, r.Params.Name, r.Params.Arguments), nil
		})
	}
	return s, nil
}

// protocolVersion is the version of the protocol that the two speak, which is of no matter to who
// calls.
const protocolVersion = "2025-11-25"

// forward calls a tool there. Numbers of the answer go through as they were written.
func forward(ctx context.Context, send Send, name string, arguments json.RawMessage) *mcp.CallToolResult {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	var raw json.RawMessage
	err := call(ctx, send, "tools/call", map[string]any{"name": name, "arguments": arguments}, &raw)
	var out mcp.CallToolResult
	var exact struct {
		StructuredContent json.RawMessage `json:"structuredContent"`
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(raw, &out), json.Unmarshal(raw, &exact))
	}
	if err != nil {
		trouble := Trouble{Kind: "server", Reason: render.Clean(err.Error()),
			Instead: "call again with the same arguments; within an hour nothing is charged twice"}
		out := tool{}.result(&reply{trouble.String(), trouble})
		out.IsError = true
		return out
	}
	if len(exact.StructuredContent) > 0 {
		out.StructuredContent = exact.StructuredContent
	}
	return &out
}

func call(ctx context.Context, send Send, method string, params, result any) error {
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	text, err := send(ctx, message)
	if err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("the server does not speak the Model Context Protocol: %w", err)
	}
	if answer.Error != nil {
		return errors.New("the server says: " + answer.Error.Message)
	}
	return json.Unmarshal(answer.Result, result)
}
