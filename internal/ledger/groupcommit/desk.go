package groupcommit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Desk decides what a ledger writes. All methods that implement [ledger.Ledger] are safe for
// concurrent use; the rest belongs to whoever has the turn.
type Desk struct {
	Path   string
	Now    func() time.Time
	State  *chain.State
	Keeper *chain.AnchorKeeper
	Broken *ledger.WriteError // why no more work is done, or nil
	Shut   bool               // it was closed

	store   Store
	commits committer
	// turn holds one token while somebody works. It is a channel and not a mutex so that a caller
	// can stop waiting.
	turn chan struct{}
}

// Store is where the records go. Its methods are called by whoever has the turn.
type Store interface {
	// Begin is called before anything is decided. When it returns nil, the state has everything
	// that was ever written, and nobody else writes before Write or Failed was called.
	Begin() *ledger.WriteError
	// Write makes the records of a group durable together, or none of them.
	Write(g *Group) error
	// Failed says what a failed Write means for everybody who took part in it.
	Failed(g *Group, cause error) *ledger.WriteError
	// Anchor stores the anchor where one is due, with the records that were just made.
	Anchor(made []*chain.Link) error
	// Served is called when everybody of a group was answered.
	Served()
	// Refresh makes the state one of after a moment: who asked then sees what was confirmed to
	// others before.
	Refresh(asked time.Time) error
	// Read returns a record, its hash and its answer, all checked.
	Read(sequence uint64) (*ledger.Record, string, []byte, error)
	// Crash reports whether a crash that was answering questions about a dataset is still to be
	// counted.
	Crash(dataset string) (bool, error)
}

// Open begins to work. The rest of the desk is set before.
func (d *Desk) Open(store Store) {
	d.store, d.turn, d.commits.desk = store, make(chan struct{}, 1), d
}

// Enter waits for the turn, in a ledger that is not stopped. Who got nil must Leave.
func (d *Desk) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := d.Stopped(); err != nil {
		d.Leave()
		return err
	}
	return nil
}

// Look waits for the turn to read. The state has what was confirmed before the call. Who got nil
// must Leave.
func (d *Desk) Look(ctx context.Context) error {
	asked := time.Now()
	if err := d.enter(ctx); err != nil {
		return err
	}
	if err := d.store.Refresh(asked); err != nil {
		d.Leave()
		return err
	}
	return nil
}

// Take waits for the turn whatever happened. Leave gives it back.
func (d *Desk) Take() { d.turn <- struct{}{} }

// Leave gives the turn back.
func (d *Desk) Leave() { <-d.turn }

// Stopped says why no more work is done, or nil.
func (d *Desk) Stopped() error {
	switch {
	case d.Shut:
		return ledger.ErrClosed
	case d.Broken != nil:
		again := *d.Broken
		return &again
	}
	return nil
}

// Stop stops the ledger, where it is not stopped already.
func (d *Desk) Stop(cause error) {
	if d.Broken == nil {
		d.Broken = &ledger.WriteError{Path: d.Path, Broken: true, Err: cause}
	}
}

// HashAt returns the hash of a record. The caller has the turn, or the ledger for itself.
func (d *Desk) HashAt(sequence uint64) (string, error) {
	_, hash, _, err := d.store.Read(sequence)
	return hash, err
}

// errNoNote is damage that the hashes of a ledger rule out.
var errNoNote = errors.New("a note of the ledger is too short")

// ProtectsAt returns a note that says whom the charges of a dataset protect. The caller has the
// turn, or the ledger for itself.
func (d *Desk) ProtectsAt(sequence uint64) (ledger.ProtectsNote, error) {
	record, _, note, err := d.store.Read(sequence)
	if err != nil || len(note) < ledger.NoteSalt {
		return ledger.ProtectsNote{}, cmp.Or(err, errNoNote)
	}
	dataset, _ := ledger.NotesProtected(record.Session)
	return ledger.ProtectsNote{Dataset: dataset, Says: string(note[ledger.NoteSalt:])}, nil
}

// Tellable returns an error where a record must not be told of before an anchor that could not be
// stored is.
func (d *Desk) Tellable(sequence uint64) error {
	if d.Keeper.Covers(sequence) {
		return nil
	}
	if err := d.store.Anchor(nil); err != nil {
		return &ledger.WriteError{Path: d.Path, Charged: true, Err: err}
	}
	return nil
}

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
		balances[i] = d.State.Accounts.Balance(a)
		balances[i].First = d.State.Accounts.First(a.Name)
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
func (d *Desk) Door(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	if err := d.Look(ctx); err != nil {
		return ledger.Lockout{}, err
	}
	defer d.Leave()
	return d.State.Incidents.Door(dataset, analyst), nil
}

// Era implements [ledger.Ledger].
func (d *Desk) Era(ctx context.Context) (string, error) {
	if err := d.Look(ctx); err != nil {
		return "", err
	}
	defer d.Leave()
	return d.State.Notes.Era(), nil
}

// Recall implements [ledger.Ledger].
func (d *Desk) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	if err := d.Look(ctx); err != nil {
		return nil, 0, false, err
	}
	defer d.Leave()
	kept, ok := d.State.Charges.Key(key)
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
	sequence, ok := d.State.Charges.Request(request)
	if !ok {
		return nil, "", nil, nil
	}
	kept, _ := d.State.Charges.AnswerOf(sequence)
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
	sequences, err := d.State.Notes.Of(session)
	if err != nil || len(sequences) <= after {
		return nil, err
	}
	sequences = sequences[max(after, 0):]
	return sequences, d.Tellable(sequences[len(sequences)-1])
}
