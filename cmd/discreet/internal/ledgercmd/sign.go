package ledgercmd

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger"
)

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
	fmt.Fprintf(s.Err, "after record %d: %s\n", r.Sequence, table.Clean(signedWords(&r)))
	fmt.Fprintln(s.Out, signature)
	return nil
}

// signedWords says what is signed.
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
