package discreet

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// data is an engine that is opened when a question first needs it. A question that is
// refused for its text is refused before, whatever state the data is in.
type data struct {
	policy *policy.Dataset
	files  func() error // whether all datasets have files of their own
	store  *store.Store // that was brought along, or nil
	limits duckdb.Limits

	mu      sync.Mutex
	engine  opened
	ended   bool
	retired bool
	forget  runtime.Cleanup // where it is retired and open
}

// opened is an engine that has the data.
type opened interface {
	engine.Engine
	Magnitude(ctx context.Context) (int, error)
	Sizes(ctx context.Context) (publictime.Sizes, error)
	Machine(ctx context.Context) publictime.Machine
	Close() error
}

// open returns the engine. Who uses it keeps the data alive for as long: see retire.
func (d *data) open(ctx context.Context) (opened, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return nil, errClosed
	}
	if d.engine != nil {
		return d.engine, nil
	}
	e, err := d.openEngine(ctx)
	if err != nil {
		return nil, err
	}
	d.engine = e
	d.closeWhenForgotten()
	return e, nil
}

func (d *data) openEngine(ctx context.Context) (opened, error) {
	if d.store != nil {
		e, err := duckdb.OpenStore(ctx, d.policy, *d.store)
		if err != nil { // not a nil of its own type
			return nil, err
		}
		return e, nil
	}
	if err := d.files(); err != nil {
		return nil, err
	}
	if d.policy.SourceKind() == policy.TrinoDatabase {
		e, err := trino.Open(ctx, d.policy)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
	e, err := duckdb.OpenWith(ctx, d.policy, d.limits)
	if err != nil {
		return nil, err
	}
	e.GuardReopening(d.files) // a file can become another's while the server runs
	return e, nil
}

// retire says that another policy reads the data in another way from now on. Questions under way
// still need this one, step by step: a step that found it closed would be a failure after a charge.
// So it is closed when nothing refers to it any more.
func (d *data) retire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retired = true
	d.closeWhenForgotten()
}

// closeWhenForgotten is for what is retired and open still. The engine does not refer to the data.
func (d *data) closeWhenForgotten() {
	if d.retired && !d.ended && d.engine != nil {
		d.forget = runtime.AddCleanup(d, func(e opened) { _ = e.Close() }, d.engine)
	}
}

// Warm opens the data of all datasets and the labels of their holdouts, which the first question
// about each would do otherwise. For an owner who starts a server: what is wrong with the data is
// told to them now, and not to an analyst later.
func (db *DB) Warm(ctx context.Context) error {
	for _, name := range db.Policy().Names() {
		ds, err := db.datasets.dataset(name)
		if err != nil {
			return err
		}
		if _, err := ds.Protected(ctx); err != nil {
			return err
		}
		if _, err := ds.data.open(ctx); err != nil {
			return fmt.Errorf("dataset %s: %w", name, err)
		}
		if err := ds.Streams.Check(); err != nil {
			return fmt.Errorf("dataset %s: %w", name, err)
		}
		if err := ds.Holdouts.Check(); err != nil {
			return fmt.Errorf("dataset %s: %w", name, err)
		}
	}
	return nil
}

// Magnitude is how large a dataset is: the smallest power of ten that is no less than the number of
// rows of all its tables. A server chooses its tick by it.
func (db *DB) Magnitude(ctx context.Context, dataset string) (int, error) {
	ds, err := db.datasets.dataset(dataset)
	if err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(ds)
	e, err := ds.data.open(ctx)
	if err != nil {
		return 0, err
	}
	return e.Magnitude(ctx)
}

// QueryTime is how long a query takes at most, by what everybody may know.
func (d *data) QueryTime(ctx context.Context, q *tree.Query) (time.Duration, error) {
	return d.publicTime(ctx, func(m publictime.Machine, s publictime.Sizes) time.Duration { return m.Query(q, s) })
}

// FetchTime and FitTime are how long it takes to read the rows of a table, and to train on them.
func (d *data) FetchTime(ctx context.Context, t *tree.Table) (time.Duration, error) {
	return d.publicTime(ctx, func(m publictime.Machine, s publictime.Sizes) time.Duration { return m.Fetch(t, s) })
}
func (d *data) FitTime(ctx context.Context, t *tree.Table, models, parts int) (time.Duration, error) {
	return d.publicTime(ctx, func(m publictime.Machine, s publictime.Sizes) time.Duration { return m.Fit(t, s, models, parts) })
}

// StepsTime is how long so many steps take that noise needs which is not drawn for each number.
func (d *data) StepsTime(ctx context.Context, n float64) (time.Duration, error) {
	return d.publicTime(ctx, func(m publictime.Machine, _ publictime.Sizes) time.Duration { return m.Steps(n) })
}

func (d *data) publicTime(ctx context.Context, of func(publictime.Machine, publictime.Sizes) time.Duration) (time.Duration, error) {
	defer runtime.KeepAlive(d)
	e, err := d.open(ctx)
	if err != nil {
		return 0, &api.DataError{Err: err}
	}
	sizes, err := e.Sizes(ctx)
	if err != nil {
		return 0, &api.DataError{Err: err}
	}
	return of(e.Machine(ctx), sizes), nil
}

// Version implements [engine.Engine].
func (d *data) Version(ctx context.Context) (store.Version, error) {
	defer runtime.KeepAlive(d)
	var v store.Version
	e, err := d.open(ctx)
	if err == nil {
		v, err = e.Version(ctx)
	}
	if err != nil && ctx.Err() == nil {
		err = &api.DataError{Err: err}
	}
	return v, err
}

// Run implements [engine.Engine]. It comes after Version, so the data is open.
func (d *data) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	defer runtime.KeepAlive(d)
	e, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, q)
}

// Values implements [engine.Engine].
func (d *data) Values(ctx context.Context, table, column string, limit int) ([]policy.Value, error) {
	defer runtime.KeepAlive(d)
	e, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return e.Values(ctx, table, column, limit)
}

// Most implements [engine.Engine].
func (d *data) Most(ctx context.Context, table string, columns []string) (int64, error) {
	defer runtime.KeepAlive(d)
	e, err := d.open(ctx)
	if err != nil {
		return 0, err
	}
	return e.Most(ctx, table, columns)
}

// Rows implements [engine.Engine].
func (d *data) Rows(ctx context.Context, table string, limit int) ([][]tree.Value, error) {
	defer runtime.KeepAlive(d)
	e, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	return e.Rows(ctx, table, limit)
}

// Fetch implements [engine.Engine].
func (d *data) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	defer runtime.KeepAlive(d)
	e, err := d.open(ctx)
	if err != nil {
		return engine.ReadFrom{}, err
	}
	return e.Fetch(ctx, t, into)
}

func (d *data) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return nil
	}
	d.ended = true
	d.forget.Stop()
	switch {
	case d.engine != nil:
		return d.engine.Close()
	case d.store != nil:
		return d.store.DB.Close()
	}
	return nil
}
