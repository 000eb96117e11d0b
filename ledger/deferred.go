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
// [*StaleError]. What was signed holds the position and the hash before it, so that any other
// record in between makes it stale.
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
		return nil, &StaleError{Sequence: given.Sequence, Head: want.Sequence - 1}
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
		return now, &StaleError{Sequence: r.Sequence, Old: true}
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
	Sequence uint64 // the position that was signed for
	Head     uint64 // the last record by now
	Old      bool   // it was made too long ago
}

func (e *StaleError) Error() string {
	if e.Old {
		return fmt.Sprintf("what was signed was drafted more than %v ago. Nothing was changed; draft it again, and sign that", DraftHolds)
	}
	return fmt.Sprintf("what was signed is record %d, and the ledger has gone on since. Nothing was changed; draft it again, and sign that",
		e.Sequence)
}
