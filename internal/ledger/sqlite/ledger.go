package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Ledger is a ledger in a SQLite file. All methods are safe for concurrent use.
// Calls that write and come at the same time are written together.
type Ledger struct {
	path string
	now  func() time.Time

	waiting queue // who wants to write

	// turn holds one token while somebody works with what follows. It is a channel
	// and not a mutex so that a caller can stop waiting.
	turn    chan struct{}
	lock    *lock
	conn    *conn
	state   *chain.State
	keeper  *chain.AnchorKeeper
	marked  bool               // the file says that it needs its log
	died    bool               // the process before did not close it
	broken  *ledger.WriteError // why no more work is done, or nil
	closed  bool
	commits uint64 // transactions so far

	checkpoints checkpointing
	prover      prover
	helpers     sync.WaitGroup // what runs in the background
	stop        chan struct{}  // closed when that is to end

	begin, commit, insertRecord, updateHead, selectRecord *sql.Stmt
}

// enter waits for the turn. Who got nil must leave.
func (l *Ledger) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := l.stopped(); err != nil {
		l.leave()
		return err
	}
	return nil
}

func (l *Ledger) leave() { <-l.turn }

// stopped says why no more work is done, or nil.
func (l *Ledger) stopped() error {
	switch {
	case l.closed:
		return ledger.ErrClosed
	case l.broken != nil:
		again := *l.broken
		return &again
	}
	return nil
}

// Head implements [ledger.Ledger].
func (l *Ledger) Head(ctx context.Context) (uint64, string, error) {
	if err := l.enter(ctx); err != nil {
		return 0, "", err
	}
	defer l.leave()
	sequence, hash := l.state.Head()
	return sequence, hash, nil
}

// Balances implements [ledger.Ledger].
func (l *Ledger) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	balances := make([]ledger.Balance, len(accounts))
	for i, a := range accounts {
		balances[i] = l.state.Balance(a)
		balances[i].First = l.state.First(a.Name)
	}
	return balances, nil
}

// DataVersion implements [ledger.Ledger].
func (l *Ledger) DataVersion(ctx context.Context, dataset, label, state string) (ledger.Version, error) {
	if err := l.enter(ctx); err != nil {
		return ledger.Version{}, err
	}
	defer l.leave()
	return l.state.DataVersion(dataset, label, state), nil
}

// Window implements [ledger.Ledger].
func (l *Ledger) Window(ctx context.Context, dataset string) (uint64, error) {
	if err := l.enter(ctx); err != nil {
		return 0, err
	}
	defer l.leave()
	return l.state.Window(dataset), nil
}

// Close implements [ledger.Ledger]. To close twice does nothing.
//
// A ledger that was closed without an error is a single file. One that was stopped keeps its log.
func (l *Ledger) Close() error {
	l.end()
	l.turn <- struct{}{}
	defer l.leave()
	if l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.broken == nil {
		err = errors.Join(l.keeper.Close(background, l.state), l.settle())
	}
	for _, s := range []*sql.Stmt{l.begin, l.commit, l.insertRecord, l.updateHead, l.selectRecord} {
		err = errors.Join(err, s.Close())
	}
	err = errors.Join(err, l.conn.Close())
	if l.broken == nil && !l.marked {
		if size, e := logSize(l.path); e == nil && size == 0 {
			if e := os.Remove(l.path + "-wal"); !errors.Is(e, fs.ErrNotExist) {
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
			return &ledger.WriteError{Path: l.path, Broken: true, Err: err}
		}
	}
	l.marked = false
	return nil
}
