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

// Committer decides what a ledger writes. All methods that implement [ledger.Ledger] are safe for
// concurrent use; the rest belongs to whoever holds the lock.
type Committer struct {
	Path   string
	Now    func() time.Time
	State  *chain.State
	Keeper *chain.AnchorKeeper
	Broken *ledger.WriteError // why no more work is done, or nil
	Shut   bool               // it was closed

	store   Store
	batches batcher
	// lock holds one token while somebody works. It is a channel and not a mutex so that a caller
	// can stop waiting.
	lock chan struct{}
}

// Store is where the records go. Its methods are called by whoever holds the lock.
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
	// CountCrash reports whether a crash that was answering questions about a dataset is still to
	// be counted.
	CountCrash(dataset string) (bool, error)
}

// Open begins to work. The exported fields are set before.
func (c *Committer) Open(store Store) {
	c.store, c.lock, c.batches.committer = store, make(chan struct{}, 1), c
}

// lockRunning waits for the lock, in a ledger that is not stopped. Who got nil must Unlock.
func (c *Committer) lockRunning(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.lock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := c.StopCause(); err != nil {
		c.Unlock()
		return err
	}
	return nil
}

// LockForRead waits for the lock, to read. The state has what was confirmed before the call. Who
// got nil must Unlock.
func (c *Committer) LockForRead(ctx context.Context) error {
	asked := time.Now()
	if err := c.lockRunning(ctx); err != nil {
		return err
	}
	if err := c.store.Refresh(asked); err != nil {
		c.Unlock()
		return err
	}
	return nil
}

// Lock waits whatever happened. Unlock gives it back.
func (c *Committer) Lock() { c.lock <- struct{}{} }

func (c *Committer) Unlock() { <-c.lock }

// StopCause says why no more work is done, or nil.
func (c *Committer) StopCause() error {
	switch {
	case c.Shut:
		return ledger.ErrClosed
	case c.Broken != nil:
		again := *c.Broken
		return &again
	}
	return nil
}

// Stop stops the ledger, where it is not stopped already.
func (c *Committer) Stop(cause error) {
	if c.Broken == nil {
		c.Broken = &ledger.WriteError{Path: c.Path, Broken: true, Err: cause}
	}
}

// HashAt returns the hash of a record. The caller holds the lock, or the ledger for itself.
func (c *Committer) HashAt(sequence uint64) (string, error) {
	_, hash, _, err := c.store.Read(sequence)
	return hash, err
}

// errNoNote is damage that the hashes of a ledger rule out.
var errNoNote = errors.New("a note of the ledger is too short")

// ProtectsAt returns a note that says whom the charges of a dataset protect. The caller holds
// the lock, or the ledger for itself.
func (c *Committer) ProtectsAt(sequence uint64) (ledger.ProtectsNote, error) {
	record, _, note, err := c.store.Read(sequence)
	if err != nil || len(note) < ledger.NoteSalt {
		return ledger.ProtectsNote{}, cmp.Or(err, errNoNote)
	}
	dataset, _ := ledger.NotesProtected(record.Session)
	return ledger.ProtectsNote{Dataset: dataset, Says: string(note[ledger.NoteSalt:])}, nil
}

// ensureAnchored returns an error where a record must not be told of before an anchor that could
// not be stored is.
func (c *Committer) ensureAnchored(sequence uint64) error {
	if c.Keeper.Covers(sequence) {
		return nil
	}
	if err := c.store.Anchor(nil); err != nil {
		return &ledger.WriteError{Path: c.Path, Charged: true, Err: err}
	}
	return nil
}

// readState returns what the state says after what was confirmed before the call.
func readState[T any](ctx context.Context, c *Committer, of func(*chain.State) T) (out T, err error) {
	if err := c.LockForRead(ctx); err != nil {
		return out, err
	}
	defer c.Unlock()
	return of(c.State), nil
}

func (c *Committer) Head(ctx context.Context) (sequence uint64, hash string, err error) {
	head, err := readState(ctx, c, func(s *chain.State) (p ledger.Position) {
		p.Sequence, p.Hash = s.Head()
		return p
	})
	return head.Sequence, head.Hash, err
}

func (c *Committer) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	return readState(ctx, c, func(s *chain.State) []ledger.Balance {
		balances := make([]ledger.Balance, len(accounts))
		for i, a := range accounts {
			balances[i] = s.Accounts.Balance(a)
			balances[i].First = s.Accounts.First(a.Name)
		}
		return balances
	})
}

func (c *Committer) DataVersion(ctx context.Context, dataset, label, state string) (ledger.Version, error) {
	return readState(ctx, c, func(s *chain.State) ledger.Version { return s.DataVersion(dataset, label, state) })
}

func (c *Committer) Window(ctx context.Context, dataset string) (uint64, error) {
	return readState(ctx, c, func(s *chain.State) uint64 { return s.Window(dataset) })
}

func (c *Committer) Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	return readState(ctx, c, func(s *chain.State) ledger.Lockout { return s.Incidents.Lockout(dataset, analyst) })
}

func (c *Committer) Era(ctx context.Context) (string, error) {
	return readState(ctx, c, func(s *chain.State) string { return s.Notes.Era() })
}

func (c *Committer) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	if err := c.LockForRead(ctx); err != nil {
		return nil, 0, false, err
	}
	defer c.Unlock()
	kept, ok := c.State.Charges.Key(key)
	if !ok {
		return nil, 0, false, nil
	}
	if err := c.ensureAnchored(kept); err != nil {
		return nil, 0, false, err
	}
	record, _, answer, err := c.store.Read(kept)
	if err != nil || !slices.Contains(ledger.Keys(record.Key), key) {
		return nil, 0, false, err
	}
	return answer, record.Charge, true, nil
}

func (c *Committer) Answer(ctx context.Context, request string) ([]byte, bool, error) {
	_, _, answer, err := c.Request(ctx, request)
	return answer, answer != nil, err
}

func (c *Committer) Request(ctx context.Context, request string) (*ledger.Record, string, []byte, error) {
	if err := c.LockForRead(ctx); err != nil {
		return nil, "", nil, err
	}
	defer c.Unlock()
	sequence, ok := c.State.Charges.Request(request)
	if !ok {
		return nil, "", nil, nil
	}
	kept, _ := c.State.Charges.AnswerOf(sequence)
	if err := c.ensureAnchored(kept); err != nil {
		return nil, "", nil, err
	}
	charge, hash, _, err := c.store.Read(sequence)
	if err != nil || charge.Request != request {
		return nil, "", nil, err
	}
	var answer []byte
	if kept != 0 {
		_, _, answer, err = c.store.Read(kept)
	}
	return charge, hash, answer, err
}

// NotesOf returns where the notes of a session after so many are. All of them are on stable
// storage.
func (c *Committer) NotesOf(ctx context.Context, session string, after int) ([]uint64, error) {
	if err := c.LockForRead(ctx); err != nil {
		return nil, err
	}
	defer c.Unlock()
	sequences, err := c.State.Notes.Of(session)
	if err != nil || len(sequences) <= after {
		return nil, err
	}
	sequences = sequences[max(after, 0):]
	return sequences, c.ensureAnchored(sequences[len(sequences)-1])
}
