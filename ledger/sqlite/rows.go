package sqlite

import (
	"database/sql"
	"iter"

	"github.com/discreet-dp/discreet/ledger"
)

// row is a record as it is stored. Of an answer only the hash is read, because
// answers may be large.
type row struct {
	sequence           int64
	body, hash, answer string
}

// batch is some rows in order, and the error that ended the reading, if any.
type batch struct {
	rows []row
	err  error
}

// readRecords reads all records in order. It reads ahead in a goroutine of its own: to
// read rows and to check them takes about the same time, and opening a large
// ledger waits for both. When the loop over it ends, so has the reading.
func readRecords(c *conn) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		batches, stop := make(chan batch, 4), make(chan struct{})
		go func() {
			defer close(batches)
			scan(c, func(b batch) bool {
				select {
				case batches <- b:
					return true
				case <-stop:
					return false
				}
			})
		}()
		for b := range batches {
			if !yield(b) {
				close(stop)
				for range batches {
				}
				return
			}
		}
	}
}

// scan hands on the rows in batches until there are no more or nobody wants them.
func scan(c *conn, send func(batch) bool) {
	const size = 128
	rows, err := c.QueryContext(background, selectRecords)
	if err != nil {
		send(batch{err: err})
		return
	}
	defer rows.Close()
	var answer sql.RawBytes
	b := batch{rows: make([]row, 0, size)}
	for rows.Next() {
		var r row
		if b.err = rows.Scan(&r.sequence, &r.body, &r.hash, &answer); b.err != nil {
			send(b)
			return
		}
		r.answer = hashOf(answer)
		b.rows = append(b.rows, r)
		if len(b.rows) == size {
			if !send(b) {
				return
			}
			b = batch{rows: make([]row, 0, size)}
		}
	}
	b.err = rows.Err()
	send(b)
}

// hashOf returns the hash of an answer, or nothing where there is none.
func hashOf(answer []byte) string {
	if len(answer) == 0 {
		return ""
	}
	return ledger.Hash(answer)
}
