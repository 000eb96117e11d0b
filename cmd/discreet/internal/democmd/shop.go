package democmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/shop"
)

type demoShopCmd struct {
	Folder string  `arg:"" help:"Make the shop in this new folder." type:"path"`
	Scale  float64 `help:"How large: 1 is 150,000 customers with 6 million items, 330 MB." default:"0.01"`
	Seed   uint64  `help:"Which shop to make up." default:"1"`
	JSON   bool    `help:"Print JSON." name:"json"`
}

const shopExample = `
  discreet demo shop shop          writes the data and the policy of a made-up wholesaler, to try joins on`

func (demoShopCmd) Help() string {
	return `Makes up a wholesaler in the shape of the TPC-H benchmark: customers, their orders, the items of these, and two
public tables, nations and parts. The same seed makes the same shop. shop.yaml is its policy.

  discreet demo shop shop
  discreet demo shop --scale 1 --seed 7 large`
}

func (c *demoShopCmd) Run(ctx context.Context, s console.Screen) error {
	made, err := shop.Scaled(c.Scale, c.Seed)
	if err != nil {
		return console.Misuse(fmt.Errorf("--scale: %w", err))
	}
	if err := refuseFilledFolder(c.Folder); err != nil {
		return err
	}
	done := console.Waiting(s.Err, "writing")
	counts, err := made.Write(ctx, c.Folder)
	done()
	if err != nil {
		return err
	}
	policy := filepath.Join(c.Folder, "shop.yaml")
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"folder": c.Folder, "policy": policy, "rows": counts})
	}
	fmt.Fprintf(s.Out, "The shop is in %s: %d customers, %d orders, %d items; public are %d nations and %d parts. Ask it with:\n  "+
		"discreet query --policy %s --as ana\n",
		c.Folder, counts.Customers, counts.Orders, counts.Items, counts.Nations, counts.Parts, console.ShellQuote(policy))
	return nil
}
