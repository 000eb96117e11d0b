package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// What the owner decides is written over HTTP in two steps, and only with the owner's key, which
// this server never sees: it drafts the record, the owner signs that elsewhere, and what comes back
// is written where it is still what would be signed. The command line asks for less where it is on
// the machine itself, for a renewal and for a release in a ledger without an owner: there one has
// to be able to write the ledger's file, and here a password that was guessed would be enough.

// Draft is a record that is yet to be signed.
type Draft struct {
	Text        string    `json:"text" doc:"What to sign with Ed25519: the bytes of this text in UTF-8. It is the record without its signature, with the number and the hash of the record that it follows"`
	Kind        string    `json:"kind" enum:"topup,renewal,release" doc:"What the record is"`
	Follows     uint64    `json:"follows" doc:"The record that it follows: the last one by which an owner decided something, and for a release the last incident where that came later. What analysts ask meanwhile does not matter"`
	Time        time.Time `json:"time" doc:"When it was drafted, which is the time of the record"`
	Expires     time.Time `json:"expires" doc:"Until when it can be written, where nothing else is decided meanwhile"`
	Fingerprint string    `json:"fingerprint" doc:"The fingerprint of the key whose signature counts, as 'discreet ledger key' prints it"`
}

// Signed is what comes back for a draft.
type Signed struct {
	Text      string `json:"text" minLength:"1" maxLength:"65536" doc:"The text of the draft"`
	Signature string `json:"signature" pattern:"^[0-9a-f]{128}$" doc:"Its Ed25519 signature by the key of the ledger's owner, in hexadecimal"`
}

func (s Signed) signer() ledger.Deferred {
	signature, _ := hex.DecodeString(s.Signature) // the schema says that it is hexadecimal
	return ledger.Deferred{Text: s.Text, Signature: signature}
}

// draftOf is the draft that a ledger has returned in the place of a record; any other error is what
// it is.
func (d *door) draftOf(ctx context.Context, err error) (Draft, error) {
	var draft *ledger.DraftError
	if !errors.As(err, &draft) {
		return Draft{}, err
	}
	var r ledger.Record
	if err := r.DecodeSigned(draft.Text); err != nil {
		return Draft{}, err
	}
	key := r.PublicKey
	if r.Kind == ledger.KindRenewal { // which does not name the key that signs it
		owner, err := d.past.owner(ctx, d.Dispatcher.DB())
		if err != nil {
			return Draft{}, err
		}
		key = owner
	}
	return Draft{draft.Text, string(r.Kind), r.Sequence, r.Time.UTC(), r.Time.Add(ledger.DraftHolds).UTC(), ledger.Fingerprint(key)}, nil
}

// again reports whether what could not be written is in the ledger already, as record: the answer
// to whoever sent it may have been lost, and must not become a second record.
func (d *door) again(ctx context.Context, s Signed, err error) (record uint64, written bool) {
	var signed ledger.Record
	if err == nil || signed.DecodeSigned(s.Text) != nil {
		return 0, false
	}
	// What was signed to follow a record is the first decision after it, or was not written.
	record, err = d.past.decisionAfter(ctx, d.Dispatcher.DB(), signed.Sequence)
	if err != nil || record == 0 {
		return 0, false
	}
	r, err := d.Dispatcher.DB().Record(ctx, record)
	after := ledger.Position{Sequence: signed.Sequence, Hash: signed.Previous}
	if err != nil || string(r.Signed(after)) != s.Text || r.Signature != "" && r.Signature != s.Signature {
		return 0, false
	}
	return record, true
}

// signing are the problems of an operation that takes a signature.
var signing = []int{http.StatusNotFound, http.StatusConflict}

// drafting and writing make the two operations of a thing that the owner signs.
func drafting(at, id, summary string) huma.Operation {
	return operation(ownerOnly, http.MethodPost, at, id, summary,
		"For the owner. Writes nothing: the answer has what to sign, and what would be. Send the same once more with text and signature, "+
			"to the address without /draft.", signing...)
}

func writing(at, id, summary, description string) huma.Operation {
	o := operation(ownerOnly, http.MethodPost, at, id, summary,
		description+" It takes the signature of the ledger's owner under a draft, which is stale (409) once an owner has decided "+
			"something else, or, for a release, something else has failed: then draft it again. What was written "+
			"already is told once more, and not written twice.", signing...)
	o.DefaultStatus = http.StatusCreated
	return o
}

// owned finds a dataset for the owner.
func (d *door) owned(u users.User, name string) (string, error) {
	ds, err := d.dataset(u, name)
	if err != nil {
		return "", err
	}
	return ds.Name, nil
}
