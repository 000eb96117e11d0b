package ownercmd

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

type ledgerKeyCmd struct {
	Policy string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Old    string `help:"The file with the previous owner's key, which signs for the new one." placeholder:"KEYFILE"`
	Reason string `help:"The reason, for later readers of the ledger." placeholder:"TEXT"`
	JSON   bool   `help:"Print JSON." name:"json"`
	File   string `arg:"" name:"keyfile" help:"The file of the key. It is created if it does not exist, and never overwritten."`
}

func (ledgerKeyCmd) Help() string {
	return `Records in the ledger whose signature counts. 'discreet ledger topup' raises budgets only with that key. Keep the
file where analysts cannot read it, and a copy in a safe: without it there are no more top-ups in this ledger.

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
		return c.print(s, key, made, "already is the key of the ledger's owner")
	case owner != nil && signer == nil:
		return console.Misuse(fmt.Errorf("the ledger already has an owner, with the fingerprint %s; to sign for another one, give "+
			"--old with the file of that key", ledger.Fingerprint(hex.EncodeToString(owner))))
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
	return c.print(s, key, made, "is now the key of the ledger's owner")
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
	Key  string `help:"The file with the owner's key." required:"" placeholder:"KEYFILE"`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (ledgerSignCmd) Help() string {
	return `Reads a server's draft of a top-up, a renewal or a release from standard input, says what it is, and signs it. Send the
signature back to the server with the draft, within an hour and before anything else is decided.

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
		return console.Misuse(errors.New("this is not a draft of a top-up, a renewal or a release: give the text exactly as the " +
			"server gave it"))
	}
	if public := hex.EncodeToString(key.Public().(ed25519.PublicKey)); r.PublicKey != "" && r.PublicKey != public {
		return console.Misuse(fmt.Errorf("the draft is for the key with the fingerprint %s, but %s has the fingerprint %s",
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
