// Package memledger is a ledger for data that is made up, and for answers that nobody gets but the
// owner: it decides as every ledger does, in memory, and is forgotten. What it lacks is a disk, an
// owner and a second caller: nothing that it says counts for anybody's data.
package memledger

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Ledger is a ledger in memory, for one question at a time.
type Ledger struct {
	sequence uint64
	spent    map[string]dp.Cost
	requests map[string]ledger.Receipt
	answers  map[string]kept // by key
	first    map[uint64]kept // by the sequence of the charge
	notes    map[string][][]byte
}

type kept struct {
	answer   []byte
	sequence uint64
}

func New() *Ledger {
	return &Ledger{spent: map[string]dp.Cost{}, requests: map[string]ledger.Receipt{}, answers: map[string]kept{},
		first: map[uint64]kept{}, notes: map[string][][]byte{}}
}

// Clone returns another one that has seen the same.
func (l *Ledger) Clone() *Ledger {
	out := &Ledger{l.sequence, maps.Clone(l.spent), maps.Clone(l.requests), maps.Clone(l.answers), maps.Clone(l.first),
		map[string][][]byte{}}
	for name, all := range l.notes {
		out.notes[name] = slices.Clone(all)
	}
	return out
}

// Charge implements [ledger.Ledger], as do all others.
func (l *Ledger) Charge(_ context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if err := c.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	if r, ok := l.requests[c.Request]; ok {
		r.Again = true
		return r, nil
	}
	for _, a := range c.Accounts {
		if spent := l.spent[a.Name]; !a.Filter.Admits(spent, c.Cost) {
			return ledger.Receipt{}, &ledger.BudgetError{Account: a.Name, Want: c.Cost, Left: a.Filter.Left(spent)}
		}
	}
	for _, a := range c.Accounts {
		l.spent[a.Name] = l.spent[a.Name].Add(c.Cost)
	}
	l.sequence++
	balances, _ := l.Balances(context.Background(), c.Accounts)
	r := ledger.Receipt{Sequence: l.sequence, Cost: c.Cost, Window: c.Window, Balances: balances}
	l.requests[c.Request] = r
	return r, nil
}

func (l *Ledger) Keep(_ context.Context, sequence uint64, key string, answer []byte) error {
	if _, ok := l.first[sequence]; ok {
		return ledger.ErrKept
	}
	if sequence == 0 || sequence > l.sequence {
		return ledger.ErrUnpaid
	}
	k := kept{answer, sequence}
	l.first[sequence] = k
	for _, name := range ledger.Keys(key) {
		if _, ok := l.answers[name]; !ok {
			l.answers[name] = k
		}
	}
	return nil
}

func (l *Ledger) Recall(_ context.Context, key string) ([]byte, uint64, bool, error) {
	k, ok := l.answers[key]
	return k.answer, k.sequence, ok, nil
}

func (l *Ledger) Answer(_ context.Context, request string) ([]byte, bool, error) {
	k, ok := l.first[l.requests[request].Sequence]
	return k.answer, ok, nil
}

// Request finds nothing: nobody asks twice here.
func (l *Ledger) Request(context.Context, string) (*ledger.Record, string, []byte, error) {
	return nil, "", nil, nil
}

func (l *Ledger) Balances(_ context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	out := make([]ledger.Balance, len(accounts))
	for i, a := range accounts {
		out[i] = ledger.Balance{Account: a.Name, Limit: a.Filter.Limit(), Spent: l.spent[a.Name]}
	}
	return out, nil
}

func (l *Ledger) Head(context.Context) (uint64, string, error) { return l.sequence, "", nil }

func (l *Ledger) Close() error { return nil }

// DataVersion is always the first: what is made up does not change.
func (l *Ledger) DataVersion(_ context.Context, dataset, label, state string) (ledger.Version, error) {
	return ledger.Version{ID: ledger.VersionID("replay", dataset, state), Label: label, Number: 1}, nil
}

// Window is always the first: no question renews.
func (l *Ledger) Window(context.Context, string) (uint64, error) { return 1, nil }

func (l *Ledger) Note(_ context.Context, session string, entry []byte) error {
	if err := ledger.ValidateNote(session, entry); err != nil {
		return err
	}
	l.notes[session] = append(l.notes[session], slices.Clone(entry))
	return nil
}

// NoteIf is Note: there is one window, and nobody else.
func (l *Ledger) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	if p.After != nil && *p.After != len(l.notes[session]) {
		return ledger.ErrBehind
	}
	return l.Note(ctx, session, entry)
}

func (l *Ledger) Notes(_ context.Context, session string) ([][]byte, error) {
	return slices.Clone(l.notes[session]), nil
}

func (l *Ledger) NotesAfter(_ context.Context, session string, notes int) ([][]byte, error) {
	return slices.Clone(l.notes[session][min(notes, len(l.notes[session])):]), nil
}

// Era is always the first: nothing is lost.
func (l *Ledger) Era(context.Context) (string, error) { return "", nil }

// Fail tells everybody, and no dataset is ever closed: an attack is to be seen with all that it
// could be told.
func (l *Ledger) Fail(context.Context, ledger.Incident) (bool, error) { return true, nil }

func (l *Ledger) Died() []string { return nil }

// Lockout is none.
func (l *Ledger) Lockout(context.Context, string, string) (ledger.Lockout, error) {
	return ledger.Lockout{}, nil
}

var errOwner = errors.New("data that is made up has no owner")

// Enter refuses: what an owner decides has no place here.
func (l *Ledger) Enter(context.Context, ledger.Entry) (ledger.Receipt, error) {
	return ledger.Receipt{}, errOwner
}

// Records returns none, because nothing asks for them.
func (l *Ledger) Records(context.Context, uint64) iter.Seq2[*ledger.Record, error] {
	return func(func(*ledger.Record, error) bool) {}
}
