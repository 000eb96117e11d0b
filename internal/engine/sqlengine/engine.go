// Package sqlengine runs questions in a database that speaks SQL, reached through database/sql: it
// runs the statements that package sqlgen prints, all on one state of the data, and seals what
// they return.
//
// A driver that has nothing faster is an [Engine] over a [store.Store] and no more. One that reads
// rows in bulk, as DuckDB's does, has a [Database] for what is left to SQL.
package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Engine runs questions in a store. It is safe for concurrent use.
type Engine struct {
	dataset *policy.Dataset
	dialect *sqlgen.Dialect
	store   store.Store
	manner  Options

	mu      sync.Mutex
	version store.Version
	current *Database

	counting sync.Mutex // guards what follows
	counted  *Database  // whose sizes they are
	sizes    publictime.Sizes
	machine  *publictime.Machine
}

var _ engine.Engine = (*Engine)(nil)

// Options is what one store does otherwise than others. What is left out is as it is in most.
type Options struct {
	// Name is what a table is called in the store.
	Name func(*policy.Table) string
	// At is what follows FROM to read a table, which is called by a name, in a state that the store
	// has named.
	At func(v store.Version, t *policy.Table, name string) string
	// Failure says how a run ended; see [Database].
	Failure func(ctx context.Context, err error) error
	// Counting is how sizes are counted, and Machine says what runs questions.
	Counting CountFunctions
	Machine  func(ctx context.Context, db *sql.DB) publictime.Machine
	// Check refuses tables that are stored in a way which the store cannot be asked about.
	Check func(*Database) error
}

// Open looks at the tables of a dataset. Its errors are for the owner: they name tables and
// columns, and no value of the data.
func Open(ctx context.Context, ds *policy.Dataset, s store.Store, d *sqlgen.Dialect, m Options) (*Engine, error) {
	if m.Name == nil {
		m.Name = func(t *policy.Table) string { return sqlgen.QuoteName(t.Name) }
	}
	if m.At == nil {
		m.At = func(_ store.Version, _ *policy.Table, name string) string { return name }
	}
	if m.Failure == nil {
		m.Failure = failure
	}
	if m.Check == nil {
		m.Check = func(*Database) error { return nil }
	}
	e := &Engine{dataset: ds, dialect: d, store: s, manner: m}
	_, err := e.Version(ctx)
	return e, err
}

