package ledger

import (
	"cmp"
	"crypto"
	"crypto/ed25519"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

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
	// are is the policy's; it is for those who renew from elsewhere, by an interface that others
	// can reach.
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

// Release takes back the incidents of an analyst, or all of a dataset, so that it is open
// again; see [Lockouts]. Where the ledger has an owner it is signed.
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

func (r Renewal) Validate() error {
	if r.From == 0 {
		return &InvalidError{"window", "is missing: windows are counted from 1"}
	}
	return cmp.Or(validText("data set", r.Dataset, 1, MaxName), validOptionalSigner(r.Signer), validReason(r.Reason))
}

func (o Owner) Validate() error {
	if len(o.Public) != ed25519.PublicKeySize {
		return &InvalidError{"key of the owner", "is not an Ed25519 key"}
	}
	return cmp.Or(validOptionalSigner(o.Signer), validReason(o.Reason))
}

func (t TopUp) Validate() error {
	if len(t.Accounts) == 0 || len(t.Accounts) > MaxAccounts {
		return &InvalidError{"list of accounts", fmt.Sprintf("must name 1 to %d accounts", MaxAccounts)}
	}
	if err := validNames(slices.Values(t.Accounts)); err != nil {
		return err
	}
	for _, a := range []dp.Amount{t.Amount.Epsilon, t.Amount.Rho, t.Amount.Delta} {
		if a > maxAmount {
			return &InvalidError{"amount", fmt.Sprintf("is above the largest, %v", maxAmount)}
		}
	}
	if t.Amount == (dp.Cost{}) {
		return &InvalidError{"amount", "is nothing"}
	}
	return cmp.Or(validSigner(t.Signer), validReason(t.Reason))
}

func (r Recovery) Validate() error {
	if len(r.Spent) > MaxRecovered {
		return &InvalidError{"list of accounts", fmt.Sprintf("is longer than %d", MaxRecovered)}
	}
	err := validNames(func(yield func(string) bool) {
		for _, b := range r.Spent {
			if !yield(b.Account) {
				return
			}
		}
	})
	return cmp.Or(err, validReason(r.Reason))
}

// validNames refuses names that no accounts have, and the same one twice.
func validNames(names iter.Seq[string]) error {
	seen := map[string]bool{}
	for name := range names {
		if err := validText("account", name, 1, MaxName); err != nil {
			return err
		}
		if seen[name] {
			return &InvalidError{"list of accounts", fmt.Sprintf("names %q twice", name)}
		}
		seen[name] = true
	}
	return nil
}

func (r Release) Validate() error {
	return cmp.Or(validText("data set", r.Dataset, 1, MaxName), validText("analyst", r.Analyst, 0, MaxName),
		validOptionalSigner(r.Signer), validReason(r.Reason))
}

func validReason(reason string) error { return validText("reason", reason, 1, MaxReason) }

func validOptionalSigner(s crypto.Signer) error {
	if s == nil {
		return nil
	}
	return validSigner(s)
}

func validSigner(s crypto.Signer) error {
	if s == nil {
		return &InvalidError{"signature", "is missing: this needs the key of the owner"}
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

// DraftHolds is how long after it was made a draft can be written, whatever became of the ledger:
// the time of a record is that of its draft.
const DraftHolds = time.Hour

// Deferred is a signer whose key is on another machine. An entry with an empty one is not written:
// Enter returns a [*DraftError] with what there is to sign. The same entry with that text and its
// signature is written where the text is still what would be signed, and otherwise Enter returns a
// [*StaleError].
//
// What was signed holds the position and the hash of the record that the decision follows: the last
// one by which the owner decided something (an owner, a top-up, a renewal, a release, a recovery),
// or the ledger's first. A release follows the last incident where that came later, because that is
// one which the owner may not have looked at. Of what analysts cause, an incident alone makes a
// draft stale, and only that of a release; and there are as many as the policy bears. So nobody
// keeps the owner from deciding.
//
// That is enough. A hash covers everything before it, up to the random identity of the ledger, so
// that a signature fits no other ledger. What is entered is itself the last decision from then on,
// so that it fits once, and the order in which the owner decided is the one that was signed for. A
// copy of the ledger that has the same last decision takes the signature too, and so does a ledger
// that was put back to a moment after that decision: they have lost what was spent since, which no
// signature can tell and an anchor does; and once that is counted, the recovery is the last
// decision.
type Deferred struct {
	Text      string
	Signature []byte
}

// Public implements [crypto.Signer]. Whose signature counts is for the ledger to know.
func (Deferred) Public() crypto.PublicKey { return nil }

func (d Deferred) Sign(_ io.Reader, message []byte, _ crypto.SignerOpts) ([]byte, error) {
	var want, given Record
	switch {
	case d.Text == "":
		return nil, &DraftError{Text: string(message)}
	case d.Text == string(message):
		return d.Signature, nil
	case want.DecodeSigned(string(message)) != nil || given.DecodeSigned(d.Text) != nil:
		return nil, &SignatureError{Problem: "what was signed is not a draft of this ledger"}
	case want.Sequence != given.Sequence || want.Previous != given.Previous:
		return nil, &StaleError{After: given.Sequence, Last: want.Sequence}
	}
	return nil, &SignatureError{Problem: "what was signed differs from what is asked for"}
}

// At returns when the draft was made; now, where there is none yet. It returns a [*StaleError] for
// one that was made too long ago, or is yet to be made.
func (d Deferred) At(now time.Time) (time.Time, error) {
	if d.Text == "" {
		return now, nil
	}
	var r Record
	if err := r.DecodeSigned(d.Text); err != nil {
		return now, &SignatureError{Problem: "what was signed is not a draft of this ledger"}
	}
	if age := now.Sub(r.Time); age > DraftHolds || age < -DraftHolds {
		return now, &StaleError{After: r.Sequence, Old: true}
	}
	return r.Time, nil
}

// DraftError is returned in the place of a record that is yet to be signed. Nothing was changed.
type DraftError struct {
	// Text is what to sign, byte for byte: see [Record.Signed].
	Text string
}

func (e *DraftError) Error() string { return "this is yet to be signed. Nothing was changed" }

// StaleError is returned when what was signed does not fit any more. Nothing was changed.
type StaleError struct {
	After uint64 // the record that the draft follows
	Last  uint64 // the one that it would have to follow by now
	Old   bool   // it was made too long ago
}

func (e *StaleError) Error() string {
	if e.Old {
		return fmt.Sprintf("the draft that was signed is more than %v old. Nothing was changed; draft it again, and sign that", DraftHolds)
	}
	return fmt.Sprintf("the draft that was signed follows record %d, but now it would have to follow record %d: something else was "+
		"decided, or has failed, in between. Nothing was changed; draft it again, and sign that", e.After, e.Last)
}
