package usercmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/users"
)

type userCopyCmd struct {
	From string `arg:"" help:"The users: a file, or postgres://..."`
	To   string `arg:"" help:"Where the copy is to be: a file or a database in which there are no users."`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (userCopyCmd) Help() string {
	return `Copies names with their passwords, tokens, revocations, what they saved and the trail of logins, and then compares the
two. Nobody is replaced, and who is in with a browser logs in again. It is how users move along with a ledger ('discreet ledger copy'): from the file beside it into its database,
which several servers share, or back.

  discreet user copy hospital.users postgres://discreet@db.example.org/ledgers
  discreet user copy postgres://discreet@db.example.org/ledgers backup.users

The password of a database is in the environment variable DISCREET_LEDGER_PASSWORD, or in a file that PGPASSFILE names.
Start the servers that use the copy afterwards. Who is revoked in one of the two is not revoked in the other: go on with
one, and remove the other.`
}

func (c *userCopyCmd) Run(ctx context.Context, s console.Screen) error {
	n, err := users.Copy(ctx, c.From, c.To)
	switch {
	case errors.Is(err, users.ErrNone):
		return console.Misuse(err)
	case errors.Is(err, users.ErrOccupied):
		return console.Misuse(fmt.Errorf("%s: %w", console.ShellQuote(c.To), err))
	case err != nil:
		return refuseUser(c.From, err)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, n)
	}
	fmt.Fprintf(s.Out, "copied and compared: %s, %s, %d saved, %s of the trail\n", render.Count(int64(n.Users), "user"),
		render.Count(int64(n.Tokens), "token"), n.Saved, render.Count(int64(n.Logins), "line"))
	fmt.Fprintln(s.Out, "go on with one of the two only: who is revoked in one is not revoked in the other")
	return nil
}
