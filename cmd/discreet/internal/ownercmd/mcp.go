package ownercmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/sandbox"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/agent"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/version"
)

type MCPCmd struct {
	console.ServerFlags `embed:""`

	Policy  string        `help:"The policy file." placeholder:"FILE" short:"p"`
	As      string        `help:"The analyst as whom the model asks, by the name in the policy; for --policy." placeholder:"ANALYST"`
	Timeout time.Duration `help:"How long a question may run, ${default} unless given; for --policy. A question that takes longer is an incident." default:"5m" placeholder:"TIME"`
}

func (MCPCmd) Help() string {
	return `Speaks the Model Context Protocol on standard input and output, for a program that starts it, such as Claude Desktop
or Claude Code. The model has five tools: describe (tables, columns, and the SQL that is understood), quote (price
and error, free), ask (pays), budget, and sandbox, which tries out SQL on made-up rows, free. It asks as one analyst,
with that analyst's quota, and can do nothing that needs an owner.

  discreet mcp --policy hospital.yaml --as agent
  discreet mcp --server https://db.example:8432 --token-file agent.token
  claude mcp add discreet -- discreet mcp --policy /data/hospital.yaml --as agent

With --policy this process holds the ledger, and nobody else can ask meanwhile; 'discreet serve' is for several, and
serves the same tools at /mcp. Give a model an analyst of its own in the policy: its share of the budget limits what
it can pay for. What others paid for is free to it, too. docs/mcp.md has the rest.`
}

func (c *MCPCmd) Run(ctx context.Context, s console.Screen) error {
	remote, err := c.Open(c.Policy)
	switch {
	case err != nil:
		return err
	case remote != nil && c.As != "":
		return console.Misuse(errors.New("--as is for --policy: with a server, the token says who asks"))
	case remote != nil:
		return c.relay(ctx, s, remote)
	case c.As == "":
		return console.Misuse(errors.New("name the analyst as whom the model asks, with --as"))
	case c.Timeout <= 0:
		return console.Misuse(errors.New("--timeout must be above 0, such as 5m"))
	}
	return c.serveLocal(ctx, s)
}

func (c *MCPCmd) relay(ctx context.Context, s console.Screen, to *console.Client) error {
	tools, err := agent.Relay(ctx, func(ctx context.Context, message json.RawMessage) (answer json.RawMessage, err error) {
		err = to.Server().Call(ctx, http.MethodPost, "/mcp", message, &answer)
		return answer, err
	}, version.Version)
	if err != nil {
		return err
	}
	return serveTools(ctx, s, tools)
}

// mcpDrainTimeout is how long questions have to end that run when nobody listens any more. Programs
// that start a process such as this one close its input, terminate it after two seconds, and kill
// it after two more; and one that is killed while it has a question counts as one that crashed.
const mcpDrainTimeout = 2 * time.Second

// serveLocal asks about data of this machine. Nothing is logged: who starts this process reads what
// it writes, and how long a question took, and how large the data is, are for the owner alone.
func (c *MCPCmd) serveLocal(ctx context.Context, s console.Screen) (err error) {
	db, err := discreet.Open(ctx, c.Policy, discreet.WithOwnerSocket())
	if err != nil {
		return err
	}
	me := users.User{Name: c.As, Role: users.Analyst}
	if len(httpapi.AskableDatasets(db.Policy(), me)) == 0 {
		return errors.Join(console.Misuse(fmt.Errorf("the policy lists no analyst %q", c.As)), db.Close())
	}
	d := admission.New(db, admission.Options{Timeout: c.Timeout, Opening: true})
	made := sandbox.New(db.Policy())
	handler := agent.New(d, made, version.Version)
	ctx, fail := context.WithCancelCause(ctx)
	var opening sync.WaitGroup
	opening.Go(func() {
		// Meanwhile tools that need no data answer: programs do not wait long for one that they
		// start.
		if err := openData(ctx, db, d); err != nil {
			fail(err)
		}
	})
	s.In = &endNotifier{s.In, func() { fail(context.Canceled) }}
	said := make(chan error, 1)
	go func() { said <- serveTools(ctx, s, handler.For(ctx, me)) }()
	select {
	case err = <-said:
	case <-ctx.Done(): // the SDK would wait for questions
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	fail(context.Canceled)
	return errors.Join(err, c.drainAndClose(db, d, made, &opening))
}

// drainAndClose waits for what runs, and closes. What does not end is left to itself, with the
// ledger closed in order: it is neither kept nor told, so nobody can see by the end of this
// process, at a moment of their choice, how far a question had come. What was charged is not
// charged again under its name.
func (c *MCPCmd) drainAndClose(db *discreet.DB, d *admission.Dispatcher, made *sandbox.Sandbox, opening *sync.WaitGroup) error {
	quiet := make(chan struct{})
	go func() {
		opening.Wait()
		if d.Drain(context.Background()) == nil { // which lets nothing leave before its tick
			close(quiet)
		}
	}()
	select {
	case <-quiet:
		return errors.Join(made.Close(), db.Close())
	case <-time.After(mcpDrainTimeout):
		return errors.Join(console.NotInOrder(server.ErrCut), db.Abandon(), made.Close())
	}
}

// endNotifier is an input whose end is told at once: the SDK tells it when all calls have ended.
type endNotifier struct {
	io.Reader
	end func()
}

func (h *endNotifier) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if err != nil {
		h.end()
	}
	return n, err
}

// openData opens the data, and then lets questions in.
func openData(ctx context.Context, db *discreet.DB, d *admission.Dispatcher) error {
	if err := db.Warm(ctx); err != nil {
		return err
	}
	ticks, err := server.Ticks(ctx, db)
	if err == nil {
		d.Opened(ticks)
	}
	return err
}

// serveTools serves tools until the other side closes standard input, or somebody ends the command.
func serveTools(ctx context.Context, s console.Screen, tools *mcp.Server) error {
	err := tools.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(s.In), Writer: unclosedWriter{s.Out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil // it was told to
	}
	return err
}

// unclosedWriter is an output that is not ours to close.
type unclosedWriter struct{ io.Writer }

func (unclosedWriter) Close() error { return nil }
