package ownercmd

import (
	"context"
	"crypto"
	"fmt"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ownerkey"
)

type incidentsReleaseCmd struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Analyst string `help:"Only the incidents of this analyst; all of the dataset, where nobody is named." placeholder:"NAME"`
	Key     string `help:"The file of the owner's key, where the ledger has an owner." placeholder:"KEYFILE"`
	Reason  string `help:"Why, for whoever reads the ledger later." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (incidentsReleaseCmd) Help() string {
	return `Takes back the incidents of an analyst, or of the whole dataset, as a record of the ledger, so that there are new answers
again. Do it when you know what failed: each release lets as many failures be told as the policy bears. Where the ledger has an owner
it takes the owner's key. A crash is nobody's, and is released with the whole dataset.

  discreet incidents release --policy hospital.yaml --analyst ana --reason 'the disk was full'
  discreet incidents release --policy hospital.yaml --key owner.key --reason 'a bug, mended in 1.2'`
}

func (c *incidentsReleaseCmd) Run(ctx context.Context, s console.Screen) error {
	var signer crypto.Signer
	if c.Key != "" {
		key, err := ownerkey.Load(c.Key)
		if err != nil {
			return err
		}
		signer = key
	}
	db, err := discreet.Open(ctx, c.Policy, discreet.AsOwner())
	if err != nil {
		return err
	}
	defer db.Close()
	before, err := db.Door(ctx, c.Dataset, c.Analyst)
	if err != nil {
		return err
	}
	open, err := openIncidents(ctx, db, c.Dataset)
	if err != nil {
		return err
	}
	if err := releasable(open, c.Analyst); err != nil {
		return err
	}
	sequence, err := db.Release(ctx, c.Dataset, c.Analyst, c.Reason, signer)
	if err != nil {
		return err
	}
	after, err := db.Door(ctx, c.Dataset, c.Analyst)
	if err != nil {
		return err
	}
	released := before.Incidents - after.Incidents
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"sequence": sequence, "released": released, "left": after.Incidents,
			"closed": after.Closed})
	}
	fmt.Fprintf(s.Out, "released %d of %d incidents, by record %d\n", released, before.Incidents, sequence)
	if after.Closed {
		fmt.Fprintln(s.Out, "it is still closed, because of incidents of others: 'discreet incidents' lists them")
	}
	return nil
}
