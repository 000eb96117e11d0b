// Package querycmd has discreet query, explain and budget: an analyst who asks, in one statement or
// in a dialogue, what it would cost, and what is left.
package querycmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

// askFlags are what query and explain have in common.
type askFlags struct {
	Policy  string            `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	As      string            `help:"The analyst who asks, as the policy names them." required:"" placeholder:"ANALYST"`
	Dataset string            `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Epsilon *string           `help:"What to pay; the policy has a default and a maximum." placeholder:"EPSILON"`
	Set     map[string]string `help:"Settings of the answer: dp.error=10 for the least price with that error, dp.confidence, dp.delta, dp.mechanism, dp.max_groups, dp.max_sum, dp.stream, dp.errors, dp.counts." placeholder:"NAME=VALUE" mapsep:";"`
	JSON    bool              `help:"Print JSON." name:"json"`
}

// initialSettings are what the flags set.
func (a *askFlags) initialSettings() (settings, error) {
	out := settings{}
	for name, value := range a.Set {
		if err := out.set(name, value); err != nil {
			return nil, console.Misuse(fmt.Errorf("--set: %w", err))
		}
	}
	if a.Epsilon != nil { // given, and be it as '': an empty variable of a script is no wish for the default
		if err := out.set("dp.epsilon", *a.Epsilon); err != nil {
			return nil, console.Misuse(fmt.Errorf("--epsilon: %w", err))
		}
	}
	return out, nil
}

func (a *askFlags) newConsole(db *discreet.DB, s console.Screen, start settings) *analystConsole {
	return &analystConsole{db: db, Screen: s, dataset: a.Dataset, analyst: a.As, json: a.JSON, settings: start, stage: new(console.Stage)}
}

// QueryCmd is discreet query.
type QueryCmd struct {
	askFlags    `embed:""`
	Request     *string `help:"Name the question for retries: the same request is charged once." placeholder:"ID"`
	Interactive bool    `help:"Ask one question after the other. The default on a terminal, without SQL." short:"i"`
	NoHistory   bool    `help:"Do not keep what is typed."`
	SQL         *string `arg:"" optional:"" help:"One SELECT with aggregates; - reads statements from standard input."`
}

func (QueryCmd) Help() string {
	return `Prints the answer with an error bar for each noisy column that has one, of 95 % unless dp.confidence is set, then its
price and what is left.
A question that was asked before is answered again, the same, free.

  discreet query --policy hospital.yaml --as ana 'SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex'
  discreet query --policy hospital.yaml --as ana --epsilon 0.5 --json 'SELECT SUM(cost) FROM visits'
  discreet query --policy hospital.yaml --as ana            asks on, on a terminal; \? there says what can be typed
  discreet query --policy hospital.yaml --as ana < questions.sql

Statements on standard input end with a semicolon. They run in their order, up to the first that fails.
What is typed is kept for the next time in $XDG_STATE_HOME/discreet/history (~/.local/state where that is not set),
which only you can read. --no-history keeps nothing; a line that begins with a space is not kept either.`
}

func (c *QueryCmd) Run(ctx context.Context, s console.Screen) error {
	start, err := c.initialSettings()
	if err != nil {
		return err
	}
	talk := c.Interactive || c.SQL == nil && console.IsTerminal(s.In) && console.IsTerminal(s.Out)
	var script []string
	switch {
	case c.Interactive && c.SQL != nil:
		return console.Misuse(errors.New("--interactive asks for questions, and one is given already; leave one of the two out"))
	case c.Request != nil && *c.Request == "":
		return console.Misuse(errors.New("--request is empty; name the question, or leave it out"))
	case talk && c.Request != nil:
		return console.Misuse(errors.New("--request names one question; give that question too"))
	case talk:
	case c.SQL != nil && *c.SQL != "-":
		script = []string{*c.SQL}
	default:
		if script, err = readScript(s.In, c.SQL != nil); err != nil {
			return err
		}
		if len(script) > 1 && c.Request != nil {
			return console.Misuse(fmt.Errorf("--request names one question, and there are %d statements", len(script)))
		}
	}
	stage := new(console.Stage)
	done := console.WaitingFor(s.Err, stage.Or("opening the ledger"))
	db, err := discreet.Open(ctx, c.Policy, discreet.WithProgress(stage.Tell))
	done()
	if err != nil {
		return err
	}
	defer db.Close()
	session := c.newConsole(db, s, start)
	session.stage = stage
	if c.Request != nil {
		session.request = *c.Request
	}
	if talk {
		return interact(ctx, session, !c.NoHistory)
	}
	if len(script) == 1 && c.SQL != nil && *c.SQL != "-" {
		return session.ask(ctx, script[0]) // an argument is a question and nothing else
	}
	for _, text := range script {
		if err := session.run(ctx, text); err != nil {
			return err
		}
		if err := s.Failed(); err != nil {
			return err // nobody would see the next answers
		}
	}
	return nil
}

// readScript reads the statements of standard input. Where nobody wrote - it has to have some.
func readScript(in io.Reader, asked bool) ([]string, error) {
	if !asked && console.IsTerminal(in) {
		return nil, errNoSQL
	}
	text, err := readAll(in)
	if err != nil {
		return nil, err
	}
	done, rest, _ := splitStatements(text)
	switch {
	case rest != "":
		done = append(done, rest)
	case len(done) == 0 && !asked:
		return nil, errNoSQL
	case len(done) == 0:
		done = []string{text} // to be refused as empty
	}
	return done, nil
}

var errNoSQL = console.Misuse(errors.New(`expected "<sql>"; see discreet query --help`))

// readAll reads standard input. More than a limit is refused as a whole: half of a question could
// be another one.
func readAll(in io.Reader) (string, error) {
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(text) > most {
		err = console.Misuse(fmt.Errorf("standard input is longer than %d bytes; ask in parts", most))
	}
	return string(text), err
}
