package usercmd

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/table"
)

type userLoginsCmd struct {
	usersFlags
	Name string `arg:"" optional:"" help:"Only attempts under this name."`
	Last int    `help:"How many lines to show, the newest ones." default:"20" placeholder:"N"`
}

func (userLoginsCmd) Help() string {
	return `Shows who came in and who tried to, the newest first. Attempts of one hour that are alike share a line. An outcome is: in;
denied (a wrong name, password or token); locked (too many failures before); expired; revoked; or abandoned (hung up).

  discreet user logins --policy hospital.yaml
  discreet user logins ana --policy hospital.yaml --last 100 --json`
}

func (c *userLoginsCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Last < 1 {
		return console.Misuse(fmt.Errorf("--last %d: give a number of lines above 0", c.Last))
	}
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.Logins(ctx, c.Name, c.Last)
	if err != nil {
		return err
	}
	if c.JSON {
		rows := []map[string]any{}
		for _, l := range all {
			rows = append(rows, map[string]any{"at": timeJSON(l.At), "until": timeJSON(l.Until), "count": l.Count,
				"name": l.Name, "address": l.Address,
				"door": l.Door, "outcome": l.Outcome, "token": l.Token})
		}
		return console.PrintJSON(s.Out, map[string]any{"logins": rows})
	}
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "nobody has tried to come in yet")
		return nil
	}
	t := &table.Table{Header: []string{"time (UTC)", "name", "address", "door", "outcome", "times", "last", "token"},
		Right: []bool{false, false, false, false, false, true}}
	for _, l := range all {
		last := ""
		if l.Count > 1 {
			last = console.Timestamp(l.Until)
		}
		t.Add(console.Timestamp(l.At), l.Name, l.Address, l.Door, l.Outcome, fmt.Sprint(l.Count), last, l.Token)
	}
	t.Write(s.Out)
	return nil
}
