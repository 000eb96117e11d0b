package usercmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

type userAddCmd struct {
	usersFlags
	Name          string `arg:"" help:"The name: that of the analyst in the policy."`
	Role          string `help:"What they are: owner or analyst." default:"analyst" placeholder:"ROLE"`
	PasswordStdin bool   `help:"Read the password, a line, from standard input instead of drawing one."`
}

func (userAddCmd) Help() string {
	return `Draws a password, prints it this once and stores only what can check it. An analyst may ask what the policy lets the
analyst of the same name ask. An owner sees the ledger and everybody's budget. A server that runs knows them at once.

  discreet user add ana --policy hospital.yaml
  discreet user add boss --policy hospital.yaml --role owner
  discreet user add ana --users /srv/hospital.users --password-stdin < password.txt`
}

func (c *userAddCmd) Run(ctx context.Context, s console.Screen) error {
	if err := users.Name(c.Name); err != nil {
		return console.Misuse(err)
	}
	path, p, err := c.path()
	if err != nil {
		return err
	}
	password, err := readPassword(s.In, c.PasswordStdin)
	if err != nil {
		return err
	}
	store, err := users.Open(path)
	if err != nil {
		return refuseUser(path, err)
	}
	defer store.Close()
	drawn, err := store.Add(ctx, c.Name, users.Role(c.Role), password)
	if err != nil {
		return refuseUser(c.Name, err)
	}
	warning := ""
	if p != nil && users.Role(c.Role) == users.Analyst && !isListedAnalyst(p, c.Name) {
		warning = fmt.Sprintf("%s can come in and ask nothing yet: no dataset of the policy lists them. Write under its "+
			"'analysts': %s: {share: 0.1}", c.Name, c.Name)
		fmt.Fprintln(s.Err, "warning: "+warning)
	}
	if c.JSON {
		out := map[string]any{"name": c.Name, "role": c.Role, "users": path}
		if drawn != "" {
			out["password"] = drawn
		}
		if warning != "" {
			out["warning"] = warning
		}
		return console.PrintJSON(s.Out, out)
	}
	fmt.Fprintf(s.Out, "added %s as %s to %s\n", c.Name, c.Role, console.ShellQuote(path))
	printDrawnPassword(s, drawn)
	return nil
}

// isListedAnalyst reports whether a dataset lists an analyst.
func isListedAnalyst(p *policy.Policy, name string) bool {
	return slices.ContainsFunc(p.Names(), func(d string) bool { return p.Datasets[d].Analysts[name] != nil })
}

// printDrawnPassword shows a password that was drawn.
func printDrawnPassword(s console.Screen, drawn string) {
	if drawn != "" {
		fmt.Fprintf(s.Out, "password: %s\nIt is shown this once and stored nowhere.\n", strings.TrimSpace(drawn))
	}
}
