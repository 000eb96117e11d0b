package duckdb

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// Fetch hands the rows of a table to a collector. What goes wrong is engine.ErrRun.
func (e *Engine) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	s, letGo := e.hold()
	defer letGo()
	if t.Bounded() {
		err := s.fetchPeople(ctx, t, into)
		if !errors.Is(err, errNotBulk) {
			return s.state.readFrom(), failureIfAny(ctx, err)
		}
	}
	f := s.newFetch(t)
	defer f.close()
	err := s.fetch(ctx, f, into)
	return s.state.readFrom(), err
}

// fetch is a table on its way: the rows that DuckDB reads, and what each of its columns is.
type fetch struct {
	query   chunks.Query
	first   int // of the chunk's columns
	columns []codeColumn
	open    []*chunks.Keys
}

// codeColumn says how a column's values become codes.
type codeColumn struct {
	text   bool      // they are places already, and nullPosition for NULL
	places *keyIndex // of other categories; nil where the values are codes as they are
	clamp  bool      // numbers, which are clamped to what is public about them
	lo, hi int64
}

// nullPosition is what NULL is among the places of texts. -1 is a text that is no key.
const nullPosition = -2

// newFetch prints a table. It has to be closed.
func (s *snapshot) newFetch(t *tree.Table) *fetch {
	f := &fetch{}
	p := s.Print(t.From)
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = f.add(p, c)
	}
	f.query.Columns, f.query.From = p.TableRows(t, columns)
	f.query.Args = p.Args
	return f
}

func (f *fetch) close() {
	for _, k := range f.open {
		k.Close()
	}
}

// add prints a column, so that few bytes are carried along: places and small numbers are not eight
// of them.
func (f *fetch) add(p *sqlgen.Printer, c tree.TableColumn) string {
	kind := c.Expr.Type().Kind
	switch {
	case c.Values != nil && kind == tree.Text:
		keys := chunks.NewKeys(textPositions(c.Values), nullPosition)
		f.open, f.columns = append(f.open, keys), append(f.columns, codeColumn{text: true})
		return printKeyIndex(keys, p.Row.Expr(c.Expr))
	case c.Values != nil && kind == tree.Boolean && isFalseTrue(c.Values):
		f.columns = append(f.columns, codeColumn{})
		return p.Row.Expr(c.Expr)
	case c.Values != nil:
		f.columns = append(f.columns, codeColumn{places: newKeyIndex(c.Values)})
		return p.Key(tree.Key{Expr: c.Expr})
	}
	lo, hi, _ := c.Bounds()
	f.columns = append(f.columns, codeColumn{clamp: true, lo: lo, hi: hi})
	return tryCast(p.Row.Expr(c.Expr), width(lo, hi))
}

// isFalseTrue reports whether false and true stand at the places 0 and 1.
func isFalseTrue(values []policy.Value) bool {
	return len(values) == 2 && !values[0].Bool() && values[1].Bool()
}

// width returns the smallest type that holds an interval, which is proven to hold all values.
func width(lo, hi int64) string {
	for _, t := range []struct {
		name string
		bits uint
	}{{"TINYINT", 7}, {"SMALLINT", 15}, {"INTEGER", 31}} {
		if lo >= -1<<t.bits && hi < 1<<t.bits {
			return t.name
		}
	}
	return "BIGINT"
}

// fetch runs it. It is apart from newFetch so that tests can plant a mistake between the two.
func (s *snapshot) fetch(ctx context.Context, f *fetch, into engine.Collector) error {
	pool := sync.Pool{New: func() any { return &codeBatch{} }}
	var one sync.Mutex
	err := s.source.Each(ctx, f.query, func(c *chunks.Chunk) error {
		w := pool.Get().(*codeBatch)
		defer pool.Put(w)
		if !w.read(f, c) {
			return errNotBulk
		}
		one.Lock()
		defer one.Unlock()
		for i := range c.Len() {
			into.Add(w.rows[i*len(f.columns) : (i+1)*len(f.columns)])
		}
		return nil
	})
	return failureIfAny(ctx, err)
}

func failureIfAny(ctx context.Context, err error) error {
	if err != nil {
		return failure(ctx, err)
	}
	return nil
}

// codeBatch is a chunk as rows of codes.
type codeBatch struct {
	column []int64
	rows   []int64
}

// read fills the rows. It reports whether the columns are what was asked for.
func (w *codeBatch) read(f *fetch, c *chunks.Chunk) bool {
	n, width := c.Len(), len(f.columns)
	w.column = slices.Grow(w.column[:0], n)[:n]
	w.rows = slices.Grow(w.rows[:0], n*width)[:n*width]
	for k := range f.columns {
		if !f.code(k, c, w.column) {
			return false
		}
		for i, x := range w.column {
			w.rows[i*width+k] = x
		}
	}
	return true
}

