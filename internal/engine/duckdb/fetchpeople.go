package duckdb

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/bound"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// newPeople prints a table to train on whose people have several rows, of whom some may be cut, for
// package bound. It has to be closed. It returns errShape where people are cut in SQL.
func (s *snapshot) newPeople(t *tree.Table) (*bounded, error) {
	// Rows go to the collector as they are picked, and cannot be taken back: no order is tried.
	b := &bounded{people: true, spec: bound.Spec{Groups: 1, MaxGroups: 1}}
	from := unsorted(t.From)
	p := s.Print(from)
	if !b.limit(s, nil, t.Hash()) || !b.addUnit(s, p, from) {
		return nil, errShape
	}
	f := &fetch{first: 1}
	for _, c := range t.Columns {
		b.query.Columns = append(b.query.Columns, f.add(p, c))
	}
	b.open = f.open
	rows := &coded{fetch: f}
	for _, c := range f.columns {
		lo, hi := c.interval()
		m, null := bound.Measure{Kind: bound.Carried, Reach: math.MaxInt64}, int64(engine.Null)
		if lo > math.MinInt32+1 && hi < math.MaxInt32 {
			m.Reach, null = math.MaxInt32, lo-1
		}
		rows.list, rows.nulls = append(rows.list, m), append(rows.nulls, null)
	}
	b.carried, b.spec.Measures = rows, rows.list
	b.spec.Spelled = len(rows.list) > slender
	b.from(p, t.Where)
	return b, nil
}

// slender is how many columns are held one by one. Where there are more, a row is in one piece:
// each partition has room for some hundred rows otherwise, which is a gigabyte of five hundred
// columns.
const slender = 16

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
	sink := &collecting{coded: b.carried.(*coded), into: into}
	b.spec.Pick = &bound.Pick{MaxRows: t.MaxRows(), Flag: -1, Sink: func() bound.Sink { return sink }}
	_, err = bound.Run(ctx, b.spec, b.rows(ctx, s.source, func() {}))
	if err == nil && sink.broken || errors.Is(err, errShape) && sink.row != nil {
		return errCollector // to begin again in SQL would hand rows over twice
	}
	return err
}

var errCollector = errors.New("duckdb: who takes the rows has failed")

// coded are rows of codes. NULL is a code that no value has.
type coded struct {
	fetch *fetch
	list  []bound.Measure
	nulls []int64
}

func (r *coded) measures() []bound.Measure { return r.list }

func (r *coded) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
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

// collecting hands rows to a collector, which takes one at a time.
type collecting struct {
	*coded
	into   engine.Collector
	mu     sync.Mutex
	row    []int64
	broken bool // by a panic, which must not end the process
}

// Take hands rows on.
func (t *collecting) Take(groups []int32, values [][]int64) {
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
