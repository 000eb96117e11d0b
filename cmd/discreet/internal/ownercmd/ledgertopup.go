package ownercmd

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

type ledgerTopupCmd struct {
	console.ServerFlags
	Policy  string `help:"The policy file." placeholder:"FILE" short:"p"`
	Key     string `help:"The file with the owner's key." required:"" placeholder:"KEYFILE"`
	Dataset string `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Analyst string `help:"Raise the quota of this analyst." xor:"whose" placeholder:"NAME"`
	Group   string `help:"Raise the quota of this group." xor:"whose" placeholder:"NAME"`
	Epsilon string `help:"How much epsilon to add to the limit, at the same delta." placeholder:"EPSILON"`
	Delta   string `help:"How much delta to add for private keys." placeholder:"DELTA"`
	Reason  string `help:"The reason, for later readers of the ledger." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (ledgerTopupCmd) Help() string {
	return `Raises a limit with a signed record in the ledger, and prints the promise before and after. Without --analyst or
--group it raises the dataset's own limit, for all analysts together: people in the data are then promised less, and
quotas stay as they are. With a delta they are promised less than the new limit says, once there were answers that
you may have raised it for. Raising a quota changes the promise to nobody. If the budget is renewed, a top-up is for
the current window.

  discreet ledger topup --policy hospital.yaml --key owner.key --epsilon 0.5 --reason 'the yearly report'
  discreet ledger topup --policy hospital.yaml --key owner.key --analyst ana --epsilon 0.2 --reason 'revision of the paper'

From elsewhere, a running server drafts the record, and you sign it here, so that the key stays with you.

  discreet ledger topup --server https://db.example:8432 --token-file owner.token --key owner.key --epsilon 0.5 --reason more`
}

func (c *ledgerTopupCmd) Run(ctx context.Context, s console.Screen) error {
	t := api.TopUp{Reason: c.Reason}
	switch {
	case c.Analyst != "":
		t.Account = c.Analyst
	case c.Group != "":
		t.Account = "group:" + c.Group
	}
	if c.Epsilon == "" && c.Delta == "" {
		return console.Misuse(errors.New("add --epsilon, how much to raise it by, such as --epsilon 0.5"))
	}
	for _, a := range []struct {
		name, text string
		to         *dp.Amount
	}{{"--epsilon", c.Epsilon, &t.Epsilon}, {"--delta", c.Delta, &t.Delta}} {
		if a.text == "" {
			continue
		}
		amount, err := dp.Parse(a.text)
		if err == nil && amount == 0 {
			err = errors.New("it must be above 0")
		}
		if err != nil {
			return console.Misuse(fmt.Errorf("%s: %w", a.name, err))
		}
		*a.to = amount
	}
	key, err := ownerkey.Load(c.Key)
	if err != nil {
		return err
	}
	t.Signer = key
	if server, err := c.Open(c.Policy); err != nil || server != nil {
		if err != nil {
			return err
		}
		return c.remote(ctx, s, server, key)
	}
	db, err := discreet.Open(ctx, c.Policy, discreet.AsOwner())
	if err != nil {
		return err
	}
	defer db.Close()
	raised, err := db.TopUp(ctx, c.Dataset, t)
	if err != nil {
		return err
	}
	return c.print(s, t, raised)
}

// remote does it at a server that runs.
func (c *ledgerTopupCmd) remote(ctx context.Context, s console.Screen, server *console.Client, key ed25519.PrivateKey) error {
	dataset, err := server.Dataset(ctx, c.Dataset)
	if err != nil {
		return err
	}
	in := map[string]any{"reason": c.Reason}
	for name, value := range map[string]string{"analyst": c.Analyst, "group": c.Group, "epsilon": c.Epsilon, "delta": c.Delta} {
		if value != "" {
			in[name] = value
		}
	}
	var out json.RawMessage
	if err := server.Sign(ctx, "/v1/datasets/"+dataset+"/topups", in, ledger.KindTopUp, key, &out); err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, out)
	}
	var raised struct {
		Sequence      uint64
		Before, After []struct {
			Name  string
			Total struct{ Epsilon *float64 }
		}
		Promise []string
	}
	if err := json.Unmarshal(out, &raised); err != nil {
		return err
	}
	for i, a := range raised.After {
		if i < len(raised.Before) && a.Total.Epsilon != nil && raised.Before[i].Total.Epsilon != nil {
			fmt.Fprintf(s.Out, "%s: epsilon %.6g before, epsilon %.6g from now on\n", render.Clean(a.Name),
				*raised.Before[i].Total.Epsilon, *a.Total.Epsilon)
		}
	}
	fmt.Fprintf(s.Out, "it is record %d. From now on:\n", raised.Sequence)
	for _, line := range raised.Promise {
		fmt.Fprintln(s.Out, "  "+console.CleanLines(line))
	}
	return nil
}

func (c *ledgerTopupCmd) print(s console.Screen, t api.TopUp, raised *api.Raised) error {
	if c.JSON {
		return console.PrintJSON(s.Out, raised)
	}
	for i, b := range raised.Before {
		a := raised.After[i]
		at := ""
		if a.Total.Delta > 0 {
			at = fmt.Sprintf(" at delta %s", a.Total.Delta.Short())
		}
		fmt.Fprintf(s.Out, "%s: epsilon %s before, epsilon %s from now on%s (%s)\n", a.Name, b.Total.Epsilon.Short(),
			a.Total.Epsilon.Short(), at, raisedLimits(b, a))
	}
	if t.Account != "" {
		fmt.Fprintln(s.Out, "A quota was raised; the promise to the people in the data is unchanged.")
		return nil
	}
	fmt.Fprintln(s.Out, "\nBefore:")
	for _, line := range raised.PromiseBefore {
		fmt.Fprintln(s.Out, "  "+line)
	}
	fmt.Fprintln(s.Out, "From now on:")
	for _, line := range raised.Promise {
		fmt.Fprintln(s.Out, "  "+line)
	}
	return nil
}

// raisedLimits shows what the account counts.
func raisedLimits(before, after api.Account) string {
	if after.Limit.Rho == dp.Unbounded {
		return fmt.Sprintf("limit %s, was %s", after.Limit.Epsilon.Short(), before.Limit.Epsilon.Short())
	}
	text := fmt.Sprintf("rho %s, was %s", after.Limit.Rho.Short(), before.Limit.Rho.Short())
	if after.Limit.Epsilon != dp.Unbounded {
		text = fmt.Sprintf("epsilon %s, was %s, or %s", after.Limit.Epsilon.Short(), before.Limit.Epsilon.Short(), text)
	}
	if after.Limit.Delta != before.Limit.Delta {
		text += fmt.Sprintf("; for private keys delta %s, was %s", after.Limit.Delta.Short(), before.Limit.Delta.Short())
	}
	return text
}
