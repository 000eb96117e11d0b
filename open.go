package discreet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Open opens the policy at path and its ledger, which it creates where there is none. One process
// at a time can have a ledger open. A context that ends meanwhile ends it; what an option brought
// is then still the caller's to close.
func Open(ctx context.Context, path string, options ...Option) (*DB, error) {
	db := &DB{
		stores: map[string]*store.Store{}, open: map[string]*dataset{},
		releaser: mech.NewReleaser(noise.NewSource()), ids: noise.NewSource(),
	}
	for _, set := range options {
		if err := set(db); err != nil {
			return nil, err
		}
	}
	if err := db.limits.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if db.policy == nil {
		var err error
		if db.policy, err = policy.Load(path); err != nil {
			return nil, err
		}
	}
	for name := range db.stores {
		if db.policy.Datasets[name] == nil {
			return nil, fmt.Errorf("there is a store for the dataset %q, and none of that name; the datasets are %s", name,
				strings.Join(db.policy.Names(), ", "))
		}
	}
	release := func() error { return nil }
	if db.ledger == nil {
		var err error
		if db.ledger, db.anchor, err = openLedger(ctx, db.policy); err != nil {
			return nil, err
		}
		release = db.closeLedger
	}
	if err := db.crashed(ctx); err != nil {
		return nil, errors.Join(err, release())
	}
	return db, nil
}

// openLedger opens the ledger of a policy, and returns what lets go of its anchor. A ledger is not
// stopped half way: where the context ends first, it is closed when it is open.
func openLedger(ctx context.Context, p *policy.Policy) (ledger.Ledger, func() error, error) {
	place, release, err := anchor.Open(p)
	if err != nil {
		return nil, nil, err
	}
	type opened struct {
		ledger *sqlite.Ledger
		err    error
	}
	done := make(chan opened, 1)
	go func() {
		l, err := sqlite.OpenWith(p.Ledger, sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every)})
		done <- opened{l, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, nil, errors.Join(o.err, release())
		}
		return o.ledger, release, nil
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				o.ledger.Close()
			}
			release()
		}()
		return nil, nil, ctx.Err()
	}
}

// closeLedger closes the ledger in order, and lets go of its anchor.
func (db *DB) closeLedger() error {
	err := db.ledger.Close()
	if db.anchor != nil {
		err = errors.Join(err, db.anchor())
	}
	return err
}
