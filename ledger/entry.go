package ledger

import (
	"crypto"
	"crypto/ed25519"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
)

// Entry is what the owner of the data writes into the ledger: a [Renewal], an [Owner], a [TopUp], a
// [Recovery] or a [Release]. Nothing that an analyst does makes one.
type Entry interface {
	// Validate returns an [*InvalidError] unless the entry is well formed.
	Validate() error
	entry()
}

// Renewal begins the next window of a dataset. The accounts of a window have its number in their
// names (see [WindowName]), so what was spent in earlier windows stays, and the ledger looks at no
// clock.
type Renewal struct {
	Dataset string
	// From is the window that ends. Where another one is current the renewal is refused with a
	// [*WindowError], so that two who renew at once renew once.
	From   uint64
	Reason string
	// Signer is nil, or the owner: then the renewal is written only where it is signed by whoever's
	// signature counts. The record has no place for the signature, since how many renewals there
	// are is the policy's; it is for those who renew from elsewhere, by a door that others can
	// reach.
	Signer crypto.Signer
}

// Owner says whose signatures count from here on. The first owner of a ledger needs no signature;
// to be followed by another takes the signature of the one before.
type Owner struct {
	Public ed25519.PublicKey
	Reason string
	Signer crypto.Signer // of the owner before; nil for the first
}

// TopUp raises the limits of accounts, by the same amount and for as long as the accounts exist:
// those of a window end with it. It is signed by the owner.
type TopUp struct {
	Accounts []string
	Amount   dp.Cost
	Reason   string
	Signer   crypto.Signer // an Ed25519 key; ed25519.PrivateKey is one
}

// Recovery counts what an anchor knows and this ledger has lost as spent. See [Anchor].
type Recovery struct {
	Anchor Anchor
	// Spent are the accounts with what they count as having spent from here on. It is never less
	// than before.
	Spent  []Balance
	Reason string
}

// Release takes back the incidents of an analyst, or all of a dataset, so that the door is open
// again; see [Doors]. Where the ledger has an owner it is signed.
type Release struct {
	Dataset string
	Analyst string // empty for everybody
	Reason  string
	Signer  crypto.Signer // an Ed25519 key; nil where the ledger has no owner
}

func (Renewal) entry()  {}
func (Owner) entry()    {}
func (TopUp) entry()    {}
func (Recovery) entry() {}
func (Release) entry()  {}

// Validate implements [Entry].
func (r Renewal) Validate() error {
	if r.From == 0 {
		return &InvalidError{"window", "is missing: windows are counted from 1"}
	}
	if err := validText("data set", r.Dataset, 1, MaxName); err != nil {
		return err
	}
	if r.Signer != nil {
		if err := validSigner(r.Signer); err != nil {
			return err
		}
	}
	return validReason(r.Reason)
}

// Validate implements [Entry].
func (o Owner) Validate() error {
	if len(o.Public) != ed25519.PublicKeySize {
		return &InvalidError{"key of the owner", "is not an Ed25519 key"}
	}
	if o.Signer != nil {
		if err := validSigner(o.Signer); err != nil {
			return err
		}
	}
	return validReason(o.Reason)
}

// Validate implements [Entry].
func (t TopUp) Validate() error {
	if len(t.Accounts) == 0 || len(t.Accounts) > MaxAccounts {
		return &InvalidError{"list of accounts", fmt.Sprintf("must name 1 to %d accounts", MaxAccounts)}
	}
	seen := map[string]bool{}
	for _, name := range t.Accounts {
		if err := validText("account", name, 1, MaxName); err != nil {
			return err
		}
		if seen[name] {
			return &InvalidError{"list of accounts", fmt.Sprintf("names %q twice", name)}
		}
		seen[name] = true
	}
	for _, a := range []dp.Amount{t.Amount.Epsilon, t.Amount.Rho, t.Amount.Delta} {
		if a > maxAmount {
			return &InvalidError{"amount", fmt.Sprintf("is above the largest, %v", maxAmount)}
		}
	}
	if t.Amount == (dp.Cost{}) {
		return &InvalidError{"amount", "is nothing"}
	}
	if err := validSigner(t.Signer); err != nil {
		return err
	}
	return validReason(t.Reason)
}

// Validate implements [Entry].
func (r Recovery) Validate() error {
	if len(r.Spent) > MaxRecovered {
		return &InvalidError{"list of accounts", fmt.Sprintf("is longer than %d", MaxRecovered)}
	}
	seen := map[string]bool{}
	for _, b := range r.Spent {
		if err := validText("account", b.Account, 1, MaxName); err != nil {
			return err
		}
		if seen[b.Account] {
			return &InvalidError{"list of accounts", fmt.Sprintf("names %q twice", b.Account)}
		}
		seen[b.Account] = true
	}
	return validReason(r.Reason)
}

// Validate implements [Entry].
func (r Release) Validate() error {
	if err := validText("data set", r.Dataset, 1, MaxName); err != nil {
		return err
	}
	if err := validText("analyst", r.Analyst, 0, MaxName); err != nil {
		return err
	}
	if r.Signer != nil {
		if err := validSigner(r.Signer); err != nil {
			return err
		}
	}
	return validReason(r.Reason)
}

func validReason(reason string) error { return validText("reason", reason, 1, MaxReason) }

func validSigner(s crypto.Signer) error {
	if s == nil {
		return &InvalidError{"signature", "is missing: this takes the key of the owner"}
	}
	if _, ok := s.(Deferred); ok {
		return nil
	}
	if key, ok := s.Public().(ed25519.PublicKey); !ok || len(key) != ed25519.PublicKeySize {
		return &InvalidError{"key of the owner", "is not an Ed25519 key"}
	}
	return nil
}

// WindowName returns the name that an account has in a window.
func WindowName(account string, window uint64) string { return fmt.Sprintf("%s#%d", account, window) }
