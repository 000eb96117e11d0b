package querycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/prompt"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/policy"
)

// askFlags are what query and explain have in common.
type askFlags struct {
	Policy  string            `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	As      string            `help:"The analyst who asks, by the name in the policy." required:"" placeholder:"ANALYST"`
	Dataset string            `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Epsilon *string           `help:"What to pay; the policy has a default and a maximum." placeholder:"EPSILON"`
	Set     map[string]string `help:"Settings of the answer: dp.error=10 for the lowest price with that error (averages also need dp.values=1000), dp.confidence, dp.delta, dp.mechanism, dp.max_rows, dp.max_groups, dp.max_sum, dp.stream, dp.errors, dp.counts." placeholder:"NAME=VALUE" mapsep:";"`
	JSON    bool              `help:"Print JSON." name:"json"`
}

func (a *askFlags) initialSettings() (prompt.Settings, error) {
	out := prompt.Settings{}
	for name, value := range a.Set {
		if err := out.Set(name, value); err != nil {
			return nil, console.Misuse(fmt.Errorf("--set: %w", err))
		}
	}
	if a.Epsilon != nil { // given, and be it as '': an empty variable of a script is no wish for the default
		if err := out.Set("dp.epsilon", *a.Epsilon); err != nil {
			return nil, console.Misuse(fmt.Errorf("--epsilon: %w", err))
		}
	}
	return out, nil
}

func (a *askFlags) newConsole(db *discreet.DB, s console.Screen, start prompt.Settings) *analystConsole {
	return &analystConsole{db: db, Screen: s, dataset: a.Dataset, analyst: a.As, json: a.JSON, settings: start, stage: new(console.Stage)}
}

type QueryCmd struct {
	askFlags    `embed:""`
	Request     *string `help:"Name the question for retries: the same request is charged once." placeholder:"ID"`
	Interactive bool    `help:"Ask one question after the other. The default on a terminal, without SQL." short:"i"`
	NoHistory   bool    `help:"Do not save what you type."`
	SQL         *string `arg:"" optional:"" help:"One SELECT with aggregates; - reads statements from standard input."`
}

