package sqlite

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/internal/ledger/desk"
	"github.com/discreet-dp/discreet/ledger"
)

// Ledger is a ledger in a SQLite file. All methods are safe for concurrent use.
// Calls that write and come at the same time are written together.
type Ledger struct {
	*desk.Desk // decides; the rest belongs to whoever has its turn

	lock    *lock
	conn    *conn
	marked  bool   // the file says that it needs its log
	died    bool   // the process before did not close it
	log     int64  // how long the log was before the last group
	commits uint64 // transactions so far

	checkpoints checkpointing
	prover      checkpoint.Prover
	helpers     sync.WaitGroup // what runs in the background
	stop        chan struct{}  // closed when that is to end

	begin, commit, insertRecord, updateHead, selectRecord *sql.Stmt
}

// Close implements [ledger.Ledger]. To close twice does nothing.
//
// A ledger that was closed without an error is a single file. One that was stopped keeps its log.
func (l *Ledger) Close() error {
	l.end()
	l.Take()
	defer l.Leave()
	if l.Shut {
		return nil
	}
	l.Shut = true
	var err error
	if l.Broken == nil {
		err = errors.Join(l.Keeper.Close(background, l.State), l.settle())
	}
	for _, s := range []*sql.Stmt{l.begin, l.commit, l.insertRecord, l.updateHead, l.selectRecord} {
		err = errors.Join(err, s.Close())
	}
	err = errors.Join(err, l.conn.Close())
	if l.Broken == nil && !l.marked {
		if size, e := logSize(l.Path); e == nil && size == 0 {
			if e := os.Remove(l.Path + "-wal"); !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	// The connection goes before the lock, which must cover what SQLite still writes.
	return errors.Join(err, l.lock.release())
}

// settle puts everything into the file, and only then says in it that it needs no log.
func (l *Ledger) settle() error {
	if !l.marked {
		return nil
	}
	for _, step := range []func() error{l.conn.empty, func() error { return l.conn.mark(closed) }} {
		if err := step(); err != nil {
			return &ledger.WriteError{Path: l.Path, Broken: true, Err: err}
		}
	}
	l.marked = false
	return nil
}
