package ownercmd

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

type ledgerKeyCmd struct {
	Policy string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Old    string `help:"The key of the owner before, which signs for the new one." placeholder:"KEYFILE"`
	Reason string `help:"Why, for whoever reads the ledger later." placeholder:"TEXT"`
	JSON   bool   `help:"Print JSON." name:"json"`
	File   string `arg:"" name:"keyfile" help:"The file of the key. It is made where it is not there, and never overwritten."`
}

func (ledgerKeyCmd) Help() string {
	return `Records in the ledger whose signature counts. With that key, and no other, 'discreet ledger topup' raises budgets. Keep
the file where analysts cannot read it, and a copy in a safe: without it there are no more top-ups in this ledger.

  discreet ledger key --policy hospital.yaml owner.key
  discreet ledger key --policy hospital.yaml new.key --old owner.key --reason 'Kim has left'`
}

func (c *ledgerKeyCmd) Run(ctx context.Context, s console.Screen) error {
	db, err := discreet.Open(ctx, c.Policy, discreet.AsOwner())
	if err != nil {
		return err
	}
	defer db.Close()
	owner, err := db.Owner(ctx)
	if err != nil {
		return err
	}
	// Everything that can be refused is, before a file is made.
	var signer crypto.Signer
	reason := c.Reason
	switch {
	case c.Old != "" && owner == nil:
		return console.Misuse(errors.New("the ledger has no owner yet, so there is no old key; leave --old out"))
	case c.Old != "":
		old, err := ownerkey.Load(c.Old)
		if err != nil {
			return err
		}
		if !owner.Equal(old.Public()) {
			return console.Misuse(fmt.Errorf("%s is not the key of the ledger's owner, whose fingerprint is %s", c.Old,
				ledger.Fingerprint(hex.EncodeToString(owner))))
		}
		signer = old
	}
	key, err := ownerkey.Load(c.File)
	made := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !made:
		return err
	case !made && owner.Equal(key.Public()):
		return c.print(s, key, made, "is the key of the ledger's owner already")
	case owner != nil && signer == nil:
		return console.Misuse(fmt.Errorf("the ledger has an owner already, with the fingerprint %s; sign for another one with --old "+
			"and the file of that key", ledger.Fingerprint(hex.EncodeToString(owner))))
	}
	if made {
		if key, err = ownerkey.Make(c.File); err != nil {
			return err
		}
	}
	if reason == "" {
		if reason = "the first owner"; owner != nil {
			reason = "a new owner"
		}
	}
	if err := db.SetOwner(ctx, key.Public().(ed25519.PublicKey), signer, reason); err != nil {
		return err
	}
	return c.print(s, key, made, "is the key of the ledger's owner from here on")
}

func (c *ledgerKeyCmd) print(s console.Screen, key ed25519.PrivateKey, made bool, what string) error {
	public := hex.EncodeToString(key.Public().(ed25519.PublicKey))
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"file": c.File, "made": made, "public": public,
			"fingerprint": ledger.Fingerprint(public)})
	}
	if made {
		fmt.Fprintf(s.Out, "made %s; only you can read it. Keep a copy in a safe place\n", c.File)
	}
	fmt.Fprintf(s.Out, "%s %s, with the fingerprint %s\n", c.File, what, ledger.Fingerprint(public))
	return nil
}

type ledgerSignCmd struct {
	Key  string `help:"The file of the owner's key." required:"" placeholder:"KEYFILE"`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (ledgerSignCmd) Help() string {
	return `Signs the draft of a top-up, a renewal or a release, which a server gave and which is read from standard input, and says
what it is. The signature goes back to the server together with the draft, within an hour and before anything else is decided.

  discreet ledger sign --key owner.key < draft.txt`
}

// maxDraftBytes is how long a draft can be.
const maxDraftBytes = 64 << 10

func (c *ledgerSignCmd) Run(_ context.Context, s console.Screen) error {
	key, err := ownerkey.Load(c.Key)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(s.In, maxDraftBytes))
	if err != nil {
		return err
	}
	// A line's end is what editors and shells add; a record has none.
	draft := strings.TrimRight(string(text), "\r\n")
	var r ledger.Record
	if r.DecodeSigned(draft) != nil || r.Kind != ledger.KindTopUp && r.Kind != ledger.KindRenewal && r.Kind != ledger.KindRelease {
		return console.Misuse(errors.New("this is no draft of a top-up, a renewal or a release: give the text as the server gave it"))
	}
	if public := hex.EncodeToString(key.Public().(ed25519.PublicKey)); r.PublicKey != "" && r.PublicKey != public {
		return console.Misuse(fmt.Errorf("the draft is for the key with the fingerprint %s, and %s has the fingerprint %s",
			ledger.Fingerprint(r.PublicKey), c.Key, ledger.Fingerprint(public)))
	}
	signature := hex.EncodeToString(ed25519.Sign(key, []byte(draft)))
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"kind": r.Kind, "follows": r.Sequence, "text": draft, "signature": signature})
	}
	fmt.Fprintf(s.Err, "after record %d: %s\n", r.Sequence, render.Clean(signedWords(&r)))
	fmt.Fprintln(s.Out, signature)
	return nil
}