func (QueryCmd) Help() string {
	return `Prints the answer with an error bar for each noisy column that has one, of 95 % unless you set dp.confidence, then
its price and what is left. A question that was asked before gets the same answer again, free.

  discreet query --policy hospital.yaml --as ana 'SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex'
  discreet query --policy hospital.yaml --as ana --epsilon 0.5 --json 'SELECT SUM(cost) FROM visits'
  discreet query --policy hospital.yaml --as ana            asks for questions, on a terminal; \? there shows help
  discreet query --policy hospital.yaml --as ana < questions.sql

Statements on standard input end with a semicolon. They run in order, up to the first that fails. What you type
is saved for the next time in $XDG_STATE_HOME/discreet/history (~/.local/state if that is not set), which only you
can read. --no-history saves nothing; nor is a line that begins with a space saved.`
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
		return console.Misuse(errors.New("--interactive asks for questions, but you already gave one; leave out one of the two"))
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
			return console.Misuse(fmt.Errorf("--request names one question, but there are %d statements", len(script)))
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
	done, rest, _ := prompt.SplitStatements(text)
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

type ExplainCmd struct {
	askFlags `embed:""`
	SQL      string `arg:"" help:"One SELECT with aggregates; - reads it from standard input."`
}

func (ExplainCmd) Help() string {
	return `Shows, for each noisy number of a question, the mechanism, how far one person can move it and why, the noise and
the expected error; which keys are shown; then the price, how it is divided and what it leaves. It costs nothing,
and computes nothing from the data.

  discreet explain --policy hospital.yaml --as ana 'SELECT sex, AVG(age) FROM patients GROUP BY sex'`
}

func (c *ExplainCmd) Run(ctx context.Context, s console.Screen) error {
	start, err := c.initialSettings()
	if err != nil {
		return err
	}
	text := c.SQL
	if text == "-" {
		if text, err = readAll(s.In); err != nil {
			return err
		}
	}
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	return c.newConsole(db, s, start).explain(ctx, text)
}

// analystConsole is an analyst who asks one statement after the other: where they are, and
// what they have set.
type analystConsole struct {
	db *discreet.DB
	console.Screen
	dataset, analyst string
	request          string // names the only question
	json             bool
	settings         prompt.Settings
	stage            *console.Stage // of opening what is asked
}

// run runs one statement: SET, RESET, SHOW, EXPLAIN, or a question.
func (s *analystConsole) run(ctx context.Context, text string) error {
	c, err := prompt.ReadSettingCommand(text)
	if err != nil {
		return console.Locate(err, text)
	}
	if c != nil {
		return s.runSettingCommand(ctx, c, text)
	}
	all, _ := prompt.SplitTokens(text)
	if len(all) == 0 || !all[0].Is("explain") {
		return s.ask(ctx, text)
	}
	if len(all) > 1 && (all[1].Is("analyze") || all[1].Is("analyse") || all[1].Is("verbose") || all[1].Is("(")) {
		return console.Locate(&api.Refusal{
			Reason:   "EXPLAIN has no options here: it says what a question would cost and runs nothing",
			Instead:  "write EXPLAIN SELECT ...",
			Position: all[1].Start,
		}, text)
	}
	return s.explainAt(ctx, text, all[0].End)
}

func (s *analystConsole) newQuestion(text string) (api.Question, error) {
	q := api.Question{Dataset: s.dataset, Analyst: s.analyst, SQL: text, Request: s.request}
	return q, s.settings.Apply(&q)
}

func (s *analystConsole) ask(ctx context.Context, text string) error {
	q, err := s.newQuestion(text)
	if err != nil {
		return err
	}
	done := console.WaitingFor(s.Err, s.stage.Or("asking"))
	a, err := s.db.Ask(ctx, q)
	done()
	if err != nil {
		return console.Locate(err, text)
	}
	for _, alert := range a.Alerts {
		fmt.Fprintln(s.Err, "notice: "+alert.String())
	}
	if s.json {
		return console.PrintJSON(s.Out, a)
	}
	render.Answer(s.Out, a)
	return nil
}

// explain prices a question. It is free.
func (s *analystConsole) explain(ctx context.Context, text string) error {
	return s.explainAt(ctx, text, 0)
}

// explainAt explains the question behind the first bytes of a text. They become spaces, so
// that a refusal still points at the right place.
func (s *analystConsole) explainAt(ctx context.Context, text string, from int) error {
	q, err := s.newQuestion(strings.Repeat(" ", from) + text[from:])
	if err != nil {
		return err
	}
	done := console.WaitingFor(s.Err, s.stage.Or("opening"))
	e, err := s.db.Explain(ctx, q)
	done()
	if err != nil {
		return console.Locate(err, text)
	}
	if s.json {
		return console.PrintJSON(s.Out, e)
	}
	render.Explanation(s.Out, e)
	return nil
}

func (s *analystConsole) runSettingCommand(ctx context.Context, c *prompt.SettingCommand, text string) error {
	switch {
	case c.Verb != "show":
		return console.Locate(s.settings.Change(c), text)
	case c.Name == "dp.budget":
		return s.showBudget(ctx)
	case c.Name == "all":
		return s.showSettings(prompt.KnownSettings)
	}
	return s.showSettings([]prompt.Setting{c.At})
}

func (s *analystConsole) showSettings(which []prompt.Setting) error {
	if s.json {
		values := map[string]any{}
		for _, k := range which {
			values[k.Name] = nil
			if text, ok := s.settings[k.Name]; ok {
				values[k.Name] = text
			}
		}
		return console.PrintJSON(s.Out, map[string]any{"settings": values})
	}
	t := &render.Table{Header: []string{"setting", "value", "what it is"}}
	for _, k := range which {
		value, ok := s.settings[k.Name]
		about := k.About
		switch ds := s.datasetPolicy(); {
		case ok:
		case k.Name == "dp.epsilon" && ds != nil:
			value, about = ds.Budget.DefaultEpsilon.String(), about+" (the policy's default; at least "+ds.Budget.MinEpsilon.String()+
				", at most "+ds.Budget.MaxEpsilon.String()+")"
		default:
			value, about = "-", about+" (the default)"
		}
		t.Add(k.Name, value, about)
	}
	t.Write(s.Out)
	return nil
}

func (s *analystConsole) showBudget(ctx context.Context) error {
	accounts, err := s.db.Budget(ctx, s.dataset)
	if err != nil {
		return err
	}
	if s.json {
		return console.PrintJSON(s.Out, map[string]any{"accounts": accounts})
	}
	printAccounts(s.Out, accounts)
	return nil
}

// datasetPolicy returns the dataset that is asked, or nil where none is chosen.
func (s *analystConsole) datasetPolicy() *policy.Dataset {
	p := s.db.Policy()
	if names := p.Names(); s.dataset == "" && len(names) == 1 {
		return p.Datasets[names[0]]
	}
	return p.Datasets[s.dataset]
}

// remainingBudget returns what the analyst can still spend, as the price of an answer shows it.
func (s *analystConsole) remainingBudget(ctx context.Context) (dp.Amount, bool) {
	ds := s.datasetPolicy()
	if ds == nil || ds.Analysts[s.analyst] == nil {
		return 0, false
	}
	left, err := s.db.Remaining(ctx, s.dataset, s.analyst)
	return left.Epsilon, err == nil
}

// prompt says where one is and what is left.
func (s *analystConsole) prompt(ctx context.Context) string {
	ds := s.datasetPolicy()
	if ds == nil {
		return "discreet> "
	}
	name := ds.Name
	if len(name) > 20 { // names have no letters of several bytes
		name = name[:17] + "..."
	}
	if left, ok := s.remainingBudget(ctx); ok {
		return fmt.Sprintf("%s (%s left)> ", name, left.Short())
	}
	return name + "> "
}
