package ownercmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/users"
)

type userTokenCmd struct {
	usersFlags
	Name    string `arg:"" help:"The name of the user."`
	Label   string `help:"What the token is for; shown in the list of tokens." placeholder:"TEXT"`
	Expires string `help:"When it expires: after a number of days, such as 90d, on a day (UTC), such as 2027-01-01, or never." default:"90d" placeholder:"WHEN"`
}

func (userTokenCmd) Help() string {
	return `Makes a token, with which a program signs in to the HTTP API as this user, and prints it this once. From the day that it
expires it no longer works.

  discreet user token ana --policy hospital.yaml --label 'nightly report' --expires 2027-01-01
  curl -H "Authorization: Bearer $TOKEN" https://example.org/v1/me`
}

func (c *userTokenCmd) Run(ctx context.Context, s console.Screen) error {
	expires, err := readExpiry(c.Expires, s.Now())
	if err != nil {
		return err
	}
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	secret, t, err := store.NewToken(ctx, c.Name, c.Label, expires)
	if err != nil {
		return refuseUser(c.Name, err)
	}
	if c.JSON {
		row := tokenJSON(t)
		row["token"] = secret
		return console.PrintJSON(s.Out, row)
	}
	fmt.Fprintf(s.Out, "token: %s\nIt is %s's, its id is %s, and it expires %s. It is shown this once and stored nowhere.\n", secret,
		t.User, t.ID, timeWords(t.Expires, "never"))
	return nil
}

func readExpiry(text string, from time.Time) (time.Time, error) {
	if text == "never" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil && n > 0 {
			return from.AddDate(0, 0, int(n)), nil
		}
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil && day.After(from) {
		return day, nil
	}
	return time.Time{}, console.Misuse(fmt.Errorf("--expires %q: write a number of days such as 90d, a future day such as %s, or never",
		text, from.AddDate(1, 0, 0).UTC().Format(time.DateOnly)))
}

func tokenJSON(t users.Token) map[string]any {
	return map[string]any{"id": t.ID, "user": t.User, "label": t.Label, "created": timeJSON(t.Created), "expires": timeJSON(t.Expires),
		"revoked": timeJSON(t.Revoked), "used": timeJSON(t.Used)}
}

type userTokensCmd struct {
	usersFlags
	Name string `arg:"" optional:"" help:"Only those of this user."`
}

func (userTokensCmd) Help() string {
	return `Lists tokens, without their secrets: whose they are, what for, until when, and about when they were last used.

  discreet user tokens --policy hospital.yaml
  discreet user tokens ana --policy hospital.yaml`
}

func (c *userTokensCmd) Run(ctx context.Context, s console.Screen) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.Tokens(ctx, c.Name)
	if err != nil {
		return refuseUser(c.Name, err)
	}
	if c.JSON {
		rows := []map[string]any{}
		for _, t := range all {
			rows = append(rows, tokenJSON(t))
		}
		return console.PrintJSON(s.Out, map[string]any{"tokens": rows})
	}
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "there are no tokens; make one with 'discreet user token'")
		return nil
	}
	t := &render.Table{Header: []string{"id", "user", "label", "created (UTC)", "expires", "last used", "revoked"}}
	for _, k := range all {
		t.Add(k.ID, k.User, k.Label, console.Timestamp(k.Created), timeWords(k.Expires, "never"), timeWords(k.Used, "never"),
			timeWords(k.Revoked, ""))
	}
	t.Write(s.Out)
	return nil
}
