package usercmd

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

type userRevokeCmd struct {
	usersFlags
	Name string `arg:"" help:"The name of the user."`
}

func (userRevokeCmd) Help() string {
	return `From now on the user cannot come in, by password or by token, and whoever is in gets no further answer. What they asked
and paid stays in the ledger. A new password lets them in again.

  discreet user revoke ana --policy hospital.yaml`
}

func (c *userRevokeCmd) Run(ctx context.Context, s console.Screen) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Revoke(ctx, c.Name); err != nil {
		return refuseUser(c.Name, err)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"revoked": c.Name})
	}
	fmt.Fprintf(s.Out, "revoked %s, with all tokens\n", c.Name)
	return nil
}

type userRevokeTokenCmd struct {
	usersFlags
	ID string `arg:"" help:"The id of the token, as 'discreet user tokens' lists it."`
}

func (userRevokeTokenCmd) Help() string {
	return `From now on the token lets nobody in. Its id is the part between the two underscores.

  discreet user revoke-token 4f7zk0q2xm --policy hospital.yaml`
}

func (c *userRevokeTokenCmd) Run(ctx context.Context, s console.Screen) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.RevokeToken(ctx, c.ID); err != nil {
		// Somebody may have given the whole token, which must not be repeated on a screen.
		return refuseUser(console.Shorten(c.ID, 11), err)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"revoked": c.ID})
	}
	fmt.Fprintf(s.Out, "revoked the token %s\n", c.ID)
	return nil
}
