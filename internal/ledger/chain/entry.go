package chain

import (
	"crypto"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Entry returns the record of an entry that was validated. It changes nothing.
func (s *State) Entry(e ledger.Entry, now time.Time) (*Link, error) {
	r := &ledger.Record{Time: now}
	var signer crypto.Signer
	switch e := e.(type) {
	case ledger.Renewal:
		if current := s.Window(e.Dataset); e.From != current {
			return nil, &ledger.WindowError{Dataset: e.Dataset, Window: e.From, Want: current}
		}
		r.Kind, r.Dataset, r.Window, r.Reason = ledger.KindRenewal, e.Dataset, e.From+1, e.Reason
		signer = e.Signer
	case ledger.Owner:
		r.Kind, r.PublicKey, r.Reason = ledger.KindOwner, hex.EncodeToString(e.Public), e.Reason
		signer = e.Signer
	case ledger.TopUp:
		r.Kind, r.Accounts, r.Cost, r.Reason = ledger.KindTopUp, e.Accounts, e.Amount, e.Reason
		r.PublicKey = s.publicKey(e.Signer)
		signer = e.Signer
	case ledger.Recovery:
		r.Kind, r.AnchorSequence, r.AnchorHash, r.Reason = ledger.KindRecovery, e.Anchor.Sequence, e.Anchor.Hash, e.Reason
		if s.owner == "" {
			r.PublicKey = e.Anchor.Owner
		}
		for _, b := range e.Spent {
			r.Balances = append(r.Balances, ledger.Balance{Account: b.Account, Spent: b.Spent})
		}
	case ledger.Release:
		r.Kind, r.Dataset, r.Analyst, r.Reason = ledger.KindRelease, e.Dataset, e.Analyst, e.Reason
		if e.Signer != nil {
			r.PublicKey, signer = s.publicKey(e.Signer), e.Signer
		}
	default:
		return nil, fmt.Errorf("there is no record for a %T", e)
	}
	r.Sequence, r.Previous = s.sequence+1, s.hash
	if signer != nil {
		if err := s.sign(r, signer); err != nil {
			return nil, err
		}
	}
	if err := s.checkSignature(r); err != nil {
		return nil, &ledger.SignatureError{Problem: err.Error()}
	}
	link := s.link(r)[0]
	if err := s.Check(link.Record); err != nil {
		return nil, &ledger.InvalidError{Field: "entry", Problem: "cannot be written: " + err.Error()}
	}
	return link, nil
}

// sign puts a signature to a record, or returns why there is none. That of a renewal counts here
// and is not kept.
func (s *State) sign(r *ledger.Record, signer crypto.Signer) error {
	if d, ok := signer.(ledger.Deferred); ok {
		if s.owner == "" {
			return &ledger.SignatureError{Problem: noOwner}
		}
		var err error
		if r.Time, err = d.At(r.Time); err != nil {
			return err
		}
	}
	signature, err := signer.Sign(nil, r.Signed(s.decided.before(r.Kind)), crypto.Hash(0))
	if known(err) {
		return err
	} else if err != nil {
		return &ledger.SignatureError{Problem: "the entry could not be signed"}
	}
	r.Signature = hex.EncodeToString(signature)
	if r.Kind != ledger.KindRenewal {
		return nil
	}
	if s.owner == "" {
		return &ledger.SignatureError{Problem: noOwner}
	}
	if err := s.signedByOwner(r); err != nil {
		return &ledger.SignatureError{Problem: err.Error()}
	}
	r.Signature = ""
	return nil
}

// known reports whether an error is one that a signer of the ledger's own has.
func known(err error) bool {
	return errors.As(err, new(*ledger.DraftError)) || errors.As(err, new(*ledger.StaleError)) ||
		errors.As(err, new(*ledger.SignatureError))
}

// publicKey is the key of a signer; that of the owner, where the signer is elsewhere.
func (s *State) publicKey(signer crypto.Signer) string {
	if _, ok := signer.(ledger.Deferred); ok {
		return s.owner
	}
	key, _ := signer.Public().(ed25519.PublicKey)
	return hex.EncodeToString(key)
}

const noOwner = "the ledger has no owner yet whose signature would count; 'discreet ledger key' makes one"

// checkSignature returns an error where a record needs a signature that it does not have.
func (s *State) checkSignature(r *ledger.Record) error {
	switch r.Kind {
	case ledger.KindOwner:
		if !isKey(r.PublicKey) {
			return errors.New("the key of the owner is not an Ed25519 key")
		}
		if s.owner == "" {
			if r.Signature != "" {
				return errors.New("the first owner of a ledger has nobody to sign for it")
			}
			return nil
		}
		return s.signedByOwner(r)
	case ledger.KindTopUp:
		if s.owner == "" {
			return errors.New(noOwner)
		}
		if r.PublicKey != s.owner {
			return errors.New("the key is not that of the ledger's owner")
		}
		return s.signedByOwner(r)
	case ledger.KindRelease:
		return s.checkRelease(r)
	}
	return nil
}

func isKey(text string) bool {
	key, err := hex.DecodeString(text)
	return err == nil && len(key) == ed25519.PublicKeySize && hex.EncodeToString(key) == text
}

func (s *State) signedByOwner(r *ledger.Record) error {
	key, err := hex.DecodeString(s.owner)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return errors.New("the key of the owner is not an Ed25519 key")
	}
	signature, err := hex.DecodeString(r.Signature)
	if err != nil || hex.EncodeToString(signature) != r.Signature ||
		!ed25519.Verify(key, r.Signed(s.decided.before(r.Kind)), signature) && !ed25519.Verify(key, r.SignedInPlace(), signature) {
		return errors.New("the signature is not that of the ledger's owner")
	}
	return nil
}

// checkEntry returns an error unless an entry can come next.
func (s *State) checkEntry(r *ledger.Record) error {
	switch r.Kind {
	case ledger.KindVersion:
		if s.versions[r.Dataset].last == r.DataVersion {
			return fmt.Errorf("the data of %q has not changed", r.Dataset)
		}
		return nil
	case ledger.KindRenewal:
		if current := s.Window(r.Dataset); current == math.MaxUint64 || r.Window != current+1 {
			return fmt.Errorf("window %d of %q does not follow window %d", r.Window, r.Dataset, current)
		}
		return nil
	case ledger.KindOwner, ledger.KindRelease:
		return s.checkSignature(r)
	case ledger.KindTopUp:
		if len(r.Accounts) == 0 {
			return errors.New("the top-up names no account")
		}
		for i, a := range r.Accounts {
			for _, b := range r.Accounts[:i] {
				if a == b {
					return fmt.Errorf("the account %q is topped up twice", a)
				}
			}
		}
		return s.checkSignature(r)
	case ledger.KindRecovery:
		if r.PublicKey != "" && (s.owner != "" || !isKey(r.PublicKey)) {
			return errors.New("the recovery names another owner")
		}
		seen := map[string]bool{}
		for _, b := range r.Balances {
			if !s.Spent(b.Account).Within(b.Spent) || seen[b.Account] || b.Limit != (dp.Cost{}) || b.Granted != (dp.Cost{}) {
				return fmt.Errorf("the recovery takes back what %q has spent", b.Account)
			}
			seen[b.Account] = true
		}
		return nil
	}
	return errors.New("a ledger begins only once")
}