func signedWords(r *ledger.Record) string {
	switch r.Kind {
	case ledger.KindTopUp:
		return fmt.Sprintf("epsilon %s, rho %s, delta %s more for %s: %s", r.Cost.Epsilon.Short(), r.Cost.Rho.Short(), r.Cost.Delta.Short(),
			strings.Join(r.Accounts, ", "), r.Reason)
	case ledger.KindRenewal:
		return fmt.Sprintf("window %d of %s begins: %s", r.Window, r.Dataset, r.Reason)
	}
	whose := "everybody"
	if r.Analyst != "" {
		whose = r.Analyst
	}
	return fmt.Sprintf("the incidents of %s in %s are released: %s", whose, r.Dataset, r.Reason)
}

type ledgerTopupCmd struct {
	console.ServerFlags
	Policy  string `help:"The policy file." placeholder:"FILE" short:"p"`
	Key     string `help:"The file of the owner's key." required:"" placeholder:"KEYFILE"`
	Dataset string `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Analyst string `help:"Raise the quota of this analyst." xor:"whose" placeholder:"NAME"`
	Group   string `help:"Raise the quota of this group." xor:"whose" placeholder:"NAME"`
	Epsilon string `help:"How much more the limit is worth, at the same delta." placeholder:"EPSILON"`
	Delta   string `help:"How much more there is for private keys." placeholder:"DELTA"`
	Reason  string `help:"Why, for whoever reads the ledger later." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (ledgerTopupCmd) Help() string {
	return `Raises a limit, as a signed record of the ledger, and prints the promise before and after. Without --analyst or --group it
is the dataset's own, which holds against everybody: people in the data are then promised less, and quotas stay as they
are. With a delta they are promised less than by the new limit alone, once there were answers that you may have raised it
for. A quota that is raised moves what is promised to nobody. Where the budget is renewed, a top-up is for the current window.

  discreet ledger topup --policy hospital.yaml --key owner.key --epsilon 0.5 --reason 'the yearly report'
  discreet ledger topup --policy hospital.yaml --key owner.key --analyst ana --epsilon 0.2 --reason 'revision of the paper'

While a server runs it has the ledger: then it drafts the record, which is signed here, so that the key stays where it is.

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
		return console.Misuse(errors.New("say how much with --epsilon, such as --epsilon 0.5"))
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
			fmt.Fprintf(s.Out, "%s: epsilon %.6g before, epsilon %.6g from here on\n", render.Clean(a.Name),
				*raised.Before[i].Total.Epsilon, *a.Total.Epsilon)
		}
	}
	fmt.Fprintf(s.Out, "it is record %d. From here on:\n", raised.Sequence)
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
		fmt.Fprintf(s.Out, "%s: epsilon %s before, epsilon %s from here on%s (%s)\n", a.Name, b.Total.Epsilon.Short(),
			a.Total.Epsilon.Short(), at, raisedLimits(b, a))
	}
	if t.Account != "" {
		fmt.Fprintln(s.Out, "A quota was raised; the promise to the people in the data is what it was.")
		return nil
	}
	fmt.Fprintln(s.Out, "\nBefore:")
	for _, line := range raised.PromiseBefore {
		fmt.Fprintln(s.Out, "  "+line)
	}
	fmt.Fprintln(s.Out, "From here on:")
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

type ledgerRenewCmd struct {
	console.ServerFlags
	Policy  string `help:"The policy file." placeholder:"FILE" short:"p"`
	Key     string `help:"The file of the owner's key, which a renewal at a server takes." placeholder:"KEYFILE"`
	Dataset string `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Due     bool   `help:"Only where a window's time has passed since the last renewal, or the first charge; for cron."`
	Reason  string `help:"Why, for whoever reads the ledger later." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (ledgerRenewCmd) Help() string {
	return `Ends the current window and begins the next one. Windows never begin by themselves: a budget depends on no clock. There
are never more windows than the policy says, so that the promise over all of them holds however often this is run.
With --due this machine's clock is looked at, by days of UTC, and where it is too early that is said and nothing is done.

  discreet ledger renew --policy hospital.yaml --reason 'February'
  discreet ledger renew --policy hospital.yaml --due --reason cron            for crontab, once a day
  discreet ledger renew --server https://db.example:8432 --token-file owner.token --key owner.key --reason February`
}

func (c *ledgerRenewCmd) Run(ctx context.Context, s console.Screen) error {
	if server, err := c.Open(c.Policy); err != nil || server != nil {
		if err != nil {
			return err
		}
		return c.remote(ctx, s, server)
	}
	db, err := discreet.Open(ctx, c.Policy, discreet.AsOwner())
	if err != nil {
		return err
	}
	defer db.Close()
	if c.Due {
		if done, err := c.isEarly(ctx, db, s); done || err != nil {
			return err
		}
	}
	r, err := db.Renew(ctx, c.Dataset, c.Reason)
	if err != nil {
		return err
	}
	return c.print(s, r)
}

func (c *ledgerRenewCmd) print(s console.Screen, r api.Renewed) error {
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"renewed": true, "sequence": r.Sequence, "window": r.Window, "windows": r.Windows,
			"promise": r.Promise})
	}
	fmt.Fprintf(s.Out, "window %d of %d has begun\n", r.Window, r.Windows)
	for _, line := range r.Promise {
		fmt.Fprintln(s.Out, line)
	}
	return nil
}

