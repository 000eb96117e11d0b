package ownercmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/policy"
)

// ReloadCmd has a server read its policy again.
type ReloadCmd struct {
	Policy string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	DryRun bool   `help:"Only show what would change." name:"dry-run"`
	JSON   bool   `help:"Print JSON." name:"json"`
}

func (ReloadCmd) Help() string {
	return `Has the server that runs with this policy read it again, and prints what has changed and what that means. Analysts,
groups, quotas, prices of a question, views, limits, and columns with their bounds and keys can change. Questions under
way finish under the policy before. If the policy has a mistake, or if something else has changed, the server goes on
as before, and the exit code is 1.

It runs on the server's machine, as the server's user. If the ledger is in a database, send SIGHUP to each server.

  discreet reload --policy hospital.yaml --dry-run
  discreet reload --policy hospital.yaml`
}

var errNoServer = errors.New("no server can be asked to read the policy again: none on this machine has its ledger open in a file; " +
	"send SIGHUP to a server with a ledger in a database, and restart one whose policy names another ledger")

func (c *ReloadCmd) Run(ctx context.Context, s console.Screen) error {
	p, err := policy.LoadAgain(c.Policy)
	if err != nil {
		return err
	}
	done := console.Waiting(s.Err, "reading the policy")
	said, there, err := openledger.Reload(ctx, p, c.DryRun)
	done()
	switch {
	case err != nil:
		return err
	case !there:
		return errNoServer
	}
	var out api.Reloaded
	if err := json.Unmarshal(said, &out); err != nil {
		return fmt.Errorf("the server says something that this version does not understand: %w", err)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, out)
	}
	printReloaded(s.Out, &out)
	return nil
}

func printReloaded(w io.Writer, out *api.Reloaded) {
	if len(out.Changes) == 0 {
		fmt.Fprintln(w, "The policy says what it said before.")
		return
	}
	t := render.Table{Header: []string{"dataset", "what", "was", "is", "means"}}
	promise := "so people are promised what they were promised"
	for _, c := range out.Changes {
		t.Add(c.Dataset, c.What, c.Was, c.Is, c.Means)
		if strings.HasPrefix(c.What, "limits_from ") || strings.HasPrefix(c.What, "bounds_from ") ||
			strings.Contains(c.Is, "off the data") { // a column that is new
			promise = "but limits or bounds that are read off the data are not covered by what people are promised"
		}
	}
	t.Write(w)
	fmt.Fprintf(w, "\nUnit, neighbours and budgets are the same, %s. What was spent stays spent.\n", promise)
	if !out.Applied {
		fmt.Fprintln(w, "Nothing was changed: this was a dry run.")
	}
}
