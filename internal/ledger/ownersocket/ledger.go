package ownersocket

import (
	"context"
	"iter"

	"github.com/discreet-dp/discreet/ledger"
)

// Ledger returns the other process's ledger: it reads balances and records, and enters what an
// owner decides. Whatever an analyst's question needs is refused with [ledger.ErrBusy]: the server
// that has the ledger is there to be asked.
func (v *Client) Ledger() ledger.Ledger { return remote{Client: v} }

type remote struct {
	busy
	*Client
}

func (r remote) Close() error { return nil }

func (r remote) Head(ctx context.Context) (uint64, string, error) {
	a, err := r.ask(ctx, message{Want: wantHead})
	return a.Head.Sequence, a.Head.Hash, err
}

func (r remote) Window(ctx context.Context, dataset string) (uint64, error) {
	a, err := r.ask(ctx, message{Want: wantWindow, Dataset: dataset})
	return a.Window, err
}

func (r remote) Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	a, err := r.ask(ctx, message{Want: wantLockout, Dataset: dataset, Analyst: analyst})
	return a.Door, err
}

// Balances implements [ledger.Ledger]. The limits are those of this side's policy.
func (r remote) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	m := message{Want: wantBalances}
	for _, a := range accounts {
		m.Accounts = append(m.Accounts, a.Name)
	}
	a, err := r.ask(ctx, m)
	if err != nil || len(a.Balances) != len(accounts) {
		return nil, err
	}
	for i := range a.Balances {
		a.Balances[i].Limit = accounts[i].Filter.Limit().Add(a.Balances[i].Granted)
	}
	return a.Balances, nil
}

// Notes implements [ledger.Ledger], for what is no secret: whom charges protect.
func (r remote) Notes(ctx context.Context, session string) ([][]byte, error) {
	if _, open := ledger.NotesProtected(session); !open {
		return nil, ledger.ErrBusy
	}
	a, err := r.ask(ctx, message{Want: wantNotes, Session: session})
	return a.Notes, err
}

func (r remote) Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	return r.enter(ctx, e)
}

func (r remote) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		now := Client{path: r.path}
		var err error
		if now.head.Sequence, now.head.Hash, err = r.Head(ctx); err != nil {
			yield(nil, err)
			return
		}
		for s, err := range now.Lines() {
			if err != nil {
				yield(nil, err)
				return
			}
			if s.Record.Sequence >= from && !yield(s.Record, nil) {
				return
			}
		}
	}
}

// busy refuses what does not go through the socket.
type busy struct{}

func (busy) Charge(context.Context, ledger.Charge) (ledger.Receipt, error) {
	return ledger.Receipt{}, ledger.ErrBusy
}
func (busy) Keep(context.Context, uint64, string, []byte) error { return ledger.ErrBusy }
func (busy) Recall(context.Context, string) ([]byte, uint64, bool, error) {
	return nil, 0, false, ledger.ErrBusy
}
func (busy) Answer(context.Context, string) ([]byte, bool, error) { return nil, false, ledger.ErrBusy }

func (busy) Request(context.Context, string) (*ledger.Record, string, []byte, error) {
	return nil, "", nil, ledger.ErrBusy
}
func (busy) DataVersion(context.Context, string, string, string) (ledger.Version, error) {
	return ledger.Version{}, ledger.ErrBusy
}
func (busy) Fail(context.Context, ledger.Incident) (bool, error) { return false, ledger.ErrBusy }
func (busy) Died() []string                                      { return nil }
func (busy) Note(context.Context, string, []byte) error          { return ledger.ErrBusy }
func (busy) NoteIf(context.Context, string, []byte, ledger.Provided) error {
	return ledger.ErrBusy
}
func (busy) NotesAfter(context.Context, string, int) ([][]byte, error) { return nil, ledger.ErrBusy }
func (busy) Era(context.Context) (string, error)                       { return "", ledger.ErrBusy }
