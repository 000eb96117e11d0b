package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/internal/chain"
)

// Open opens the ledger at the path for writing and creates it when there is none. It
// checks the whole ledger first.
//
// It returns a [*ledger.CorruptError] when the ledger does not check, and
// [ledger.ErrBusy] when it is open elsewhere and stays so for two seconds.
func Open(path string) (*Ledger, error) { return open(path, time.Now) }

func open(path string, now func() time.Time) (*Ledger, error) {
	return openWith(path, Options{}, now)
}

// openMoored opens a ledger and leaves it to the caller to check it against its anchor. One that does not exist is
// created only where there is no anchor either.
func openMoored(path string, now func() time.Time, mooring *chain.Mooring) (_ *Ledger, err error) {
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
		if err := mooring.Open(background, path, nil, nil); err != nil {
			return nil, err
		}
		if err := create(path, now()); err != nil {
			return nil, err
		}
	}
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	c, state, err := take(path)
	if err != nil {
		return nil, err
	}
	l := &Ledger{path: path, now: now, lock: lock, conn: c, state: state, turn: make(chan struct{}, 1)}
	if err := l.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return l, nil
}

// take opens the database for this process alone, which also plays back the
// journal of a process that died, and checks it.
func take(path string) (_ *conn, _ *chain.State, err error) {
	c, err := dial(path, "rw")
	if err != nil {
		return nil, nil, corrupt(path, "it cannot be opened", err)
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := errors.Join(c.set(reading...), c.set(writing...)); err != nil {
		return nil, nil, corrupt(path, "it cannot be opened", err)
	}
	// Reading takes the shared lock and, as locking_mode is exclusive, keeps it.
	state, err := replay(c, path, path)
	if err != nil {
		return nil, nil, err
	}
	// The exclusive lock is taken here and kept. It comes after the checks because
	// SQLite may mend a header when it begins to write.
	for _, s := range []string{"BEGIN EXCLUSIVE", "COMMIT"} {
		if _, err := c.ExecContext(background, s); err != nil {
			return nil, nil, corrupt(path, "it cannot be locked", err)
		}
	}
	return c, state, nil
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
			return fmt.Errorf("the ledger %s cannot be used: %w", l.path, err)
		}
		*s.to = stmt
	}
	return nil
}

var _ ledger.Ledger = (*Ledger)(nil)