// Version asks the store for the state of its data. Where that is another, its tables are looked at
// anew.
func (e *Engine) Version(ctx context.Context) (store.Version, error) {
	v, err := e.store.Version(ctx)
	switch {
	case ctx.Err() != nil:
		return store.Version{}, ctx.Err()
	case errors.As(err, new(explainer)):
		return store.Version{}, err
	case err != nil || v.Name != "" && policy.CheckVersionName(v.Name) != "":
		// Nothing is told of why: analysts see it, and it could depend on the data.
		return store.Version{}, errors.New("the database of the dataset " + e.dataset.Name + " does not name the state of its data")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == nil || v != e.version {
		d, err := e.look(ctx, v)
		if err != nil {
			return store.Version{}, err
		}
		e.current, e.version = d, v
	}
	return v, nil
}

// explainer is an error whose text is for everybody, and which has another for the owner.
type explainer interface{ Explain() string }

// look finds out how the tables are stored.
func (e *Engine) look(ctx context.Context, v store.Version) (*Database, error) {
	ds := e.dataset
	public := slices.ContainsFunc(ds.TableNames(), func(name string) bool { return ds.Tables[name].Public })
	if ds.Unit.Row() && public {
		return nil, errors.New("every row is a person, and after a join the rows of one cannot be told from those of another here; " +
			"name a unit, or leave out the public tables")
	}
	d := &Database{Schema: sqlgen.NewSchema(e.dialect, ds), DB: e.store.DB, Version: v, Failure: e.manner.Failure}
	for _, name := range ds.TableNames() {
		p := ds.Tables[name]
		// Whether texts have a collation is not known, so it is said that they are compared by
		// their bytes.
		t := &sqlgen.Table{Table: p, Dialect: e.dialect, Paths: ds.PathColumns(p), From: e.manner.Name(p), Collated: true}
		if _, err := Describe(ctx, d.DB, t, "the database", true); err != nil {
			return nil, err
		}
		t.From = e.manner.At(v, p, t.From)
		d.Tables[name] = t
	}
	if err := d.FindKinds(ds); err != nil {
		return nil, err
	}
	if err := e.manner.Check(d); err != nil {
		return nil, err
	}
	return d, d.CheckUnique(ctx, ds)
}

// Current is the state that was last looked at.
func (e *Engine) Current() *Database {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current
}

// Values implements [engine.Engine].
func (e *Engine) Values(ctx context.Context, table, column string, limit int) ([]policy.Value, error) {
	return e.Current().Values(ctx, table, column, limit)
}

// Most implements [engine.Engine].
func (e *Engine) Most(ctx context.Context, table string, columns []string) (int64, error) {
	return e.Current().Most(ctx, table, columns)
}

// Rows implements [engine.Engine].
func (e *Engine) Rows(ctx context.Context, table string, limit int) ([][]tree.Value, error) {
	return e.Current().Rows(ctx, table, limit)
}

// Magnitude is how large the data is; see [Database.Magnitude].
func (e *Engine) Magnitude(ctx context.Context) (int, error) {
	return e.Current().Magnitude(ctx, e.dataset)
}

// Sizes are how large the tables of the state are that was last looked at. What is counted is
// counted once.
func (e *Engine) Sizes(ctx context.Context) (publictime.Sizes, error) {
	e.counting.Lock()
	defer e.counting.Unlock()
	d := e.Current()
	if e.counted != d {
		sizes, err := d.Sizes(ctx, e.dataset, e.manner.Counting)
		if err != nil {
			return publictime.Sizes{}, err
		}
		e.counted, e.sizes = d, sizes
	}
	return e.sizes, nil
}

// Machine is what runs questions. Its speed is measured once, and not stopped with who asks first.
func (e *Engine) Machine(ctx context.Context) publictime.Machine {
	e.counting.Lock()
	defer e.counting.Unlock()
	if e.machine == nil {
		m := e.manner.Machine(context.WithoutCancel(ctx), e.store.DB)
		e.machine = &m
	}
	return *e.machine
}

// Run computes a query exactly; see [engine.Result]. What goes wrong is [engine.ErrRun].
func (e *Engine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	d := e.Current()
	return d.Run(ctx, q, d.Statements(q))
}

// Close closes the store.
func (e *Engine) Close() error { return e.store.DB.Close() }

// failure is engine.ErrRun, whatever an error says, with how the run ended. That the context has
// ended by now does not say that the run ended with it.
func failure(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, store.ErrMemory):
		return &engine.Failure{Ending: engine.Memory, Err: engine.ErrRun}
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return &engine.Failure{Ending: engine.Stopped, Err: engine.ErrRun}
	}
	return engine.ErrRun
}

// Fetch hands the rows of a table to a collector. What goes wrong is [engine.ErrRun].
func (e *Engine) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	return engine.ReadFrom{}, e.Current().Fetch(ctx, t, into)
}

// Fetch hands the rows of a table to a collector, in this state of the data.
func (d *Database) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) error {
	if err := d.fetch(ctx, t, into); err != nil {
		return d.Failure(ctx, err)
	}
	return nil
}

func (d *Database) fetch(ctx context.Context, t *tree.Table, into engine.Collector) error {
	code := make([]func(any) int64, len(t.Columns))
	for i, c := range t.Columns {
		code[i] = newCoder(c)
	}
	text, args := PrintFetch(&d.Schema, t)
	rows, err := d.DB.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	cells, scanned, codes := make([]any, len(code)), make([]any, len(code)), make([]int64, len(code))
	for i := range cells {
		scanned[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(scanned...); err != nil {
			return err
		}
		for i, v := range cells {
			codes[i] = code[i](v)
		}
		into.Add(codes)
	}
	return rows.Err()
}

// PrintFetch prints the statement that returns the rows of a table.
func PrintFetch(s *sqlgen.Schema, t *tree.Table) (text string, args []any) {
	p := s.Print(t.From)
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = p.Key(tree.Key{Expr: c.Expr})
	}
	names, from := p.TableRows(t, columns)
	return "SELECT " + strings.Join(names, ", ") + " FROM " + from, p.Args
}

// newCoder says what the code of a column's value is: its place among the values of a category, and
// otherwise the number itself, clamped to what is public about it.
func newCoder(c tree.TableColumn) func(any) int64 {
	places := keyPositions(c.Values)
	lo, hi, _ := c.Bounds()
	return func(v any) int64 {
		switch at, ok := places[widen(v)]; {
		case v == nil:
			return engine.Null
		case c.Values == nil:
			return min(max(readTotal(widen(v)), lo), hi)
		case ok:
			return int64(at)
		}
		return -1
	}
}
