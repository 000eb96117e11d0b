package ledger

import (
	"crypto"
	"fmt"
	"io"
	"time"
)

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

// Sign implements [crypto.Signer].
func (d Deferred) Sign(_ io.Reader, message []byte, _ crypto.SignerOpts) ([]byte, error) {
	var want, given Record
	switch {
	case d.Text == "":
		return nil, &DraftError{Text: string(message)}
	case d.Text == string(message):
		return d.Signature, nil
	case want.DecodeSigned(string(message)) != nil || given.DecodeSigned(d.Text) != nil:
		return nil, &SignatureError{Problem: "what was signed is no draft of this ledger"}
	case want.Sequence != given.Sequence || want.Previous != given.Previous:
		return nil, &StaleError{After: given.Sequence, Last: want.Sequence}
	}
	return nil, &SignatureError{Problem: "what was signed is something else than what is asked for"}
}

// At returns when the draft was made; now, where there is none yet. It returns a [*StaleError] for
// one that was made too long ago, or is yet to be made.
func (d Deferred) At(now time.Time) (time.Time, error) {
	if d.Text == "" {
		return now, nil
	}
	var r Record
	if err := r.DecodeSigned(d.Text); err != nil {
		return now, &SignatureError{Problem: "what was signed is no draft of this ledger"}
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
		return fmt.Sprintf("what was signed was drafted more than %v ago. Nothing was changed; draft it again, and sign that", DraftHolds)
	}
	return fmt.Sprintf("what was signed follows record %d, and by now record %d is the last one that it could follow: something else was "+
		"decided, or has failed, in between. Nothing was changed; draft it again, and sign that", e.After, e.Last)
}
