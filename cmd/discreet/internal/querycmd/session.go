package querycmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/policy"
)

// analystConsole is an analyst who asks one statement after the other: where they are, and
// what they have set.
type analystConsole struct {
	db *discreet.DB
	console.Screen
	dataset, analyst string
	request          string // names the only question
	json             bool
	settings         settings
	stage            *console.Stage // of opening what is asked
}

// run runs one statement: SET, RESET, SHOW, EXPLAIN, or a question.
func (s *analystConsole) run(ctx context.Context, text string) error {
	c, err := readSettingCommand(text)
	if err != nil {
		return console.Locate(err, text)
	}
	if c != nil {
		return s.runTuning(ctx, c, text)
	}
	all, _ := splitTokens(text)
	if len(all) == 0 || !all[0].is("explain") {
		return s.ask(ctx, text)
	}
	if len(all) > 1 && (all[1].is("analyze") || all[1].is("analyse") || all[1].is("verbose") || all[1].is("(")) {
		return console.Locate(&api.Refusal{
			Reason:   "EXPLAIN has no options here: it says what a question would cost and runs nothing",
			Instead:  "write EXPLAIN SELECT ...",
			Position: all[1].start,
		}, text)
	}
	return s.explainAt(ctx, text, all[0].end)
}

func (s *analystConsole) newQuestion(text string) (api.Question, error) {
	q := api.Question{Dataset: s.dataset, Analyst: s.analyst, SQL: text, Request: s.request}
	return q, s.settings.apply(&q)
}

// ask asks and pays.
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

// runTuning runs a SET, RESET or SHOW.
func (s *analystConsole) runTuning(ctx context.Context, c *settingCommand, text string) error {
	switch {
	case c.verb == "set":
		if err := s.settings.set(c.name, c.text); err != nil {
			return console.Locate(&api.Refusal{Reason: err.Error(), Position: c.pos}, text)
		}
		// A price and an error that finds the price exclude each other: here the later one counts.
		switch c.name {
		case "dp.epsilon":
			delete(s.settings, "dp.error")
		case "dp.error":
			delete(s.settings, "dp.epsilon")
		}
	case c.verb == "reset" && c.name == "all":
		clear(s.settings)
	case c.verb == "reset":
		delete(s.settings, c.name)
	case c.name == "dp.budget":
		return s.showBudget(ctx)
	case c.name == "all":
		return s.showSettings(knownSettings)
	default:
		return s.showSettings([]setting{c.at})
	}
	return nil
}

// showSettings shows settings and what they are.
func (s *analystConsole) showSettings(which []setting) error {
	if s.json {
		values := map[string]any{}
		for _, k := range which {
			values[k.name] = nil
			if text, ok := s.settings[k.name]; ok {
				values[k.name] = text
			}
		}
		return console.PrintJSON(s.Out, map[string]any{"settings": values})
	}
	t := &table.Table{Header: []string{"setting", "value", "what it is"}}
	for _, k := range which {
		value, ok := s.settings[k.name]
		about := k.about
		switch ds := s.datasetPolicy(); {
		case ok:
		case k.name == "dp.epsilon" && ds != nil:
			value, about = ds.Budget.DefaultEpsilon.String(), about+" (the policy's default; at least "+ds.Budget.MinEpsilon.String()+
				", at most "+ds.Budget.MaxEpsilon.String()+")"
		default:
			value, about = "-", about+" (the default)"
		}
		t.Add(k.name, value, about)
	}
	t.Write(s.Out)
	return nil
}

// showBudget shows the accounts of the dataset.
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
