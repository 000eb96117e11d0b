// Package duckdb runs the private part of a question in an embedded DuckDB and returns exact
// integers, sealed.
//
// # What it promises
//
//  1. The analyst's text never arrives here. SQL is printed from plan's closed tree, with every
//     constant as a parameter, except that an integer which a column is compared with is spelled by
//     us.
//  2. DuckDB is locked before the first question: no external access beyond the files that the
//     policy names, no extension is loaded or installed, the configuration cannot be changed, and
//     its randomness is not used.
//  3. Every value is an integer before it is added up. A column is cast with TRY_CAST (what does
//     not fit is NULL), rounded to its lattice and clamped to its bounds, row by row; sums are
//     HUGEINT. A row is at most 2^53 steps, a person at most 2^20 rows, so 2^54 people fit below
//     the 2^127 where HUGEINT would overflow. The final sum is clamped to 62 bits, which moves
//     neighbouring sums apart by nothing: clamping never lengthens a distance.
//  4. A person is bounded after everything else, joins among it: one partial per (person, group),
//     at most MaxGroups of them by the smallest salted hash, each partial clamped; of distinct
//     values and of those of a quantile at most MaxRows in a group. Package contribution does that
//     for counts and sums, with rows that it gets from DuckDB in bulk; for the rest, and for a unit
//     of a type whose values it cannot tell apart, SQL statements do. Which groups are kept depends
//     on that person's rows alone. Where nobody has more than one row none of this is needed, and
//     none is done.
//  5. Types of a CSV file are the policy's. Nothing about the file is guessed from its rows,
//     because a guess that one person's row can change is an answer about that row.
//  6. Who a row is about is compared as it is stored, in one type for all columns that say so, and
//     a table whose path has several steps is joined along it. Rows that lead to nobody are left
//     out, except where a table has one row for each person: there a row without a name is one of
//     its own.
//  7. Private keys are all returned, sealed, with the number of people behind each, and in the
//     order of their values: neither a limit nor the order in which rows are stored decides which
//     are seen.
//  8. What goes wrong while a question runs is reported as engine.ErrRun, the same text whatever
//     the data is.
//  9. Rows to train on ([Engine.Fetch]) are codes, and leave DuckDB in bulk and unsorted. Of a
//     person at most MaxRows are there, after all joins: those with the smallest salted hash of the
//     person and of what is in the row, and between equal hashes by what is in it. So which are
//     kept depends on that person's rows alone, and not on where they are stored.
package duckdb

import (
	"context"
	"errors"
	"slices"
	"sync"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
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
	changed, err := before.state.moved(ctx)
	if err != nil || !changed {
		return before.state.version, err
	}
	r := e.renew(before)
	if r == nil { // somebody else was faster
		e.mu.RLock()
		defer e.mu.RUnlock()
		return e.now.state.version, nil
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
	s.state.origin.follow(old.state.origin)
	e.now, r.version = s, s.state.version
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
var errBroken = errors.New("the data cannot be opened again; this is a bug in Discreet")

var _ engine.Engine = (*Engine)(nil)

// Run computes a query exactly; see [engine.Result]. What goes wrong is engine.ErrRun.
func (e *Engine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	s, letGo := e.hold()
	defer letGo()
	r, err := s.run(ctx, q)
	if err == nil {
		r.ReadFrom = s.state.readFrom()
	}
	return r, err
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

func (s *snapshot) run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	all := s.Statements(q)
	if q.Bounded() {
		known, err := s.runPeople(ctx, q)
		switch {
		case errors.Is(err, errNotBulk) || errors.Is(err, chunks.ErrCount):
			return s.Run(ctx, q, all)
		case err != nil:
			return nil, failure(ctx, err)
		}
		return s.Finish(ctx, q, known, nil)
	}
	// Counts and sums are not for SQL, where there is another way.
	i := slices.IndexFunc(all, func(st sqlgen.Statement) bool { return st.Summed })
	if i < 0 {
		return s.Run(ctx, q, all)
	}
	totals, err := s.runBounded(ctx, q, all[i].Measures)
	switch {
	case errors.Is(err, errNotBulk) || errors.Is(err, chunks.ErrCount):
		return s.Run(ctx, q, all)
	case err != nil:
		return nil, failure(ctx, err)
	}
	known := &sqlengine.Known{Sums: map[int][]int64{}}
	for k, m := range all[i].Measures {
		known.Sums[m] = totals[k]
	}
	return s.Finish(ctx, q, known, slices.Delete(all, i, i+1))
}

// runBounded computes some counts and sums of a question in package contribution. It returns
// errNotBulk where that has to be done in SQL.
func (s *snapshot) runBounded(ctx context.Context, q *tree.Query, measures []int) ([][]int64, error) {
	b, err := s.newBounded(q, measures)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return b.run(ctx, s.source)
}

// Failures that say how they ended. Their text is that of engine.ErrRun.
var (
	errStopped = &engine.Failure{Ending: engine.Stopped, Err: engine.ErrRun}
	errMemory  = &engine.Failure{Ending: engine.Memory, Err: engine.ErrRun}
)

// failure is engine.ErrRun, whatever an error says, with how the run ended. DuckDB's own word comes
// first: a question that failed is not stopped because its context ended meanwhile.
func failure(ctx context.Context, err error) error {
	var said *driver.Error
	switch {
	case errors.As(err, &said) && said.Type == driver.ErrorTypeOutOfMemory, errors.Is(err, chunks.ErrMemory):
		return errMemory
	case errors.As(err, &said) && said.Type != driver.ErrorTypeInterrupt, errors.Is(err, chunks.ErrQuery):
		return engine.ErrRun
	case ctx.Err() != nil:
		return errStopped
	}
	return engine.ErrRun
}
