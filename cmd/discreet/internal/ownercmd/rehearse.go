package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/prompt"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/internal/lab/rehearse"
	"github.com/discreet-dp/discreet/policy"
)

type RehearseCmd struct {
	Policy   string  `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Workload string  `help:"The file of questions, each ended by a semicolon; - reads standard input." required:"" placeholder:"FILE" short:"w"`
	Dataset  string  `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Epsilon  *string `help:"The price of each question; the policy has a default and a maximum." placeholder:"EPSILON"`
	Draws    int     `help:"How often the noise of each question is drawn." default:"100" placeholder:"N"`
	JSON     bool    `help:"Print JSON." name:"json"`
}

func (RehearseCmd) Help() string {
	return `Shows for each question the exact answer, what limits and bounds cut of it, and how far off answers at this price
are in all, over many draws of the noise; then the limits with the least error. Nothing is charged, and no ledger is
opened. The output is exact, private data: keep it to yourself. What you choose by looking at it is not private:
mark it in the policy, with limits_from: data or bounds_from: data.

  discreet rehearse --policy hospital.yaml --workload questions.sql
  discreet rehearse --policy hospital.yaml --workload questions.sql --epsilon 0.5 --draws 1000`
}

// rehearsalWarning stands around all that a rehearsal prints.
const rehearsalWarning = "WARNING: exact, private data, for the owner alone: do not show it to analysts. Numbers chosen by looking at " +
	"it are not private: mark them in the policy (limits_from: data, bounds_from: data)."

const mostDraws = 100_000

func (c *RehearseCmd) Run(ctx context.Context, s console.Screen) (err error) {
	epsilon, err := c.price()
	if err != nil {
		return err
	}
	script, err := c.read(s.In)
	if err != nil {
		return err
	}
	p, err := policy.Load(c.Policy)
	if err != nil {
		return err
	}
	ds := p.Datasets[c.Dataset]
	if names := p.Names(); c.Dataset == "" && len(names) == 1 {
		ds = p.Datasets[names[0]]
	} else if ds == nil {
		return console.Misuse(fmt.Errorf("name the dataset with --dataset; the policy has %s", strings.Join(names, ", ")))
	}
	var stage atomic.Value
	stage.Store("opening the data")
	end := console.WaitingFor(s.Err, func() string { return stage.Load().(string) })
	done := sync.OnceFunc(end)
	defer done()
	question := ""
	r, err := rehearse.New(ctx, ds, openEngine, func(what string) { stage.Store(question + what) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var reports []*rehearse.Report
	for i, sql := range script {
		question = fmt.Sprintf("question %d of %d: ", i+1, len(script))
		one, err := r.Rehearse(ctx, sql, epsilon, c.Draws)
		if err != nil {
			return fmt.Errorf("question %d: %w", i+1, console.Locate(err, sql))
		}
		reports = append(reports, one)
	}
	done()
	if !console.IsTerminal(s.Out) {
		fmt.Fprintln(s.Err, rehearsalWarning)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"warning": rehearsalWarning, "questions": reports})
	}
	fmt.Fprintln(s.Out, rehearsalWarning)
	for i, one := range reports {
		printRehearsal(s.Out, i+1, one)
	}
	fmt.Fprintf(s.Out, "\n%s\n", rehearsalWarning)
	return nil
}

func (c *RehearseCmd) price() (dp.Amount, error) {
	if c.Draws < 1 || c.Draws > mostDraws {
		return 0, console.Misuse(fmt.Errorf("--draws %d: give a number from 1 to %d", c.Draws, mostDraws))
	}
	if c.Epsilon == nil {
		return 0, nil
	}
	epsilon, err := dp.Parse(*c.Epsilon)
	if err == nil && epsilon == 0 {
		err = errors.New("give a price above 0, or leave it out for the policy's default")
	}
	if err != nil {
		return 0, console.Misuse(fmt.Errorf("--epsilon: %w", err))
	}
	return epsilon, nil
}

// read reads the statements of the workload.
func (c *RehearseCmd) read(in io.Reader) ([]string, error) {
	var text []byte
	var err error
	if c.Workload == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(c.Workload)
	}
	if err != nil {
		return nil, console.Misuse(fmt.Errorf("--workload: %w", err))
	}
	script, rest, open := prompt.SplitStatements(string(text))
	switch {
	case open:
		return nil, console.Misuse(errors.New("--workload: the last statement ends inside of a quote or a comment"))
	case rest != "":
		script = append(script, rest)
	case len(script) == 0:
		return nil, console.Misuse(errors.New("--workload has no question; write one SELECT or more, each ended by a semicolon"))
	}
	for i, statement := range script {
		if word, _, _ := strings.Cut(statement, " "); strings.EqualFold(word, "SET") {
			return nil, console.Misuse(fmt.Errorf("--workload: question %d is SET, and a rehearsal knows no settings: give the price with "+
				"--epsilon. What would be auto needs no SET: limits are rehearsed as in the policy, and below each question stands "+
				"which have the least error", i+1))
		}
	}
	return script, nil
}

func openEngine(ctx context.Context, ds *policy.Dataset) (rehearse.Engine, error) {
	if ds.SourceKind() == policy.TrinoDatabase {
		return trino.Open(ctx, ds)
	}
	return duckdb.Open(ctx, ds)
}
