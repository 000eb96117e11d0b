package discreet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ledger/anywhere"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/recent"
	"github.com/discreet-dp/discreet/internal/underway"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Open opens the policy at path and its ledger, which it creates where there is none. One process
// at a time can have a ledger open that is a file; one in a database several can. A context that
// ends meanwhile ends it; what an option brought is then still the caller's to close.
func Open(ctx context.Context, path string, options ...Option) (*DB, error) {
	db := &DB{
		stores: map[string]*store.Store{}, open: map[string]*dataset{},
		releaser: mech.NewReleaser(noise.NewSource()), ids: noise.NewSource(), texts: recent.New[string, *syntax.Text](maxTexts),
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
	if db.ledger == nil {
		if err := db.openLedger(ctx); err != nil {
			return nil, err
		}
		return db, nil
	}
	if err := db.crashed(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	return db, nil
}

// openLedger opens the ledger of the policy, and counts a process that died with it. Neither is
// stopped half way: where the context ends first, the ledger is closed when both are done. Closed
// in order and not counted, nothing would remember that a process died.
func (db *DB) openLedger(ctx context.Context) error {
	if db.asOwner {
		// Whoever has it open looks after its anchor, and has counted who died.
		if l, err := anywhere.Visit(db.policy); l != nil || err != nil {
			db.ledger = l
			return err
		}
	}
	how := anywhere.Options{Full: db.full, Hatch: db.hatch}
	if tell := db.progress; tell != nil {
		how.Tell = func(done, of uint64) { tell("checking the ledger", int64(done), int64(of)) }
	}
	done := make(chan error, 1)
	go func() {
		l, release, err := anywhere.Open(db.policy, how)
		if err != nil {
			done <- err
			return
		}
		db.ledger, db.anchor = l, release
		if db.underwayPath != "" { // nobody else has the ledger now, or the file
			db.underway, err = underway.Open(db.underwayPath)
		}
		if err == nil {
			err = db.crashed(context.WithoutCancel(ctx))
		}
		if err != nil {
			err = errors.Join(err, db.closeLedger())
		}
		if shared, ok := l.(interface{ WhenDied(func()) }); ok && err == nil {
			// Another server with the same ledger may die while this one goes on.
			shared.WhenDied(func() { _ = db.crashed(context.WithoutCancel(ctx)) }) // tried again by whoever is next
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				db.closeLedger()
			}
		}()
		return ctx.Err()
	}
}

// closeLedger closes the ledger in order, and lets go of its anchor.
func (db *DB) closeLedger() error {
	err := errors.Join(db.ledger.Close(), db.underway.Close())
	if db.anchor != nil {
		err = errors.Join(err, db.anchor())
	}
	return err
}
