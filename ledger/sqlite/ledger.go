package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/internal/chain"
)

// Ledger is a ledger in a SQLite file. All methods are safe for concurrent use;
// they take turns.
type Ledger struct {
	path string
	now  func() time.Time

	// turn holds one token while somebody works with what follows. It is a channel
	// and not a mutex so that a caller can stop waiting.
	turn    chan struct{}
	lock    *lock
	conn    *conn
	state   *chain.State
	broken  *ledger.WriteError // why no more work is done, or nil
	mooring *chain.Mooring
	closed  bool

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
	switch {
	case l.closed:
		l.leave()
		return ledger.ErrClosed
	case l.broken != nil:
		l.leave()
		return l.broken
	}
	return nil
}

func (l *Ledger) leave() { <-l.turn }

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

// Enter implements [ledger.Ledger].
func (l *Ledger) Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	if err := e.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	if err := l.enter(ctx); err != nil {
		return ledger.Receipt{}, err
	}
	defer l.leave()
	link, err := l.state.Entry(e, l.now())
	if err != nil {
		return ledger.Receipt{}, err
	}
	if err := l.append(nil, link); err != nil {
		return ledger.Receipt{}, err
	}
	return chain.Receipt(link.Record, link.Hash, false), nil
}

// Records implements [ledger.Ledger].
func (l *Ledger) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for {
			r, err := l.record(ctx, from)
			if r == nil && err == nil || !yield(r, err) || err != nil {
				return
			}
			from++
		}
	}
}

// record returns a record, or nil after the last one.
func (l *Ledger) record(ctx context.Context, sequence uint64) (*ledger.Record, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	if last, _ := l.state.Head(); sequence > last {
		return nil, nil
	}
	r, _, _, err := l.read(sequence)
	return r, err
}

// Close implements [ledger.Ledger]. To close twice does nothing.
func (l *Ledger) Close() error {
	l.turn <- struct{}{}
	defer l.leave()
	if l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.broken == nil { // what is on the disk is not known then
		err = l.mooring.Close(background, l.state)
	}
	for _, s := range []*sql.Stmt{l.begin, l.commit, l.insertRecord, l.updateHead, l.selectRecord} {
		err = errors.Join(err, s.Close())
	}
	// The connection goes before the lock, which must cover what SQLite still writes.
	return errors.Join(err, l.conn.Close(), l.lock.release())
}
