package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// row is a record as it is stored, and what came of reading it.
type row struct {
	sequence   int64
	body, hash string
	answer     string // the hash of the answer, because answers may be large
	record     ledger.Record
	err        error
}

// batch is some rows in order, and the error that ended the reading, if any.
type batch struct {
	rows []row
	err  error
	free chan<- []row
}

// release gives the memory of a batch back to the reading.
func (b batch) release() {
	if cap(b.rows) == batchRows {
		b.free <- b.rows[:0]
	}
}

const (
	batchRows  = 256
	maxBatches = 4
)

// readRecords reads the records from one on in order and checks each against its hash. It works
// ahead in goroutines of its own: to get the rows, to decode them and to follow the chain each
// take their time, and opening a large ledger waits for the slowest and not for the sum. When the
// loop over it ends, so has the reading.
func readRecords(c *conn, from uint64) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		free := make(chan []row, maxBatches+3)
		for range cap(free) {
			free <- nil // made where there are rows for it: most ledgers have few
		}
		rows, decoded, stop := make(chan batch, maxBatches), make(chan batch, maxBatches), make(chan struct{})
		go func() {
			defer close(rows)
			scan(c, from, func() ([]row, bool) {
				select {
				case b := <-free:
					if b == nil {
						b = make([]row, 0, batchRows)
					}
					return b, true
				case <-stop:
					return nil, false
				}
			}, func(b batch) bool {
				b.free = free
				select {
				case rows <- b:
					return true
				case <-stop:
					return false
				}
			})
		}()
		go func() {
			defer close(decoded)
			for b := range rows {
				for i := range b.rows {
					r := &b.rows[i]
					r.err = r.record.Read(r.body, r.hash, r.answer)
				}
				decoded <- b
			}
		}()
		stopped := false
		for b := range decoded {
			if !stopped && !yield(b) {
				close(stop)
				stopped = true
			}
		}
	}
}

// scan hands on the rows in batches until there are no more or nobody wants them. It talks to the
// driver itself, because database/sql looks at every value again.
func scan(c *conn, from uint64, next func() ([]row, bool), send func(batch) bool) {
	rows, ok := next()
	if !ok {
		return
	}
	first := int64(from)
	if from == 0 {
		first = math.MinInt64 // what stands before the first record is damage
	}
	err := c.each(selectRecords, func(v []driver.Value) error {
		if len(rows) == batchRows {
			if ok := send(batch{rows: rows}); !ok {
				return io.EOF
			}
			if rows, ok = next(); !ok {
				return io.EOF
			}
		}
		rows = rows[:len(rows)+1]
		return rows[len(rows)-1].fill(v)
	}, first)
	if err != io.EOF {
		send(batch{rows: rows, err: err})
	}
}

// fill takes what was selected. The types are those of the schema unless the file was changed.
func (r *row) fill(v []driver.Value) error {
	var is [3]bool
	r.sequence, is[0] = v[0].(int64)
	r.body, is[1] = v[1].(string)
	r.hash, is[2] = v[2].(string)
	for i, ok := range is {
		if !ok {
			return fmt.Errorf("column %d has no %s", i, [...]string{"number", "text", "text"}[i])
		}
	}
	switch answer := v[3].(type) {
	case nil:
		r.answer = ""
	case []byte:
		r.answer = chain.AnswerHash(answer)
	default:
		return fmt.Errorf("the answer is not a blob")
	}
	return nil
}

// each calls f with every row of a query, whose values are f's only until it returns.
func (c *conn) each(query string, f func([]driver.Value) error, args ...driver.Value) error {
	return c.Raw(func(conn any) error {
		named := make([]driver.NamedValue, len(args))
		for i, a := range args {
			named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
		}
		rows, err := conn.(driver.QueryerContext).QueryContext(background, query, named)
		if err != nil {
			return err
		}
		defer rows.Close()
		values := make([]driver.Value, len(rows.Columns()))
		for {
			if err := rows.Next(values); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := f(values); err != nil {
				return err
			}
		}
	})
}

