package discreet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/underway"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Open opens the policy at path and its ledger, which it creates where there is none. One process
// at a time can have a ledger open that is a file; one in a database several can. A context that
// ends meanwhile ends it; what an option brought is then still the caller's to close.
func Open(ctx context.Context, path string, options ...Option) (*DB, error) {
	all := &datasets{stores: map[string]*store.Store{}, open: map[string]*dataset{}, releaser: mech.NewReleaser(noise.NewSource()),
		ids: noise.NewSource()}
	db := &DB{Accounts: Accounts{datasets: all}, StreamQuestions: StreamQuestions{all}, HoldoutQuestions: HoldoutQuestions{all},
		Trainings: Trainings{all}, datasets: all, texts: lru.New[string, *syntax.Text](maxTexts),
		reloads: reloads{turn: make(chan struct{}, 1)}}
	for _, set := range options {
		if err := set(db); err != nil {
			return nil, err
		}
	}
	if err := db.datasets.limits.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if db.Policy() == nil {
		p, err := policy.Load(path)
		if err != nil {
			return nil, err
		}
		db.datasets.policy.Store(p)
	}
	for name := range db.datasets.stores {
		if db.Policy().Datasets[name] == nil {
			return nil, fmt.Errorf("there is a store for the dataset %q, but no dataset of that name; the datasets are %s", name,
				strings.Join(db.Policy().Names(), ", "))
		}
	}
	if db.reloads.read == nil {
		db.reloads.read = func() (*policy.Policy, error) { return policy.LoadAgain(db.Policy().Path) }
	}
	open := db.openLedger
	if db.datasets.ledger != nil {
		open = func(ctx context.Context) error { return db.crashed(context.WithoutCancel(ctx)) }
	}
	if err := open(ctx); err != nil {
		return nil, err
	}
	db.reloads.turn <- struct{}{}
	return db, nil
}

// openLedger opens the ledger of the policy, and counts a process that died with it. Neither is
// stopped half way: where the context ends first, the ledger is closed when both are done. Closed
// in order and not counted, nothing would remember that a process died.
func (db *DB) openLedger(ctx context.Context) error {
	if db.asOwner {
		// Whoever has it open looks after its anchor, and has counted who died.
		if l, err := openledger.Dial(db.Policy()); l != nil || err != nil {
			db.datasets.ledger = l
			return err
		}
	}
	how := openledger.Options{Full: db.full, OwnerSocket: db.ownerSocket, Reload: db.reloadForOwner}
	if tell := db.progress; tell != nil {
		how.Tell = func(done, of uint64) { tell("checking the ledger", int64(done), int64(of)) }
	}
	done := make(chan error, 1)
	go func() {
		l, release, err := openledger.Open(db.Policy(), how)
		if err != nil {
			done <- err
			return
		}
		db.datasets.ledger, db.anchor = l, release
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
	err := errors.Join(db.datasets.ledger.Close(), db.underway.Close())
	if db.anchor != nil {
		err = errors.Join(err, db.anchor())
	}
	return err
}

// Option is something about how a policy is opened.
type Option func(*DB) error

// WithPolicy takes a policy that was already read, in the place of the file at the path.
func WithPolicy(p *policy.Policy) Option {
	return func(db *DB) error {
		db.datasets.policy.Store(p)
		return nil
	}
}

// WithMemory bounds what the engine of each dataset takes, such as 512MB or 4GB. Nothing is the
// engine's default, which is four fifths of the machine's. What is larger is spilled to disk.
// Queries around answers have engines of their own, of 256MB each, at most four at a time, whatever
// stands here.
func WithMemory(most string) Option {
	return func(db *DB) (err error) {
		if db.datasets.limits.Memory, err = duckdb.ParseMemory(most); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
		return nil
	}
}

// WithThreads says how many cores one question can use; 0 is all of them.
func WithThreads(n int) Option {
	return func(db *DB) error {
		db.datasets.limits.Threads = n
		return nil
	}
}

// WithFullCheck checks the ledger of the policy from its first record to its last before it is
// opened. Otherwise a large one is opened by its last checkpoint, and checked in the background.
func WithFullCheck() Option {
	return func(db *DB) error {
		db.full = true
		return nil
	}
}

// WithOwnerSocket lets the owner's commands (top-ups, renewals, verify, export, copies) work on a
// ledger in a file while it is open here, over a socket beside it that has the ledger's own rights.
// No charge is made that way. A ledger in a database needs none.
func WithOwnerSocket() Option {
	return func(db *DB) error {
		db.ownerSocket = true
		return nil
	}
}

// AsOwner opens a database for what its owner reads and enters: budgets, records, top-ups,
// renewals, releases. Where another process has its ledger open, in a file and with an owner's
// socket (see [WithOwnerSocket]), that one is asked. Questions are then refused.
func AsOwner() Option {
	return func(db *DB) error {
		db.asOwner = true
		return nil
	}
}

// WithProgress tells, often and while something is opened, how much of it was read: of a ledger in
// records, of a CSV file in bytes. It is for the owner: how large the data is is private.
func WithProgress(tell func(what string, done, of int64)) Option {
	return func(db *DB) error {
		db.progress = tell
		if tell != nil {
			db.datasets.limits.Tell = func(file string, done, of int64) { tell("reading "+filepath.Base(file), done, of) }
		}
		return nil
	}
}

// WithIncidents tells of every question that failed after its charge, when that is in the ledger;
// see [DB.Release]. One whose analyst was shut out before is told here and nowhere else. An
// incident holds no data, and is for the owner alone: how many there are under a lockout is a
// secret.
func WithIncidents(told func(api.Incident)) Option {
	return func(db *DB) error {
		db.datasets.incident = told
		return nil
	}
}

// WithUnderway keeps whose questions are under way in a file, so that where this process dies by
// one of them the next one knows whose it was, and not everybody's. See [DB.Underway]. It is for a
// ledger that one process has open at a time.
func WithUnderway(path string) Option {
	return func(db *DB) error {
		db.underwayPath = path
		return nil
	}
}

// WithEngine takes a database that holds the data of a dataset, in the place of the source that the
// policy names; the dialect that it speaks says which engine asks it. Close closes it.
func WithEngine(dataset string, s store.Store) Option {
	return func(db *DB) error {
		switch {
		case s.DB == nil:
			return errors.New("the store has no database")
		case s.Version == nil:
			return errors.New("the store does not name the state of its data: it has no Version")
		case db.datasets.stores[dataset] != nil:
			return fmt.Errorf("there are two stores for the dataset %q", dataset)
		}
		for other, t := range db.datasets.stores {
			if t.DB == s.DB {
				return fmt.Errorf("the datasets %q and %q have the same database, so its people would have two budgets; put both into one "+
					"dataset, or give each a database of its own", other, dataset)
			}
		}
		db.datasets.stores[dataset] = &s
		return nil
	}
}

// WithLedger takes a ledger that is open, in the place of the one that the policy names, and of its
// anchor. Close closes it.
func WithLedger(l ledger.Ledger) Option {
	return func(db *DB) error {
		switch {
		case l == nil: // that of the policy would do, and would not know what this one has paid
			return errors.New("the ledger to use is nil")
		case db.datasets.ledger != nil:
			return errors.New("there are two ledgers")
		}
		db.datasets.ledger = l
		return nil
	}
}
