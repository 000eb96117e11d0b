package discreet

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/hex"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/ledger"
)

// Promise says in sentences what the budget of a dataset promises to every person in the data.
func (db *DB) Promise(ctx context.Context, dataset string) ([]string, error) {
	c, err := db.books(dataset)
	if err != nil {
		return nil, err
	}
	return c.Promise(ctx)
}

// Remaining returns what an analyst can still spend. It does not open the data.
func (db *DB) Remaining(ctx context.Context, dataset, analyst string) (api.Remaining, error) {
	c, err := db.books(dataset)
	if err != nil {
		return api.Remaining{}, err
	}
	return c.Remaining(ctx, analyst)
}

// Renew begins the next window of a dataset. It is refused where the policy has no renewal, or no
// more windows.
func (db *DB) Renew(ctx context.Context, dataset, reason string) (api.Renewed, error) {
	c, err := db.books(dataset)
	if err != nil {
		return api.Renewed{}, err
	}
	db.owner.Lock()
	defer db.owner.Unlock()
	return c.Renew(ctx, reason)
}

// RenewSigned does the same where the owner of the ledger signs for it, for doors that others can
// reach: a renewal needs no signature by itself. See [ledger.Deferred] for signing elsewhere.
func (db *DB) RenewSigned(ctx context.Context, dataset, reason string, signer crypto.Signer) (api.Renewed, error) {
	c, err := db.books(dataset)
	if err != nil {
		return api.Renewed{}, err
	}
	db.owner.Lock()
	defer db.owner.Unlock()
	return c.RenewSigned(ctx, reason, signer)
}

// Due returns the day on which the next window of a dataset is meant to begin, and false where
// nothing was spent yet. It is a reminder: windows begin with Renew and not by themselves.
func (db *DB) Due(ctx context.Context, dataset string) (time.Time, bool, error) {
	c, err := db.books(dataset)
	if err != nil {
		return time.Time{}, false, err
	}
	return c.Due(ctx, time.Now())
}

// TopUp raises the limits of a dataset, a group or an analyst. It takes the key of the ledger's
// owner; see SetOwner. Where that is elsewhere, the signer is a [ledger.Deferred]; one that has
// nothing yet brings what would be, together with the [*ledger.DraftError] that says what to sign.
func (db *DB) TopUp(ctx context.Context, dataset string, t api.TopUp) (*api.Raised, error) {
	c, err := db.books(dataset)
	if err != nil {
		return nil, err
	}
	// One at a time, so that nothing lies between what was read and what is raised.
	db.owner.Lock()
	defer db.owner.Unlock()
	return c.TopUp(ctx, t)
}

// SetOwner says whose signatures count from here on. The first owner needs no signer; a later one
// takes that of the owner before.
func (db *DB) SetOwner(ctx context.Context, public ed25519.PublicKey, signer crypto.Signer, reason string) error {
	_, err := db.ledger.Enter(ctx, ledger.Owner{Public: public, Signer: signer, Reason: reason})
	return err
}

// Owner returns the key whose signatures count, or nil where there is none yet.
func (db *DB) Owner(ctx context.Context) (ed25519.PublicKey, error) {
	var owner ed25519.PublicKey
	for r, err := range db.ledger.Records(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if r.Kind == ledger.KindOwner {
			if owner, err = hex.DecodeString(r.PublicKey); err != nil {
				return nil, err
			}
		}
	}
	return owner, nil
}

// books returns a curator of a dataset that knows its ledger and not its data.
func (db *DB) books(name string) (*books.Books, error) {
	ds, err := db.find(name)
	if err != nil {
		return nil, err
	}
	return books.New(ds, db.ledger), nil
}
