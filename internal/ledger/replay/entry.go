package replay

import (
	"crypto/ed25519"
	"encoding/hex"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

func (p *Replay) own(d *Decision, r *ledger.Record) {
	if _, ok := key(r.PublicKey); !ok {
		d.differ("the owner's key is no Ed25519 key")
		return
	}
	switch {
	case p.owner == "" && r.Signature != "":
		d.differ("the first owner has nobody to sign for it")
		return
	case p.owner != "" && !signed(p.owner, r, p.decided):
		d.differ("the next owner is not signed for by the one before")
		return
	}
	p.owner = strings.Clone(r.PublicKey)
}

// topUp grants what the owner signed, and nothing else.
func (p *Replay) topUp(d *Decision, r *ledger.Record) {
	switch {
	case p.owner == "":
		d.differ("there is no owner who could have signed this")
	case r.PublicKey != p.owner:
		d.differ("the top-up names the key of somebody who is not the owner")
	case !signed(p.owner, r, p.decided):
		d.differ("the top-up is not signed by the owner")
	}
	seen := map[string]bool{}
	for _, name := range r.Accounts {
		if seen[name] {
			d.differ("the top-up names %q twice", name)
		}
		seen[name] = true
	}
	if len(r.Accounts) == 0 {
		d.differ("the top-up names no account")
	}
	for _, a := range claims(r.Cost) {
		if a > dp.One<<20 {
			d.differ("the top-up is above what an account can hold")
			break
		}
	}
	if len(d.Differs) > 0 {
		return
	}
	for _, name := range r.Accounts {
		p.granted[strings.Clone(name)] = accountSum(p.granted, name).plus(sumOf(r.Cost))
	}
}

func (p *Replay) recover(d *Decision, r *ledger.Record) {
	if r.PublicKey != "" {
		if _, ok := key(r.PublicKey); !ok || p.owner != "" {
			d.differ("the recovery names another owner")
		} else {
			p.owner = strings.Clone(r.PublicKey)
		}
	}
	seen := map[string]bool{}
	for _, b := range r.Balances {
		before, after := accountSum(p.spent, b.Account), sumOf(b.Spent)
		if !before.within(after) {
			d.differ("the recovery takes back what %q has spent: %v, and the record says %v", b.Account, before.cost(), b.Spent)
		}
		if seen[b.Account] {
			d.differ("the recovery names %q twice", b.Account)
		}
		seen[b.Account] = true
		if b.Limit != (dp.Cost{}) || b.Granted != (dp.Cost{}) {
			d.differ("the recovery says something about the limit of %q", b.Account)
		}
		d.Accounts = append(d.Accounts, Account{Name: b.Account, Before: before.cost(), After: b.Spent, Admitted: true})
		p.spent[strings.Clone(b.Account)] = before.larger(after)
	}
}

func key(text string) (ed25519.PublicKey, bool) {
	k, err := hex.DecodeString(text)
	return k, err == nil && len(k) == ed25519.PublicKeySize && hex.EncodeToString(k) == text
}

// signed reports whether the owner signed a record, to follow another one or, as they did before,
// to stand where it stands.
func signed(owner string, r *ledger.Record, after ledger.Position) bool {
	public, ok := key(owner)
	signature, err := hex.DecodeString(r.Signature)
	return ok && err == nil && hex.EncodeToString(signature) == r.Signature &&
		(ed25519.Verify(public, r.Signed(after), signature) || ed25519.Verify(public, r.SignedInPlace(), signature))
}
