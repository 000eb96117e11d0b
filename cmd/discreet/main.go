// Command discreet answers SQL questions about sensitive data with differential
// privacy. Run "discreet demo" first.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/labcmd"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/ownercmd"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/querycmd"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/sessioncmd"
)

// cli is the command line; its commands are in packages by group.
type cli struct {
	Demo       labcmd.DemoCmd        `cmd:"" help:"See Discreet at work on a made-up hospital, in under 30 seconds."`
	Init       ownercmd.InitCmd      `cmd:"" help:"Draft a policy from CSV, Parquet or DuckDB files."`
	Check      ownercmd.CheckCmd     `cmd:"" help:"Check a policy, and the data against it."`
	Rehearse   ownercmd.RehearseCmd  `cmd:"" charges:"never" help:"Show the owner the exact answers to questions, and how far off private ones are."`
	Prepare    ownercmd.PrepareCmd   `cmd:"" charges:"never" help:"Store tables by person, which makes questions about them faster."`
	Query      querycmd.QueryCmd     `cmd:"" help:"Ask a question and pay for the answer."`
	Explain    querycmd.ExplainCmd   `cmd:"" help:"Show what a question would cost and how exact its answer would be. Free."`
	Profile    querycmd.ProfileCmd   `cmd:"" help:"Count, once and with noise, how many rows people have: what limits leave out."`
	Ask        querycmd.AskCmd       `cmd:"" help:"Ask several servers the same question, and combine their answers."`
	Budget     querycmd.BudgetCmd    `cmd:"" help:"Show what was spent and what is left."`
	Incidents  ownercmd.IncidentsCmd `cmd:"" help:"List questions that failed after their charge, and allow new answers again."`
	Ledger     ownercmd.LedgerCmd    `cmd:"" help:"Show, check and maintain the ledger."`
	Account    labcmd.AccountCmd     `cmd:"" charges:"never" help:"Compose privacy guarantees, calibrate noise, plot both."`
	Stream     sessioncmd.StreamCmd  `cmd:"" help:"Answer very many counting questions on one budget, and rehearse that."`
	Train      sessioncmd.TrainCmd   `cmd:"" help:"Train a private classifier or regression, and pay for it; compare methods."`
	Predict    sessioncmd.PredictCmd `cmd:"" charges:"never" help:"Predict with a trained model. Free."`
	Survey     labcmd.SurveyCmd      `cmd:"" charges:"never" help:"Simulate a survey in which everybody randomizes their own answer."`
	Holdout    sessioncmd.HoldoutCmd `cmd:"" help:"Reuse a holdout, and bound how far it can be overfitted."`
	Audit      labcmd.AuditCmd       `cmd:"" charges:"never" help:"Try to break the privacy claims of every mechanism."`
	Serve      ownercmd.ServeCmd     `cmd:"" help:"Let analysts ask with psql, BI tools and over HTTP."`
	Reload     ownercmd.ReloadCmd    `cmd:"" charges:"never" help:"Have a running server read its policy again, and show what changes."`
	MCP        ownercmd.MCPCmd       `cmd:"" name:"mcp" help:"Let a language model ask, over the Model Context Protocol."`
	Attach     querycmd.AttachCmd    `cmd:"" help:"Serve another program that starts it, such as Python."`
	User       ownercmd.UserCmd      `cmd:"" charges:"never" help:"Manage the users who can sign in to the server."`
	Completion completionCmd         `cmd:"" help:"Print a script for completion in the shell."`
	Version    ownercmd.VersionCmd   `cmd:"" charges:"never" help:"Show the version, and the file formats that it writes and reads."`
}

const description = `A differentially private curator: SQL in, private answers with error bars out, budgets enforced.

Start with:
  discreet demo
  discreet init patients.csv > patients.yaml
  discreet query --policy patients.yaml --as analyst 'SELECT COUNT(*) FROM patients'

Exit codes: 0 answered, 2 refused (nothing spent), 3 budget exhausted (nothing spent), 1 anything else.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first Ctrl-C lets a command end in order; a second one ends it at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], console.Screen{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Now: time.Now}))
}

// run runs one command and returns its exit code.
func run(ctx context.Context, args []string, s console.Screen) (code int) {
	asJSON := wantsJSON(args)
	s = s.Watch()
	// kong asks to exit when it has printed help.
	type exit int
	defer func() {
		if r := recover(); r != nil {
			n, ok := r.(exit)
			if !ok {
				// No panic reaches a user: what it would print could hold data.
				code = console.Report(s, asJSON, console.ErrInternal)
				return
			}
			code = int(n)
		}
	}()
	args = respell(args)
	parser, err := kong.New(grammar(args), kong.Name("discreet"), kong.Description(description), kong.UsageOnError(),
		kong.Writers(s.Out, s.Err), kong.Exit(func(n int) { panic(exit(n)) }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(s), durations,
		kong.Vars{"listen": ownercmd.DefaultListen, "http": ownercmd.DefaultHTTP})
	if err != nil {
		return console.Report(s, asJSON, err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		return console.Report(s, asJSON, console.Misuse(addHelp(err)))
	}
	err = command.Run()
	if ctx.Err() != nil && err != nil {
		err = console.Interrupted(err, !neverCharges(command.Selected()))
	}
	if err == nil {
		err = s.Failed()
	}
	return console.Report(s, asJSON, err)
}

// durations reads lengths of time, and says what to write where one cannot be read.
var durations = kong.TypeMapper(reflect.TypeFor[time.Duration](),
	kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
			return err
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a length of time; write one such as 30s or 5m", text)
		}
		target.SetInt(int64(d))
		return nil
	}))
