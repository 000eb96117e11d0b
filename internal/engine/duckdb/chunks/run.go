package chunks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// ErrQuery is returned when a query fails, for whatever reason.
var ErrQuery = errors.New("stream: the query failed")

// ErrMemory is returned when DuckDB ran out of memory.
var ErrMemory = errors.New("stream: there is not enough memory")

// errInterrupted is returned when the query was interrupted.
var errInterrupted = errors.New("stream: the query was interrupted")

// ErrCount is returned when DuckDB did not hand over each row once.
var ErrCount = errors.New("stream: the rows received are not those of the query")

// Query is what to read.
type Query struct {
	Columns []string // SQL expressions
	From    string   // what follows FROM, with its condition
	Args    []any    // int64, string, bool, float64 or nil
	// Progress, where it is not nil, is told now and then which part is done, between 0 and 1.
	Progress func(float64)
}

type run struct {
	each func(*Chunk) error
	rows atomic.Int64
	typ  sync.Once
	kind []Kind

	mu  sync.Mutex
	err error
}

// Queries and dictionaries are named by numbers, because DuckDB passes values and no pointers of
// ours.
var (
	runs         sync.Map
	dictionaries sync.Map
	lastID       atomic.Int64
)

// Each runs a query and calls each with every chunk, from several threads at once. The chunk is
// good until it returns. An error of each ends the query and is returned.
func (s Database) Each(ctx context.Context, q Query, each func(*Chunk) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &run{each: each}
	id := lastID.Add(1)
	runs.Store(id, r)
	defer runs.Delete(id)
	columns := append([]string{fmt.Sprintf("%d::BIGINT", id)}, q.Columns...) // of which there may be none, where rows are counted
	text := fmt.Sprintf("SELECT count(discreet_take(%s)) FROM %s", strings.Join(columns, ", "), q.From)
	summed, err := s.execute(ctx, text, q.Args, q.Progress)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case err != nil && !errors.Is(err, errInterrupted):
		return err // also where the context has ended by now: it failed by itself
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return ErrQuery
	case summed != r.rows.Load():
		return ErrCount
	}
	return nil
}

// Exec runs a statement of the owner's, such as COPY, that changes nothing or says how many rows it
// changed.
func (s Database) Exec(ctx context.Context, text string, progress func(float64)) error {
	_, err := s.execute(ctx, text, nil, progress)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// take hands a chunk over, and reports whether the query should go on.
func (r *run) take(c *Chunk) bool {
	r.typ.Do(func() { r.kind = c.types() })
	c.kinds = r.kind
	if err := r.each(c); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = err
		}
		return false
	}
	r.rows.Add(int64(c.n))
	return true
}

// execute runs a statement whose result is one integer; NULL is 0.
func (s Database) execute(ctx context.Context, text string, args []any, progress func(float64)) (int64, error) {
	var conn duck.Connection
	if duck.Connect(s.db, &conn) == duck.StateError {
		return 0, ErrQuery
	}
	defer duck.Disconnect(&conn)
	defer watch(ctx, conn, progress)()
	var stmt duck.PreparedStatement
	defer duck.DestroyPrepare(&stmt)
	if duck.Prepare(conn, text, &stmt) == duck.StateError {
		if ctx.Err() != nil {
			return 0, errInterrupted // an interrupt comes here too, and no row was looked at that could be why
		}
		return 0, ErrQuery
	}
	for i, a := range args {
		if bind(stmt, duck.IdxT(i+1), a) == duck.StateError {
			return 0, ErrQuery
		}
	}
	var result duck.Result
	defer duck.DestroyResult(&result)
	if duck.ExecutePrepared(stmt, &result) == duck.StateError {
		switch duck.ResultErrorType(&result) {
		case duck.ErrorTypeInterrupt:
			return 0, errInterrupted
		case duck.ErrorTypeOutOfMemory:
			return 0, ErrMemory
		}
		return 0, ErrQuery
	}
	data := duck.FetchChunk(result)
	if data.Ptr == nil {
		return 0, ErrQuery
	}
	defer duck.DestroyDataChunk(&data)
	c := chunkOf(data.Ptr)
	if c.n != 1 {
		return 0, ErrQuery
	}
	if valid := c.valid(0); valid != nil && valid[0]&1 == 0 {
		return 0, nil
	}
	return view[int64](c, 0)[0], nil
}

func bind(stmt duck.PreparedStatement, i duck.IdxT, v any) duck.State {
	switch v := v.(type) {
	case int64:
		return duck.BindInt64(stmt, i, v)
	case string:
		return duck.BindVarcharLength(stmt, i, v, duck.IdxT(len(v)))
	case bool:
		return duck.BindBoolean(stmt, i, v)
	case float64:
		return duck.BindDouble(stmt, i, v)
	case nil:
		return duck.BindNull(stmt, i)
	}
	return duck.StateError
}

const (
	// An interrupt is repeated: DuckDB forgets one that comes between two tasks.
	interruptEvery = 50 * time.Millisecond
	progressEvery  = 200 * time.Millisecond
)

// watch interrupts a connection when the context ends, and tells how far it is. What it returns
// ends that, and has to be called before the connection is closed.
func watch(ctx context.Context, conn duck.Connection, progress func(float64)) (done func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		var tick <-chan time.Time
		if progress != nil {
			t := time.NewTicker(progressEvery)
			defer t.Stop()
			tick = t.C
		}
		for ctx.Err() == nil {
			select {
			case <-stop:
				return
			case <-ctx.Done():
			case <-tick:
				p := duck.QueryProgress(conn)
				if percent, _, _ := duck.QueryProgressTypeMembers(&p); percent >= 0 {
					progress(percent / 100)
				}
			}
		}
		for {
			duck.Interrupt(conn)
			select {
			case <-stop:
				return
			case <-time.After(interruptEvery):
			}
		}
	}()
	return func() { close(stop); <-stopped }
}
