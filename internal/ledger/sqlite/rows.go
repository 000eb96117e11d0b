package sqlite

import (
	"database/sql/driver"
	"fmt"
	"io"
	"iter"
	"math"

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
	batchRows    = 256
	batchesAhead = 4
)

// readRecords reads the records from one on in order and checks each against its hash. It works
// ahead in goroutines of its own: to get the rows, to decode them and to follow the chain each
// take their time, and opening a large ledger waits for the slowest and not for the sum. When the
// loop over it ends, so has the reading.
func readRecords(c *conn, from uint64) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		free := make(chan []row, batchesAhead+3)
		for range cap(free) {
			free <- make([]row, 0, batchRows)
		}
		rows, decoded, stop := make(chan batch, batchesAhead), make(chan batch, batchesAhead), make(chan struct{})
		go func() {
			defer close(rows)
			scan(c, from, func() ([]row, bool) {
				select {
				case b := <-free:
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
		r.answer = hashOf(answer)
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

// hashOf returns the hash of an answer, or nothing where there is none.
func hashOf(answer []byte) string {
	if len(answer) == 0 {
		return ""
	}
	return ledger.Hash(answer)
}