// Records implements [ledger.Ledger]. It reads some at a time, so that charges do not wait for a
// caller that takes its time.
func (l *Ledger) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for n := firstRecords; ; n = nextRecords {
			some, err := l.readSome(ctx, from, n)
			for _, r := range some {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(some) == 0 {
				return
			}
			from += uint64(len(some))
		}
	}
}

// How many records are read at a time: few first, for a caller that wants only one.
const firstRecords, nextRecords = int64(4), int64(256)

const selectSome = `SELECT sequence, body, hash, answer FROM records WHERE sequence >= ? ORDER BY sequence LIMIT ?`

// readSome returns the next records, or none after the last one.
func (l *Ledger) readSome(ctx context.Context, from uint64, n int64) ([]*ledger.Record, error) {
	if err := l.LockForRead(ctx); err != nil {
		return nil, err
	}
	defer l.Unlock()
	last, _ := l.State.Head()
	if from > last {
		return nil, nil
	}
	var some []*ledger.Record
	var hashes []string
	var bad error
	err := l.conn.each(selectSome, func(v []driver.Value) error {
		var stored row
		r := new(ledger.Record)
		if bad = stored.fill(v); bad == nil {
			bad = r.Read(stored.body, stored.hash, stored.answer)
		}
		if bad == nil && (r.Sequence != from+uint64(len(some)) || stored.sequence != int64(r.Sequence)) {
			bad = fmt.Errorf("it is record %d", r.Sequence)
		}
		if bad == nil {
			hashes = append(hashes, stored.hash)
			some = append(some, r)
		}
		return bad
	}, int64(from), n)
	for i := 0; i < len(some) && err == nil; i++ {
		if bad = l.prove(from+uint64(i), hashes[i]); bad != nil {
			some, err = some[:i], bad
		}
	}
	where := fmt.Sprintf("record %d cannot be read", from+uint64(len(some)))
	switch {
	case bad != nil:
		return some, &ledger.CorruptError{Path: l.Path, Where: where, Err: bad}
	case err != nil:
		return some, corrupt(l.Path, where, err)
	case len(some) == 0:
		return nil, &ledger.CorruptError{Path: l.Path, Where: where}
	}
	return some, nil
}

// Lines returns the records up to one with the bytes that are stored beside them, each checked
// against its hash. It reads some at a time, so that charges do not wait.
func (l *Ledger) Lines(ctx context.Context, last uint64) iter.Seq2[chain.Stored, error] {
	return func(yield func(chain.Stored, error) bool) {
		for next := uint64(0); next <= last; {
			lines, err := l.readLines(ctx, next, min(uint64(nextRecords), last-next+1))
			for _, s := range lines {
				if !yield(s, nil) {
					return
				}
			}
			if err != nil {
				yield(chain.Stored{}, err)
				return
			}
			next += uint64(len(lines))
		}
	}
}

// readLines returns so many lines from one on, all of them or an error.
func (l *Ledger) readLines(ctx context.Context, from, n uint64) (all []chain.Stored, err error) {
	if err := l.LockForRead(ctx); err != nil {
		return nil, err
	}
	defer l.Unlock()
	err = l.conn.each(selectSome, func(v []driver.Value) error {
		var stored row
		r := new(ledger.Record)
		err := stored.fill(v)
		if err == nil {
			err = r.Read(stored.body, stored.hash, stored.answer)
		}
		if err == nil && r.Sequence != from+uint64(len(all)) {
			err = fmt.Errorf("it is record %d", r.Sequence)
		}
		answer, _ := v[3].([]byte)
		all = append(all, chain.Stored{Line: Line{Record: r, Body: stored.body, Hash: stored.hash}, Answer: slices.Clone(answer)})
		return err
	}, int64(from), int64(n))
	if err == nil && uint64(len(all)) != n {
		err = fmt.Errorf("it is missing")
	}
	for i := 0; i < len(all) && err == nil; i++ {
		err = l.prove(all[i].Record.Sequence, all[i].Hash)
	}
	if err != nil {
		return nil, &ledger.CorruptError{Path: l.Path, Where: fmt.Sprintf("records from %d on cannot be read", from), Err: err}
	}
	return all, nil
}
