package usercmd

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/table"
)

type userListCmd struct{ usersFlags }

func (userListCmd) Help() string {
	return `Lists everybody by name, with role, and since when they may come in or no longer may.

  discreet user list --policy hospital.yaml`
}

func (c *userListCmd) Run(ctx context.Context, s console.Screen) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.List(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		rows := []map[string]any{}
		for _, u := range all {
			rows = append(rows, map[string]any{"name": u.Name, "role": u.Role, "created": timeJSON(u.Created),
				"revoked": timeJSON(u.Revoked)})
		}
		return console.PrintJSON(s.Out, map[string]any{"users": rows})
	}
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "there are no users yet; add somebody with 'discreet user add'")
		return nil
	}
	t := &table.Table{Header: []string{"name", "role", "created (UTC)", "revoked"}}
	for _, u := range all {
		t.Add(u.Name, string(u.Role), console.Timestamp(u.Created), timeWords(u.Revoked, ""))
	}
	t.Write(s.Out)
	return nil
}