// code reads a column as codes. It reports whether it is what was asked for.
func (f *fetch) code(k int, c *chunks.Chunk, out []int64) bool {
	column, col := f.columns[k], f.first+k
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if column.clamp {
		lo, hi = column.lo, column.hi
	}
	if !c.Clamped(col, out, lo, hi) {
		return false
	}
	switch {
	case column.text:
		for i, x := range out {
			if x == nullPosition {
				out[i] = engine.Null
			}
		}
	case column.places != nil:
		for i, x := range out {
			out[i] = int64(column.places.find(x))
		}
	}
	eachNull(c.Valid(col), c.Len(), func(i int) { out[i] = engine.Null })
	return true
}

// newPeople prints a table to train on whose people have several rows, of whom some may be cut, for
// package contribution. It has to be closed. It returns errNotBulk where people are cut in SQL.
func (s *snapshot) newPeople(t *tree.Table) (*boundedQuery, error) {
	// Rows go to the collector as they are picked, and cannot be taken back: no order is tried.
	b := &boundedQuery{people: true, spec: contribution.Spec{Groups: 1, MaxGroups: 1}}
	from := withoutSort(t.From)
	p := s.Print(from)
	if !b.limit(s, nil, t.Hash()) || !b.addUnit(s, p, from) {
		return nil, errNotBulk
	}
	f := &fetch{first: 1}
	for _, c := range t.Columns {
		b.query.Columns = append(b.query.Columns, f.add(p, c))
	}
	b.open = f.open
	rows := &codedRows{fetch: f}
	for _, c := range f.columns {
		lo, hi := c.interval()
		m, null := contribution.Measure{Kind: contribution.Carried, Reach: math.MaxInt64}, int64(engine.Null)
		if lo > math.MinInt32+1 && hi < math.MaxInt32 {
			m.Reach, null = math.MaxInt32, lo-1
		}
		rows.list, rows.nulls = append(rows.list, m), append(rows.nulls, null)
	}
	b.carried, b.spec.Measures = rows, rows.list
	b.spec.Spelled = len(rows.list) > maxColumnsOneByOne
	b.from(p, t.Where)
	return b, nil
}

// maxColumnsOneByOne is how many columns are held one by one. Where there are more, a row is in one
// piece: each partition has room for some hundred rows otherwise, which is a gigabyte of five
// hundred columns.
const maxColumnsOneByOne = 16

// interval is where the codes of a column are, but NULL.
func (c codeColumn) interval() (lo, hi int64) {
	if c.clamp {
		return c.lo, c.hi
	}
	return -1, math.MaxInt32 - 1 // places, and truths
}

// fetchPeople hands over the rows of people of whom at most MaxRows count each.
func (s *snapshot) fetchPeople(ctx context.Context, t *tree.Table, into engine.Collector) error {
	b, err := s.newPeople(t)
	if err != nil {
		return err
	}
	defer b.close()
	sink := &collectorSink{codedRows: b.carried.(*codedRows), into: into}
	b.spec.Pick = &contribution.Pick{MaxRows: t.MaxRows(), Flag: -1, Sink: func() contribution.Sink { return sink }}
	_, err = contribution.Run(ctx, b.spec, b.readRows(ctx, s.source, func() {}))
	if err == nil && sink.broken || errors.Is(err, errNotBulk) && sink.row != nil {
		return errCollector // to begin again in SQL would hand rows over twice
	}
	return err
}

var errCollector = errors.New("duckdb: the receiver of the rows has failed")

// codedRows are rows of codes. NULL is a code that no value has.
type codedRows struct {
	fetch *fetch
	list  []contribution.Measure
	nulls []int64
}

func (r *codedRows) measures() []contribution.Measure { return r.list }

func (r *codedRows) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
	for k := range r.fetch.columns {
		if !r.fetch.code(k, c, out[k]) {
			return false
		}
		for i, x := range out[k] {
			if x == engine.Null {
				out[k][i] = r.nulls[k]
			}
		}
	}
	return true
}

// collectorSink hands rows to a collector, which takes one at a time.
type collectorSink struct {
	*codedRows
	into   engine.Collector
	mu     sync.Mutex
	row    []int64
	broken bool // by a panic, which must not end the process
}

// Take hands rows on.
func (t *collectorSink) Take(groups []int32, values [][]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken {
		return
	}
	t.broken = true // until all are handed over
	defer func() { _ = recover() }()
	if t.row == nil {
		t.row = make([]int64, len(values))
	}
	for i := range groups {
		for k, column := range values {
			if t.row[k] = column[i]; t.row[k] == t.nulls[k] {
				t.row[k] = engine.Null
			}
		}
		t.into.Add(t.row)
	}
	t.broken = false
}
