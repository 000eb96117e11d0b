package duckdb

import (
	"context"
	"errors"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/publictime"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Engine runs questions on the tables of one dataset. It is safe for concurrent
// use.
type Engine struct {
	dataset *policy.Dataset
	limits  Limits
	before  func() error // asked before changed files are opened anew, or nil

	mu      sync.RWMutex // guards now, and is never held for as long as a question runs
	now     *snapshot
	closing sync.WaitGroup // of data that there was

	renewing sync.Mutex // guards what follows
	renewal  *renewal   // that is under way, or nil
	ended    bool
}

// renewal opens the data anew. It is nobody's: who waits for it can stop waiting, and the next one
// finds it further on. Data that takes longer to read than anybody waits would never be read
// otherwise, and questions that are paid for would wait for it, and fail.
type renewal struct {
	stop    context.CancelFunc
	done    chan struct{}
	version store.Version
	err     error
}

// Open opens the tables of a dataset and locks DuckDB. Its errors are for the
// owner: they name files, tables and columns, and no value of the data.
func Open(ctx context.Context, ds *policy.Dataset) (*Engine, error) {
	return OpenWith(ctx, ds, Limits{})
}

// OpenWith is Open with limits on what DuckDB takes of the machine. They hold for the version query
// too.
func OpenWith(ctx context.Context, ds *policy.Dataset, limits Limits) (*Engine, error) {
	if err := limits.Check(); err != nil {
		return nil, err
	}
	s, err := openSnapshot(ctx, ds, asDeclared, limits)
	if err != nil {
		return nil, err
	}
	return &Engine{dataset: ds, limits: limits, now: s}, nil
}

// GuardReopening says what is asked before files that changed are opened anew; its error is that of
// data which cannot be opened. It is set before the engine is used.
func (e *Engine) GuardReopening(may func() error) { e.before = may }

// Version names the state of the data: it is the same as long as the contents of the files, or
// what the owner's version query says, are the same. Where a file may have changed all are opened
// anew, and where a PostgreSQL database may have, all is copied anew. Its State is a hash of the
// contents, so nobody but the owner may see it.
func (e *Engine) Version(ctx context.Context) (store.Version, error) {
	e.mu.RLock()
	before := e.now
	e.mu.RUnlock()
	// Without the lock, for which all questions would wait as long as another machine takes.
	changed, err := before.moved(ctx)
	if err != nil || !changed {
		return before.version, err
	}
	r := e.renew(before)
	if r == nil { // somebody else was faster
		e.mu.RLock()
		defer e.mu.RUnlock()
		return e.now.version, nil
	}
	select {
	case <-r.done:
		return r.version, r.err
	case <-ctx.Done():
		return store.Version{}, ctx.Err()
	}
}

// renew begins to open the data anew, or finds where somebody has. It returns nil where the data is
// no longer what it was before.
func (e *Engine) renew(before *snapshot) *renewal {
	e.renewing.Lock()
	defer e.renewing.Unlock()
	if e.renewal != nil {
		return e.renewal
	}
	e.mu.RLock()
	late := e.now != before
	e.mu.RUnlock()
	if late {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &renewal{stop: stop, done: make(chan struct{})}
	if e.ended {
		r.err = context.Canceled
		close(r.done)
		return r
	}
	e.renewal = r
	go func() {
		defer stop()
		e.reopen(ctx, r)
	}()
	return r
}

// reopen opens the data anew, and puts it into the place of what there was. Questions run
// meanwhile.
func (e *Engine) reopen(ctx context.Context, r *renewal) {
	defer close(r.done)
	defer func() {
		e.renewing.Lock()
		e.renewal = nil
		e.renewing.Unlock()
	}()
	r.err = errBroken // where it panics
	defer func() { _ = recover() }()
	if e.before != nil {
		if r.err = e.before(); r.err != nil {
			return
		}
	}
	e.closing.Wait() // there is room for two
	s, err := openSnapshot(ctx, e.dataset, asDeclared, e.limits)
	if r.err = err; err != nil {
		return
	}
	e.mu.Lock()
	old := e.now
	s.origin.follow(old.origin)
	e.now, r.version = s, s.version
	e.mu.Unlock()
	// Nobody waits for questions that run on it. How long they take can depend on the data, and who
	// asks for a price meanwhile would see it.
	e.closing.Go(func() {
		old.using.Lock()
		defer old.using.Unlock()
		old.close()
	})
}

// hold returns the data as it is now. It stays until it is let go.
func (e *Engine) hold() (s *snapshot, letGo func()) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	e.now.using.RLock()
	return e.now, e.now.using.RUnlock
}

// errBroken is what is told where the data could not be opened anew for a mistake of ours.
var errBroken = errors.New("the data cannot be opened anew; this is a mistake of Discreet's")

var _ engine.Engine = (*Engine)(nil)

// Run computes a query exactly; see [engine.Result]. What goes wrong is engine.ErrRun.
func (e *Engine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	s, letGo := e.hold()
	defer letGo()
	r, err := s.run(ctx, q)
	if err == nil {
		r.ReadFrom = s.readFrom()
	}
	return r, err
}

// readFrom says which data is read here.
func (s *snapshot) readFrom() engine.ReadFrom {
	return engine.ReadFrom{State: s.version.Key(), Copied: s.origin != nil}
}

// Values returns the different values of a column of a public table; see [sqlengine.Database].
func (e *Engine) Values(ctx context.Context, table, column string, limit int) ([]policy.Value, error) {
	s, letGo := e.hold()
	defer letGo()
	return s.Values(ctx, table, column, limit)
}

// Most returns how many rows of a public table have the same values in some columns at most; see
// [sqlengine.Database].
func (e *Engine) Most(ctx context.Context, table string, columns []string) (int64, error) {
	s, letGo := e.hold()
	defer letGo()
	return s.Most(ctx, table, columns)
}

// Rows returns the rows of a public table; see [sqlengine.Database].
func (e *Engine) Rows(ctx context.Context, table string, limit int) ([][]tree.Value, error) {
	s, letGo := e.hold()
	defer letGo()
	return s.Rows(ctx, table, limit)
}

// Magnitude is how large the data is; see [sqlengine.Database].
func (e *Engine) Magnitude(ctx context.Context) (int, error) {
	s, letGo := e.hold()
	defer letGo()
	return s.Magnitude(ctx, e.dataset)
}

// Sizes are how large the tables are, as the policy declares, or as was counted when the data was
// opened.
func (e *Engine) Sizes(context.Context) (publictime.Sizes, error) {
	s, letGo := e.hold()
	defer letGo()
	return s.sizes, nil
}

// Machine is what runs questions here, also for who has stopped waiting.
func (e *Engine) Machine(ctx context.Context) publictime.Machine {
	s, letGo := e.hold()
	defer letGo()
	return publictime.Machine{Threads: s.threads, Factor: measureSpeed(), Memory: s.memory}
}

// Close releases the data.
func (e *Engine) Close() error {
	e.renewing.Lock()
	e.ended = true
	r := e.renewal
	e.renewing.Unlock()
	if r != nil {
		r.stop()
		<-r.done
	}
	e.closing.Wait()
	e.mu.RLock()
	s := e.now
	e.mu.RUnlock()
	s.using.Lock()
	defer s.using.Unlock()
	return s.close()
}