// remote does it at a server that runs.
func (c *ledgerRenewCmd) remote(ctx context.Context, s console.Screen, server *console.Client) error {
	if c.Key == "" {
		return console.Misuse(errors.New("a renewal at a server takes the owner's key: name its file with --key"))
	}
	key, err := ownerkey.Load(c.Key)
	if err != nil {
		return err
	}
	dataset, err := server.Dataset(ctx, c.Dataset)
	if err != nil {
		return err
	}
	if c.Due {
		var spending struct {
			Window *struct {
				Due     string
				Overdue bool
			}
		}
		if err := server.Call(ctx, http.MethodGet, "/v1/datasets/"+dataset+"/spending", nil, &spending); err != nil {
			return err
		}
		if w := spending.Window; w != nil && !w.Overdue {
			if c.JSON {
				return console.PrintJSON(s.Out, map[string]any{"renewed": false, "due": w.Due})
			}
			fmt.Fprintln(s.Out, strings.TrimSpace("not due "+render.Clean(w.Due)))
			return nil
		}
	}
	var r struct {
		Sequence, Window, Windows uint64
		Promise                   []string
	}
	if err := server.Sign(ctx, "/v1/datasets/"+dataset+"/renewals", map[string]any{"reason": c.Reason}, ledger.KindRenewal, key,
		&r); err != nil {
		return err
	}
	return c.print(s, api.Renewed{Sequence: r.Sequence, Window: r.Window, Windows: r.Windows, Promise: r.Promise})
}

// isEarly reports whether it is too early to renew, and says so.
func (c *ledgerRenewCmd) isEarly(ctx context.Context, db *discreet.DB, s console.Screen) (bool, error) {
	last, err := c.isLastWindow(ctx, db)
	if err != nil {
		return false, err
	}
	var next time.Time
	spent := false
	if !last {
		if next, spent, err = db.Due(ctx, c.Dataset); err != nil {
			return false, err
		}
	}
	text, day := "", ""
	switch {
	case last:
		text = "not due: this window is the last that the policy declares"
	case !spent:
		text = "not due: nothing was spent yet"
	case s.Now().Before(next):
		day = next.Format(time.DateOnly)
		text = "not due before " + day
	default:
		return false, nil
	}
	if c.JSON {
		return true, console.PrintJSON(s.Out, map[string]any{"renewed": false, "due": day})
	}
	fmt.Fprintln(s.Out, text)
	return true, nil
}

// isLastWindow reports whether there is no window after the current one.
func (c *ledgerRenewCmd) isLastWindow(ctx context.Context, db *discreet.DB) (bool, error) {
	accounts, err := db.Budget(ctx, c.Dataset)
	if err != nil {
		return false, err
	}
	for _, a := range accounts {
		if a.Kind == "window" {
			return a.Window >= a.Windows, nil
		}
	}
	return false, nil // and the renewal is refused, with the reason
}
