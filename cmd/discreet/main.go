// Command discreet answers SQL questions about sensitive data with differential
// privacy. Run "discreet demo" first.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the command line; each command is in a file of its own.
type cli struct {
	Demo       demoCmd       `cmd:"" help:"Tell the story on a made-up hospital, in under 30 seconds."`
	Init       initCmd       `cmd:"" help:"Draft a policy from CSV, Parquet or DuckDB files."`
	Check      checkCmd      `cmd:"" help:"Check a policy, and the data against it."`
	Prepare    prepareCmd    `cmd:"" help:"Store tables by person, which makes questions about them faster."`
	Query      queryCmd      `cmd:"" help:"Ask a question and pay for the answer."`
	Explain    explainCmd    `cmd:"" help:"Say what a question would cost and how exact it would be. Free."`
	Budget     budgetCmd     `cmd:"" help:"Show what was spent and what is left."`
	Incidents  incidentsCmd  `cmd:"" help:"List questions that failed after their charge, and release what they closed."`
	Ledger     ledgerCmd     `cmd:"" help:"Look after the ledger."`
	Account    accountCmd    `cmd:"" help:"Compose privacy guarantees, calibrate noise, draw both."`
	Stream     streamCmd     `cmd:"" help:"Answer very many counting questions on one budget, and rehearse that."`
	Train      trainCmd      `cmd:"" help:"Train a private classifier or regression, and pay for it; compare methods."`
	Predict    predictCmd    `cmd:"" help:"Predict with a trained model. Free."`
	Survey     surveyCmd     `cmd:"" help:"Simulate a survey in which everybody randomizes their own answer."`
	Holdout    holdoutCmd    `cmd:"" help:"Reuse a holdout without overfitting it; say what theorems promise."`
	Audit      auditCmd      `cmd:"" help:"Try to break the privacy claims of every mechanism."`
	Serve      serveCmd      `cmd:"" help:"Let analysts ask with psql, BI tools and over HTTP."`
	User       userCmd       `cmd:"" help:"Say who may come in to the server."`
	Completion completionCmd `cmd:"" help:"Print a script that lets the shell complete this command line."`
	Version    versionCmd    `cmd:"" help:"Show the version."`
}

const description = `A differentially private curator: SQL in, private answers with error bars out, budgets enforced.

Start with:
  discreet demo
  discreet init patients.csv > patients.yaml
  discreet query --policy patients.yaml --as analyst 'SELECT COUNT(*) FROM patients'

Exit codes: 0 answered, 2 refused (nothing spent), 3 budget exhausted (nothing spent), 1 anything else.`

// screen is where commands print.
type screen struct{ out, err io.Writer }

// failed returns why something could not be printed, if so.
func (s screen) failed() error {
	if p, ok := s.out.(*printed); ok {
		return p.failed
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first Ctrl-C lets a command end in order; a second one ends it at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], screen{os.Stdout, os.Stderr}))
}

// run runs one command and returns its exit code.
func run(ctx context.Context, args []string, s screen) (code int) {
	asJSON := wantsJSON(args)
	out := &printed{to: s.out}
	s.out = out
	// kong asks to exit when it has printed help.
	type exit int
	defer func() {
		if r := recover(); r != nil {
			n, ok := r.(exit)
			if !ok {
				// No panic reaches a user: what it would print could hold data.
				code = report(s, asJSON, errInternal)
				return
			}
			code = int(n)
		}
	}()
	var c cli
	parser, err := kong.New(&c, kong.Name("discreet"), kong.Description(description), kong.UsageOnError(),
		kong.Writers(s.out, s.err), kong.Exit(func(n int) { panic(exit(n)) }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(s), durations,
		kong.Vars{"listen": usualListen, "http": usualHTTP})
	if err != nil {
		return report(s, asJSON, err)
	}
	args = familiar(args)
	command, err := parser.Parse(args)
	if err != nil {
		return report(s, asJSON, &usageError{misread(err)})
	}
	err = command.Run()
	if ctx.Err() != nil && err != nil {
		err = errInterrupted
		if neverCharges(args) {
			err = errors.New("interrupted") // nothing is ever charged there
		}
	}
	if err == nil {
		err = out.failed
	}
	return report(s, asJSON, err)
}

// familiar takes spellings that people try: help, --version, and a negative number
// behind a flag, which is to be refused as a number and not as a flag. For account
// it puts every --times where it belongs.
func familiar(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if slices.Contains(numbers, args[i]) && i+1 < len(args) && strings.HasPrefix(args[i+1], "-") && !strings.HasPrefix(args[i+1], "--") {
			out = append(out, args[i]+"="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	if out[0] == "account" {
		out = timesBehind(out)
	}
	return out
}

// numbers are the flags that take one.
var numbers = []string{
	"--epsilon", "--delta", "--times", "--n", "--queries", "--answers", "--tolerance", "--confidence", "--noise", "--threshold", "--attributes", "--selected",
	"--repetitions", "--group", "--p", "--alpha", "--bits", "--beta", "--evaluate", "--regulariser", "--radius", "--half-width", "--residual", "--rows", "--epsilons", "--tune", "--splits", "--draws",
}

// misread says where to read how a command is written.
func misread(err error) error {
	help := "discreet --help"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if command := parse.Context.Command(); command != "" {
			words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' })
			words = slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "<[") })
			help = "discreet " + strings.Join(words, " ") + " --help"
		}
	}
	return fmt.Errorf("%w; see %s", err, help)
}

// printed remembers that something could not be printed: an answer that went
// nowhere, into a full disk, is no success.
type printed struct {
	to     io.Writer
	failed error
}

func (p *printed) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if err != nil && p.failed == nil {
		p.failed = fmt.Errorf("the output could not be written: %w", err)
	}
	return n, err
}

func wantsJSON(args []string) bool {
	for _, a := range args {
		if a == "--json" || a == "--json=true" {
			return true
		}
		if a == "--" {
			return false
		}
	}
	return false
}
