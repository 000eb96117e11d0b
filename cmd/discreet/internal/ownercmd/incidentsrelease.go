package ownercmd

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/ledger"
)

type incidentsReleaseCmd struct {
	console.ServerFlags
	Policy  string `help:"The policy file." placeholder:"FILE" short:"p"`
	Dataset string `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Analyst string `help:"Only the incidents of this analyst; all of the dataset, where nobody is named." placeholder:"NAME"`
	Key     string `help:"The file of the owner's key, where the ledger has an owner." placeholder:"KEYFILE"`
	Reason  string `help:"Why, for whoever reads the ledger later." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (incidentsReleaseCmd) Help() string {
	return `Takes back the incidents of an analyst, or of the whole dataset, as a record of the ledger, so that there are new answers
again. Do it when you know what failed: each release lets as many failures be told as the policy bears. Where the ledger has an owner
it takes the owner's key. A crash that names nobody is released with the whole dataset.

  discreet incidents release --policy hospital.yaml --analyst ana --reason 'the disk was full'
  discreet incidents release --policy hospital.yaml --key owner.key --reason 'a bug, mended in 1.2'
  discreet incidents release --server https://db.example:8432 --token-file owner.token --key owner.key --reason mended`
}

// remote does it at a server that runs, which always takes the key.
func (c *incidentsReleaseCmd) remote(ctx context.Context, s console.Screen, server *console.Client, signer crypto.Signer) error {
	key, ok := signer.(ed25519.PrivateKey)
	if !ok {
		return console.Misuse(errors.New("a release at a server takes the owner's key: name its file with --key"))
	}
	dataset, err := server.Dataset(ctx, c.Dataset)
	if err != nil {
		return err
	}
	in := map[string]any{"reason": c.Reason}
	if c.Analyst != "" {
		in["analyst"] = c.Analyst
	}
	var out struct {
		Sequence uint64 `json:"sequence"`
		Released int    `json:"released"`
		Closed   bool   `json:"closed"`
	}
	if err := server.Sign(ctx, "/v1/datasets/"+dataset+"/releases", in, ledger.KindRelease, key, &out); err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, out)
	}
	fmt.Fprintf(s.Out, "released %d incidents, by record %d\n", out.Released, out.Sequence)
	if out.Closed {
		fmt.Fprintln(s.Out, stillClosedNote)
	}
	return nil
}

const stillClosedNote = "it is still closed, because of incidents of others: 'discreet incidents' lists them"

func (c *incidentsReleaseCmd) Run(ctx context.Context, s console.Screen) error {
	var signer crypto.Signer
	if c.Key != "" {
		key, err := ownerkey.Load(c.Key)
		if err != nil {
			return err
		}
		signer = key
	}
	if server, err := c.Open(c.Policy); err != nil || server != nil {
		if err != nil {
			return err
		}
		return c.remote(ctx, s, server, signer)
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
	if err := refuseEmptyRelease(open, c.Analyst); err != nil {
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
		fmt.Fprintln(s.Out, stillClosedNote)
	}
	return nil
}
