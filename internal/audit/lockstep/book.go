package lockstep

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// book is a ledger in memory that writes down what it is asked to do. It keeps the
// accounts and the answers as every ledger does. What it lacks is a disk: that a
// charge survives a crash is tested where it is implemented, and a replay makes
// thousands of them. One question at a time is asked of it.
type book struct {
	seen     *outcome
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

func newBook(seen *outcome) *book {
	return &book{seen: seen, spent: map[string]dp.Cost{}, requests: map[string]ledger.Receipt{}, answers: map[string]kept{},
		first: map[uint64]kept{}, notes: map[string][][]byte{}}
}

func (b *book) Charge(_ context.Context, c ledger.Charge) (ledger.Receipt, error) {
	b.seen.event("charge")
	b.seen.charges = append(b.seen.charges, c)
	if err := c.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	if r, ok := b.requests[c.Request]; ok {
		r.Again = true
		return r, nil
	}
	for _, a := range c.Accounts {
		if spent := b.spent[a.Name]; !a.Filter.Admits(spent, c.Cost) {
			return ledger.Receipt{}, &ledger.BudgetError{Account: a.Name, Want: c.Cost, Left: a.Filter.Left(spent)}
		}
	}
	for _, a := range c.Accounts {
		b.spent[a.Name] = b.spent[a.Name].Add(c.Cost)
	}
	b.sequence++
	balances, _ := b.Balances(context.Background(), c.Accounts)
	r := ledger.Receipt{Sequence: b.sequence, Cost: c.Cost, Window: c.Window, Balances: balances}
	b.requests[c.Request] = r
	return r, nil
}

func (b *book) Keep(_ context.Context, sequence uint64, key string, answer []byte) error {
	b.seen.event("keep")
	if _, ok := b.first[sequence]; ok {
		return ledger.ErrKept
	}
	if sequence == 0 || sequence > b.sequence {
		return ledger.ErrUnpaid
	}
	k := kept{answer, sequence}
	b.first[sequence] = k
	for _, name := range ledger.Keys(key) {
		if _, ok := b.answers[name]; !ok {
			b.answers[name] = k
		}
	}
	return nil
}

func (b *book) Recall(_ context.Context, key string) ([]byte, uint64, bool, error) {
	k, ok := b.answers[key]
	return k.answer, k.sequence, ok, nil
}

func (b *book) Answer(_ context.Context, request string) ([]byte, bool, error) {
	k, ok := b.first[b.requests[request].Sequence]
	return k.answer, ok, nil
}

func (b *book) Balances(_ context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	out := make([]ledger.Balance, len(accounts))
	for i, a := range accounts {
		out[i] = ledger.Balance{Account: a.Name, Limit: a.Filter.Limit(), Spent: b.spent[a.Name]}
	}
	return out, nil
}

func (b *book) Head(context.Context) (uint64, string, error) { return b.sequence, "", nil }

func (b *book) Close() error { return nil }

// DataVersion is always the first: nothing changes while a question is replayed.
func (b *book) DataVersion(_ context.Context, dataset, label, state string) (ledger.Version, error) {
	return ledger.Version{ID: ledger.VersionID("replay", dataset, state), Label: label, Number: 1}, nil
}

// Window is always the first: no question renews.
func (b *book) Window(context.Context, string) (uint64, error) { return 1, nil }

func (b *book) Note(_ context.Context, session string, entry []byte) error {
	b.seen.event("note")
	if err := ledger.ValidateNote(session, entry); err != nil {
		return err
	}
	b.notes[session] = append(b.notes[session], slices.Clone(entry))
	return nil
}

// NoteIf is Note: there is one window, and nobody else.
func (b *book) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	if p.After != nil && *p.After != len(b.notes[session]) {
		return ledger.ErrBehind
	}
	return b.Note(ctx, session, entry)
}

func (b *book) Notes(_ context.Context, session string) ([][]byte, error) {
	return slices.Clone(b.notes[session]), nil
}

// NotesAfter returns the notes of a session after so many.
func (b *book) NotesAfter(_ context.Context, session string, notes int) ([][]byte, error) {
	return slices.Clone(b.notes[session][min(notes, len(b.notes[session])):]), nil
}

// Era is always the first: nothing is lost.
func (b *book) Era(context.Context) (string, error) { return "", nil }

// Fail tells everybody, and no door is ever closed: an attack is to be seen with all that it could
// be told.
func (b *book) Fail(context.Context, ledger.Incident) (bool, error) { return true, nil }

// Door is open.
func (b *book) Died() []string { return nil }

func (b *book) Door(context.Context, string, string) (ledger.Door, error) { return ledger.Door{}, nil }

var errOwner = errors.New("a replay has no owner")

// Enter refuses: what an owner decides is no part of a replay.
func (b *book) Enter(context.Context, ledger.Entry) (ledger.Receipt, error) {
	b.seen.event("enter")
	return ledger.Receipt{}, errOwner
}

// Records returns none, because nothing asks for them.
func (b *book) Records(context.Context, uint64) iter.Seq2[*ledger.Record, error] {
	return func(func(*ledger.Record, error) bool) {}
}
