package curatortest

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/store"
)

// Recorder wraps a real engine and a real ledger, writes down in which order they are
// called, and can make a call fail.
type Recorder struct {
	engine.Engine
	ledger.Ledger

	mu      sync.Mutex
	Calls   []string
	Charges []ledger.Charge
	Kept    [][]byte
	Before  map[string]func() error // what to do before a call; its error is the call's
}

// Record returns the recorder between the curator and its engine and ledger, which has seen
// nothing.
func (w *World) Record() *Recorder {
	w.Rewire(w.Data, w.Ledger)
	w.Wire.Calls, w.Wire.Charges, w.Wire.Kept = nil, nil, nil
	w.Wire.Before = map[string]func() error{}
	return w.Wire
}

// Rewire gives the curator another engine and another ledger, and sessions that know nothing yet.
// Those that are open run on the engine, and charge in the ledger, that there are now.
func (w *World) Rewire(e engine.Engine, l ledger.Ledger) {
	w.Wire.Engine, w.Wire.Ledger = e, l
	w.Curator = curator.New(w.Dataset, w.Wire, w.Wire, w.Noise)
}

func (r *Recorder) called(name string) error {
	r.mu.Lock()
	r.Calls = append(r.Calls, name)
	f := r.Before[name]
	r.mu.Unlock()
	if f != nil { // which may call something itself
		return f()
	}
	return nil
}

// Take returns the calls so far and forgets them. Places where an answer may be are looked at one
// after the other; that is one call here.
func (r *Recorder) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var calls []string
	for i, name := range r.Calls {
		if i == 0 || name != "recall" || r.Calls[i-1] != name {
			calls = append(calls, name)
		}
	}
	r.Calls = nil
	return calls
}

func (r *Recorder) Version(ctx context.Context) (store.Version, error) {
	if err := r.called("version"); err != nil {
		return store.Version{}, err
	}
	return r.Engine.Version(ctx)
}

func (r *Recorder) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if err := r.called("run"); err != nil {
		return nil, err
	}
	return r.Engine.Run(ctx, q)
}

func (r *Recorder) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	if err := r.called("fetch"); err != nil {
		return engine.ReadFrom{}, err
	}
	return r.Engine.Fetch(ctx, t, into)
}

func (r *Recorder) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	if err := r.called("recall"); err != nil {
		return nil, 0, false, err
	}
	return r.Ledger.Recall(ctx, key)
}

func (r *Recorder) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if err := r.called("charge"); err != nil {
		return ledger.Receipt{}, err
	}
	r.mu.Lock()
	r.Charges = append(r.Charges, c)
	r.mu.Unlock()
	return r.Ledger.Charge(ctx, c)
}

func (r *Recorder) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	if err := r.called("keep"); err != nil {
		return err
	}
	r.mu.Lock()
	r.Kept = append(r.Kept, answer)
	r.mu.Unlock()
	return r.Ledger.Keep(ctx, sequence, key, answer)
}

func (r *Recorder) Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	if f := r.Before["lockout"]; f != nil {
		if err := f(); err != nil {
			return ledger.Lockout{}, err
		}
	}
	return r.Ledger.Lockout(ctx, dataset, analyst)
}

func (r *Recorder) Note(ctx context.Context, session string, entry []byte) error {
	return r.NoteIf(ctx, session, entry, ledger.Provided{})
}

func (r *Recorder) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	if f := r.Before["note"]; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	return r.Ledger.NoteIf(ctx, session, entry, p)
}

func (r *Recorder) Fail(ctx context.Context, i ledger.Incident) (bool, error) {
	if err := r.called("fail"); err != nil {
		return false, err
	}
	return r.Ledger.Fail(ctx, i)
}

func (r *Recorder) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	if err := r.called("balances"); err != nil {
		return nil, err
	}
	return r.Ledger.Balances(ctx, accounts)
}
