package ownercmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/policy"
)

type PrepareCmd struct {
	Out    string `help:"The folder for files that the policy does not name yet; by default, the folder 'prepared' next to it." placeholder:"FOLDER"`
	JSON   bool   `help:"Print JSON." name:"json"`
	Policy string `arg:"" help:"The policy file."`
}

func (PrepareCmd) Help() string {
	return `Stores a copy, sorted by person, of every table in which a person can have many rows. Questions about such a table
then have the same exact results before the noise, and are faster. Prints what to add to the policy, and leaves the
policy and the data as they are. When the data has changed, questions are refused until you run this again, which
replaces the files.

  discreet prepare hospital.yaml
  discreet prepare hospital.yaml --out /data/by-person`
}

// preparedTable is a table that was stored, and how the policy names it.
type preparedTable struct {
	Dataset string `json:"dataset"`
	duckdb.Stored
	Prepared string `json:"prepared"` // as the policy would write it
	Named    bool   `json:"named"`    // the policy does
}

func (c *PrepareCmd) Run(ctx context.Context, s console.Screen) error {
	p, err := policy.Load(c.Policy)
	if err != nil {
		return err
	}
	home := filepath.Dir(c.Policy)
	folder := c.Out
	if folder == "" {
		folder = filepath.Join(home, "prepared")
	}
	done := []preparedTable{}
	for _, name := range p.Names() {
		into := folder
		if len(p.Names()) > 1 {
			into = filepath.Join(folder, name)
		}
		tell, end := showPortion(s, "storing")
		stored, err := duckdb.Store(ctx, p.Datasets[name], into, tell)
		end()
		if err != nil {
			return err
		}
		for _, t := range stored {
			known := p.Datasets[name].Tables[t.Table].Prepared != ""
			done = append(done, preparedTable{name, t, sourcePath(home, t.File), known})
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"tables": done})
	}
	for _, name := range p.Names() {
		for _, table := range p.Datasets[name].TableNames() {
			if t := p.Datasets[name].Tables[table]; t.UnitKind == policy.Many && t.UnitColumn == "" {
				fmt.Fprintf(s.Out, "%s is left as it is: another table says whose its rows are\n", table)
			}
		}
	}
	if len(done) == 0 {
		fmt.Fprintln(s.Out, "there is nothing to prepare: no table has both many rows of a person and a column that identifies the "+
			"person")
		return nil
	}
	if slices.ContainsFunc(done, func(t preparedTable) bool { return !t.Named }) {
		fmt.Fprintf(s.Out, "wrote the tables by person; add these lines to %s, then run: discreet check %s\n",
			c.Policy, console.ShellQuote(c.Policy))
	} else {
		fmt.Fprintln(s.Out, "wrote the tables by person, where the policy has them")
	}
	for _, t := range done {
		if !t.Named {
			fmt.Fprintf(s.Out, "\ndatasets:\n  %s:\n    tables:\n      %s:\n        prepared: %q\n", t.Dataset, t.Table, t.Prepared)
		}
	}
	fmt.Fprintln(s.Out, "\nThe files hold private rows, and only you can read them. When the data changes, run 'discreet prepare' again.")
	return nil
}

// sourcePath spells a file as a policy in a folder does.
func sourcePath(home, file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	from, err := filepath.Abs(home)
	if err != nil {
		return abs
	}
	if rel, err := filepath.Rel(from, abs); err == nil {
		return rel
	}
	return abs
}

// showPortion shows, on a terminal and from the second second on, how much of something is done.
func showPortion(s console.Screen, what string) (tell func(name string, done float64), end func()) {
	if !console.IsTerminal(s.Err) {
		return func(string, float64) {}, func() {}
	}
	var mu sync.Mutex
	start, shown := time.Now(), false
	tell = func(name string, done float64) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(start) > 2*time.Second {
			shown = true
			fmt.Fprintf(s.Err, "\r\x1b[K%s %s ... %.0f %%", what, name, 100*done)
		}
	}
	return tell, func() {
		mu.Lock()
		defer mu.Unlock()
		if shown {
			fmt.Fprint(s.Err, "\r\x1b[K")
		}
	}
}
