package desk

import (
	"context"
	"slices"

	"github.com/discreet-dp/discreet/ledger"
)

// Head implements [ledger.Ledger].
func (d *Desk) Head(ctx context.Context) (uint64, string, error) {
	if err := d.Look(ctx); err != nil {
		return 0, "", err
	}
	defer d.Leave()
	sequence, hash := d.State.Head()
	return sequence, hash, nil
}

// Balances implements [ledger.Ledger].
func (d *Desk) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	if err := d.Look(ctx); err != nil {
		return nil, err
	}
	defer d.Leave()
	balances := make([]ledger.Balance, len(accounts))
	for i, a := range accounts {
		balances[i] = d.State.Balance(a)
		balances[i].First = d.State.First(a.Name)
	}
	return balances, nil
}

// DataVersion implements [ledger.Ledger].
func (d *Desk) DataVersion(ctx context.Context, dataset, label, state string) (ledger.Version, error) {
	if err := d.Look(ctx); err != nil {
		return ledger.Version{}, err
	}
	defer d.Leave()
	return d.State.DataVersion(dataset, label, state), nil
}

// Window implements [ledger.Ledger].
func (d *Desk) Window(ctx context.Context, dataset string) (uint64, error) {
	if err := d.Look(ctx); err != nil {
		return 0, err
	}
	defer d.Leave()
	return d.State.Window(dataset), nil
}

// Door implements [ledger.Ledger].
func (d *Desk) Door(ctx context.Context, dataset, analyst string) (ledger.Door, error) {
	if err := d.Look(ctx); err != nil {
		return ledger.Door{}, err
	}
	defer d.Leave()
	return d.State.Door(dataset, analyst), nil
}

// Era implements [ledger.Ledger].
func (d *Desk) Era(ctx context.Context) (string, error) {
	if err := d.Look(ctx); err != nil {
		return "", err
	}
	defer d.Leave()
	return d.State.Era(), nil
}

// Recall implements [ledger.Ledger].
func (d *Desk) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	if err := d.Look(ctx); err != nil {
		return nil, 0, false, err
	}
	defer d.Leave()
	kept, ok := d.State.Key(key)
	if !ok {
		return nil, 0, false, nil
	}
	if err := d.Tellable(kept); err != nil {
		return nil, 0, false, err
	}
	record, _, answer, err := d.store.Read(kept)
	if err != nil || !slices.Contains(ledger.Keys(record.Key), key) {
		return nil, 0, false, err
	}
	return answer, record.Charge, true, nil
}

// Answer implements [ledger.Ledger].
func (d *Desk) Answer(ctx context.Context, request string) ([]byte, bool, error) {
	_, _, answer, err := d.Request(ctx, request)
	return answer, answer != nil, err
}

// Request implements [ledger.Ledger].
func (d *Desk) Request(ctx context.Context, request string) (*ledger.Record, string, []byte, error) {
	if err := d.Look(ctx); err != nil {
		return nil, "", nil, err
	}
	defer d.Leave()
	sequence, ok := d.State.Request(request)
	if !ok {
		return nil, "", nil, nil
	}
	kept, _ := d.State.AnswerOf(sequence)
	if err := d.Tellable(kept); err != nil {
		return nil, "", nil, err
	}
	charge, hash, _, err := d.store.Read(sequence)
	if err != nil || charge.Request != request {
		return nil, "", nil, err
	}
	var answer []byte
	if kept != 0 {
		_, _, answer, err = d.store.Read(kept)
	}
	return charge, hash, answer, err
}

// NotesOf returns where the notes of a session after so many are. All of them are on stable
// storage.
func (d *Desk) NotesOf(ctx context.Context, session string, after int) ([]uint64, error) {
	if err := d.Look(ctx); err != nil {
		return nil, err
	}
	defer d.Leave()
	sequences, err := d.State.Notes(session)
	if err != nil || len(sequences) <= after {
		return nil, err
	}
	sequences = sequences[max(after, 0):]
	return sequences, d.Tellable(sequences[len(sequences)-1])
}
