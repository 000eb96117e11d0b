package curator

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/store"
)

// recorder wraps a real engine and a real ledger, writes down in which order they are
// called, and can make a call fail.
type recorder struct {
	engine.Engine
	ledger.Ledger

	mu      sync.Mutex
	calls   []string
	charges []ledger.Charge
	kept    [][]byte
	before  map[string]func() error // what to do before a call; its error is the call's
}

// record returns the recorder between the curator and its engine and ledger, which has seen nothing.
func (w *world) record() *recorder {
	w.rewire(w.data, w.books)
	w.wire.calls, w.wire.charges, w.wire.kept = nil, nil, nil
	w.wire.before = map[string]func() error{}
	return w.wire
}

// rewire gives the curator another engine and another ledger, and sessions that know nothing yet.
// Those that are open run on the engine, and charge in the ledger, that there are now.
func (w *world) rewire(e engine.Engine, l ledger.Ledger) {
	w.wire.Engine, w.wire.Ledger = e, l
	w.Curator = New(w.dataset, w.wire, w.wire, w.noise)
}

func (r *recorder) called(name string) error {
	r.mu.Lock()
	r.calls = append(r.calls, name)
	f := r.before[name]
	r.mu.Unlock()
	if f != nil { // which may call something itself
		return f()
	}
	return nil
}

// take returns the calls so far and forgets them. Places where an answer may be are looked at one
// after the other; that is one call here.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var calls []string
	for i, name := range r.calls {
		if i == 0 || name != "recall" || r.calls[i-1] != name {
			calls = append(calls, name)
		}
	}
	r.calls = nil
	return calls
}

func (r *recorder) Version(ctx context.Context) (store.Version, error) {
	if err := r.called("version"); err != nil {
		return store.Version{}, err
	}
	return r.Engine.Version(ctx)
}

func (r *recorder) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if err := r.called("run"); err != nil {
		return nil, err
	}
	return r.Engine.Run(ctx, q)
}

func (r *recorder) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	if err := r.called("fetch"); err != nil {
		return engine.ReadFrom{}, err
	}
	return r.Engine.Fetch(ctx, t, into)
}

func (r *recorder) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	if err := r.called("recall"); err != nil {
		return nil, 0, false, err
	}
	return r.Ledger.Recall(ctx, key)
}

func (r *recorder) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if err := r.called("charge"); err != nil {
		return ledger.Receipt{}, err
	}
	r.mu.Lock()
	r.charges = append(r.charges, c)
	r.mu.Unlock()
	return r.Ledger.Charge(ctx, c)
}

func (r *recorder) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	if err := r.called("keep"); err != nil {
		return err
	}
	r.mu.Lock()
	r.kept = append(r.kept, answer)
	r.mu.Unlock()
	return r.Ledger.Keep(ctx, sequence, key, answer)
}

func (r *recorder) Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	if f := r.before["door"]; f != nil {
		if err := f(); err != nil {
			return ledger.Lockout{}, err
		}
	}
	return r.Ledger.Lockout(ctx, dataset, analyst)
}

func (r *recorder) Note(ctx context.Context, session string, entry []byte) error {
	return r.NoteIf(ctx, session, entry, ledger.Provided{})
}

func (r *recorder) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	if f := r.before["note"]; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	return r.Ledger.NoteIf(ctx, session, entry, p)
}

func (r *recorder) Fail(ctx context.Context, i ledger.Incident) (bool, error) {
	if err := r.called("fail"); err != nil {
		return false, err
	}
	return r.Ledger.Fail(ctx, i)
}

func (r *recorder) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	if err := r.called("balances"); err != nil {
		return nil, err
	}
	return r.Ledger.Balances(ctx, accounts)
}

// callCounter is a ledger that writes down what it is asked, and what it is told to write.
type callCounter struct {
	ledger.Ledger
	calls []string
}

func (c *callCounter) called(name string) { c.calls = append(c.calls, name) }

func (c *callCounter) Charge(ctx context.Context, charge ledger.Charge) (ledger.Receipt, error) {
	c.called("charge")
	return c.Ledger.Charge(ctx, charge)
}

func (c *callCounter) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	c.called("keep")
	return c.Ledger.Keep(ctx, sequence, key, answer)
}

func (c *callCounter) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	c.called("recall")
	return c.Ledger.Recall(ctx, key)
}

func (c *callCounter) Answer(ctx context.Context, request string) ([]byte, bool, error) {
	c.called("answer")
	return c.Ledger.Answer(ctx, request)
}

func (c *callCounter) Request(ctx context.Context, request string) (*ledger.Record, string, []byte, error) {
	c.called("request")
	return c.Ledger.Request(ctx, request)
}

func (c *callCounter) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	c.called("balances")
	return c.Ledger.Balances(ctx, accounts)
}

func (c *callCounter) DataVersion(ctx context.Context, dataset, label, state string) (ledger.Version, error) {
	c.called("version")
	return c.Ledger.DataVersion(ctx, dataset, label, state)
}

func (c *callCounter) Window(ctx context.Context, dataset string) (uint64, error) {
	c.called("window")
	return c.Ledger.Window(ctx, dataset)
}

func (c *callCounter) Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	c.called("door")
	return c.Ledger.Lockout(ctx, dataset, analyst)
}

func (c *callCounter) Notes(ctx context.Context, session string) ([][]byte, error) {
	c.called("notes")
	return c.Ledger.Notes(ctx, session)
}

func (c *callCounter) Era(ctx context.Context) (string, error) {
	c.called("era")
	return c.Ledger.Era(ctx)
}

// A question that was not asked before has five calls of the ledger, each once, but for recall:
// there are several keys under which an answer may be, and slots in which it may be kept.
func TestLedgerCalls(t *testing.T) {
	w := newWorld(t, plenty)
	c := &callCounter{Ledger: w.books}
	w.rewire(w.data, c)
	ask := func(sql string) []string {
		c.calls = nil
		_, err := w.AskNew(ctx, api.Question{Analyst: "ana", SQL: sql, Request: freshID()})
		w.check(err)
		recalled := false
		return slices.DeleteFunc(c.calls, func(name string) bool {
			again := name == "recall" && recalled
			recalled = recalled || name == "recall"
			return again
		})
	}
	// The first one writes down whom the policy protects, and the second one reads it.
	ask("SELECT COUNT(*) FROM patients")
	ask("SELECT COUNT(*) FROM patients WHERE age > 50")
	const sql = "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	if got, want := ask(sql), []string{"version", "recall", "charge", "keep", "balances"}; !slices.Equal(got, want) {
		t.Errorf("a new question calls %v, and not %v", got, want)
	}
	if got, want := ask(sql), []string{"version", "recall", "balances"}; !slices.Equal(got, want) {
		t.Errorf("a question again calls %v, and not %v", got, want)
	}
}
