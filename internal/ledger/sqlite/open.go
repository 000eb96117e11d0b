package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/internal/ledger/desk"
	"github.com/discreet-dp/discreet/ledger"
)

// Open opens the ledger at the path for writing and creates it when there is none. It
// checks the ledger first: from its first record on, or, where the chain proves a checkpoint, from
// there. What is before a checkpoint is then checked in the background, and whatever of it is read.
//
// It returns a [*ledger.CorruptError] when the ledger does not check, and
// [ledger.ErrBusy] when it is open elsewhere and stays so for two seconds.
func Open(path string) (*Ledger, error) { return OpenWith(path, Options{}) }

func open(path string, now func() time.Time) (*Ledger, error) { return openWith(path, Options{}, now) }

// openAnchored opens a ledger after comparing it with its anchor, before anything is changed. To go
// on from there is the caller's to do: the anchor must not know of what a process that died left in
// the log before that is on stable storage.
func openAnchored(path string, now func() time.Time, keeper *chain.AnchorKeeper, o Options) (_ *Ledger, err error) {
	path, _, err = resolve(path)
	if err != nil {
		return nil, err
	}
	lock, err := acquire(path, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.release())
		}
	}()
	// Looked at again: another process may have created it while we waited.
	path, exists, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if !exists {
		// An anchor without a ledger is one whose ledger is lost.
		if err := keeper.Open(background, path, nil, nil); err != nil {
			return nil, err
		}
		if err := create(path, now()); err != nil {
			return nil, err
		}
	}
	use(path)
	state, by, err := check(path, keeper, o)
	if err != nil {
		return nil, err
	}
	if err := secureLog(path); err != nil {
		return nil, err
	}
	c, marker, err := take(path, state)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		Desk: &desk.Desk{Path: path, Now: now, State: state}, lock: lock, conn: c,
		marked: marker == opened, died: marker == opened, stop: make(chan struct{}),
		checkpoints: checkpointing{last: state.Unread(), chosen: by, whole: state.Unread() == 0},
	}
	l.Open(writer{l})
	if err := l.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return l, nil
}

// check reads the ledger through a view, which cannot change it.
func check(path string, keeper *chain.AnchorKeeper, o Options) (_ *chain.State, by chosen, err error) {
	believe, err := checkpoint.By(keeper, path, o.Full)
	if err != nil {
		return nil, noneChosen, err
	}
	v, err := look(path)
	if err != nil {
		return nil, noneChosen, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	c, state, err := v.replay(believe, o.Tell)
	if err != nil {
		return nil, noneChosen, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if o.mending {
		return state, v.by, nil
	}
	_, _, err = keeper.Check(background, path, state, func(sequence uint64) (string, error) {
		var hash string
		err := c.QueryRowContext(background, "SELECT hash FROM records WHERE sequence = ?", int64(sequence)).Scan(&hash)
		if err == nil {
			err = new(checkpoint.Prover).Prove(state, sequence, hash, c.hashes)
		}
		return hash, err
	})
	return state, v.by, err
}

// take opens the database for this process alone. SQLite reads its log again, and must come to the
// same head as we did. What a process that died left in the log is put into the file, so that a new
// log begins empty.
func take(path string, state *chain.State) (_ *conn, marker uint32, err error) {
	c, err := dial(path)
	if err != nil {
		return nil, 0, corrupt(path, "it cannot be opened", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := errors.Join(c.set(writing...), c.set(reading...)); err != nil {
		return nil, 0, corrupt(path, "it cannot be opened", err)
	}
	if err := checkHead(c, path, state); err != nil {
		return nil, 0, err
	}
	if err := c.QueryRowContext(background, "PRAGMA user_version").Scan(&marker); err != nil {
		return nil, 0, corrupt(path, "it cannot be opened", err)
	}
	if size, err := logSize(path); err != nil {
		return nil, 0, err
	} else if size > 0 {
		// On a full disk the log stays, which has everything, so that what was paid for can still
		// be had.
		if err := c.empty(); err != nil && !full(err) {
			return nil, 0, &ledger.WriteError{Path: path, Broken: true, Err: err}
		}
	}
	// Both names must outlast a loss of power before anything is confirmed that is only in the log.
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return nil, 0, &ledger.WriteError{Path: path, Broken: true, Err: err}
	}
	return c, marker, nil
}

// prepare compiles the statements of a running ledger.
func (l *Ledger) prepare() error {
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&l.begin, "BEGIN IMMEDIATE"}, {&l.commit, "COMMIT"},
		{&l.insertRecord, insertRecord}, {&l.updateHead, updateHead}, {&l.selectRecord, selectRecord},
	} {
		stmt, err := l.conn.PrepareContext(background, s.sql)
		if err != nil {
			return fmt.Errorf("the ledger %s cannot be used: %w", l.Path, err)
		}
		*s.to = stmt
	}
	return nil
}

var _ ledger.Ledger = (*Ledger)(nil)
