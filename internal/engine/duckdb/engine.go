package duckdb

import (
	"context"
	"errors"
	"sync"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// ErrRun is returned when a question could not be computed. The cause is not
// told, because it could depend on the data.
var ErrRun = errors.New("the engine could not run this question, and the charge stays; ask the owner to run 'discreet check'")

// Engine runs questions on the tables of one dataset. It is safe for concurrent
// use.
type Engine struct {
	dataset *policy.Dataset
	limits  Limits
	before  func() error // asked before changed files are opened anew, or nil

	mu  sync.RWMutex // held for reading while a question runs
	now *snapshot
}

// Open opens the tables of a dataset and locks DuckDB. Its errors are for the
// owner: they name files, tables and columns, and no value of the data.
func Open(ctx context.Context, ds *policy.Dataset) (*Engine, error) {
	return OpenWith(ctx, ds, Limits{})
}

// OpenWith is Open with limits on what DuckDB takes of the machine. They hold for the version query too.
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

// Before says what is asked before files that changed are opened anew; its error is that of data which cannot be opened. It is set before the engine is used.
func (e *Engine) Before(may func() error) { e.before = may }

// Version names the state of the data: the same text as long as the contents of the files, or what the owner's
// version query says, are the same. Where a file may have changed all are opened anew. It is a hash of the contents,
// so nobody but the owner may see it; see [engine.VersionName] for what analysts may.
func (e *Engine) Version(ctx context.Context) (string, error) {
	e.mu.RLock()
	version, changed := e.now.version, e.now.changed()
	e.mu.RUnlock()
	if !changed {
		return version, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.now.changed() { // somebody else was faster
		return e.now.version, nil
	}
	if e.before != nil {
		if err := e.before(); err != nil {
			return "", err
		}
	}
	s, err := openSnapshot(ctx, e.dataset, asDeclared, e.limits)
	if err != nil {
		return "", err
	}
	e.now.close()
	e.now = s
	return s.version, nil
}

var _ engine.Engine = (*Engine)(nil)

// Run computes a query exactly; see [engine.Result]. What goes wrong is ErrRun.
func (e *Engine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.now.run(ctx, q)
}

// Close releases the data.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now.close()
}
