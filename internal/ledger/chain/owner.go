package chain

import (
	"cmp"
	"crypto"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/ledger"
)

// Owner is whose signature counts, and what was decided by it.
type Owner struct {
	key     string // in hexadecimal; empty where the ledger has no owner yet
	decided decisions
}

// Key returns the public key whose signature counts, in hexadecimal, or nothing.
func (o *Owner) Key() string { return o.key }

// sign puts a signature to a record, or returns why there is none. That of a renewal counts here
// and is not kept.
func (o *Owner) sign(r *ledger.Record, signer crypto.Signer) error {
	if d, ok := signer.(ledger.Deferred); ok {
		if o.key == "" {
			return &ledger.SignatureError{Problem: noOwner}
		}
		var err error
		if r.Time, err = d.At(r.Time); err != nil {
			return err
		}
	}
	signature, err := signer.Sign(nil, r.Signed(o.decided.before(r.Kind)), crypto.Hash(0))
	if isSignerError(err) {
		return err
	} else if err != nil {
		return &ledger.SignatureError{Problem: "the entry could not be signed"}
	}
	r.Signature = hex.EncodeToString(signature)
	if r.Kind != ledger.KindRenewal {
		return nil
	}
	if o.key == "" {
		return &ledger.SignatureError{Problem: noOwner}
	}
	if err := o.checkSignature(r); err != nil {
		return &ledger.SignatureError{Problem: err.Error()}
	}
	r.Signature = ""
	return nil
}

// isSignerError reports whether an error is one that a signer of the ledger's own has.
func isSignerError(err error) bool {
	return errors.As(err, new(*ledger.DraftError)) || errors.As(err, new(*ledger.StaleError)) ||
		errors.As(err, new(*ledger.SignatureError))
}

// publicKey is the key of a signer; that of the owner, where the signer is elsewhere.
func (o *Owner) publicKey(signer crypto.Signer) string {
	if _, ok := signer.(ledger.Deferred); ok {
		return o.key
	}
	key, _ := signer.Public().(ed25519.PublicKey)
	return hex.EncodeToString(key)
}

const noOwner = "the ledger has no owner yet, so no signature counts; 'discreet ledger key' makes one"

// check returns an error where a record needs a signature that it does not have.
func (o *Owner) check(r *ledger.Record) error {
	switch r.Kind {
	case ledger.KindOwner:
		if !isKey(r.PublicKey) {
			return errors.New("the key of the owner is not an Ed25519 key")
		}
		if o.key == "" {
			if r.Signature != "" {
				return errors.New("the first owner of a ledger has nobody to sign for it")
			}
			return nil
		}
		return o.checkSignature(r)
	case ledger.KindTopUp:
		if o.key == "" {
			return errors.New(noOwner)
		}
		if r.PublicKey != o.key {
			return errors.New("the key is not that of the ledger's owner")
		}
		return o.checkSignature(r)
	case ledger.KindRelease:
		return o.checkRelease(r)
	}
	return nil
}

func isKey(text string) bool {
	key, err := hex.DecodeString(text)
	return err == nil && len(key) == ed25519.PublicKeySize && hex.EncodeToString(key) == text
}

func (o *Owner) checkSignature(r *ledger.Record) error {
	key, err := hex.DecodeString(o.key)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return errors.New("the key of the owner is not an Ed25519 key")
	}
	signature, err := hex.DecodeString(r.Signature)
	if err != nil || hex.EncodeToString(signature) != r.Signature ||
		!ed25519.Verify(key, r.Signed(o.decided.before(r.Kind)), signature) && !ed25519.Verify(key, r.SignedInPlace(), signature) {
		return errors.New("the signature is not that of the ledger's owner")
	}
	return nil
}

// checkRelease returns an error unless a release is the owner's: signed, where the ledger has one.
func (o *Owner) checkRelease(r *ledger.Record) error {
	switch {
	case o.key == "" && (r.PublicKey != "" || r.Signature != ""):
		return errors.New("the ledger has no owner, so no signature counts: release it without a key")
	case o.key == "":
		return nil
	case r.PublicKey == "":
		return errors.New("the ledger has an owner: a release takes the owner's key")
	case r.PublicKey != o.key:
		return errors.New("the key is not that of the ledger's owner")
	}
	return o.checkSignature(r)
}

// CheckSigned verifies every signature that raised a limit once more, and returns an error unless
// what the state says of the owner and of top-ups follows from these records alone. So not even
// whoever can write the whole file anew tops up without the owner's key.
func (s *State) CheckSigned(read func(sequence uint64) (*ledger.Record, error)) error {
	var owner Owner
	accounts := newAccounts()
	for _, n := range s.Owner.decided.all {
		r, err := read(n)
		if err == nil && (r.Kind == ledger.KindOwner || r.Kind == ledger.KindTopUp) {
			err = owner.check(r)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		switch r.Kind {
		case ledger.KindOwner:
			owner.key = r.PublicKey
		case ledger.KindRecovery:
			owner.key = cmp.Or(owner.key, r.PublicKey)
		case ledger.KindTopUp:
			accounts.grant(r.Accounts, r.Cost)
		}
		owner.decided.add(r, ledger.Hash(r.Encode()))
	}
	if !slices.Equal(owner.decided.all, s.Owner.decided.all) || len(s.Owner.decided.all) > 0 && owner.decided.last != s.Owner.decided.last {
		return errors.New("what the owner decided last does not follow from the records")
	}
	if owner.key != s.Owner.key || !maps.Equal(accounts.granted, s.Accounts.granted) {
		return errors.New("what top-ups granted does not follow from what was signed")
	}
	return nil
}

// decisions are what owners decided; [ledger.Deferred] says why signatures are bound to them.
type decisions struct {
	all  []uint64        // their sequences
	last ledger.Position // the last one, or the first record
	seen ledger.Position // the same, or the last incident where that came later
}

func (d *decisions) add(r *ledger.Record, hash string) {
	here := ledger.Position{Sequence: r.Sequence, Hash: hash}
	switch r.Kind {
	case ledger.KindLedger:
		d.last, d.seen = here, here
	case ledger.KindOwner, ledger.KindTopUp, ledger.KindRenewal, ledger.KindRelease, ledger.KindRecovery:
		d.all = append(d.all, r.Sequence)
		d.last, d.seen = here, here
	case ledger.KindIncident:
		d.seen = here
	}
}

// before returns the record that one of a kind follows as a decision.
func (d *decisions) before(kind ledger.Kind) ledger.Position {
	if kind == ledger.KindRelease {
		return d.seen
	}
	return d.last
}
