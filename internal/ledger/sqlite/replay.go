package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/ledger"
)

// replay returns what follows from a ledger, and a connection to the view for further questions. It
// reads the whole ledger and checks everything that can be checked, unless a checkpoint that the
// chain proves, and that may be believed, says what follows from its beginning.
func (v *view) replay(believe checkpoint.Believe, tell func(done, of uint64)) (_ *conn, _ *chain.State, err error) {
	c, err := v.reader()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := checkSchema(c, v.path); err != nil {
		return nil, nil, err
	}
	if err := v.checkSize(c); err != nil {
		return nil, nil, err
	}
	if state, by := fromCheckpoint(c, v.path, believe, tell); state != nil {
		if err := checkHead(c, v.path, state); err != nil {
			return nil, nil, err
		}
		v.by = by
		return c, state, nil
	}
	// The pages are checked at the same time, over a connection of their own.
	pages := make(chan error, 1)
	go func() { pages <- v.checkPages() }()
	state, err := checkRecords(c, v.path, v.size, tell)
	if err == nil {
		err = checkHead(c, v.path, state)
	}
	// What is wrong with the pages is the cause of what is wrong with the records.
	if broken := <-pages; broken != nil {
		err = broken
	}
	if err != nil {
		return nil, nil, err
	}
	return c, state, nil
}

// reader returns a connection to the view.
func (v *view) reader() (*conn, error) {
	c, err := v.dial()
	if err != nil {
		return nil, corrupt(v.path, "it cannot be opened", err)
	}
	if err := c.set(reading...); err != nil {
		return nil, errors.Join(corrupt(v.path, "it cannot be opened", err), c.Close())
	}
	return c, nil
}

// checkSchema compares the tables and triggers with those of a new ledger, word for
// word, so that no view or trigger of somebody else's stands between us and the rows.
func checkSchema(c *conn, path string) error {
	rows, err := c.QueryContext(background, selectSchema)
	if err != nil {
		return corrupt(path, "its schema cannot be read", err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var name string
		var text sql.NullString
		if err := rows.Scan(&name, &text); err != nil {
			return &ledger.CorruptError{Path: path, Where: "its schema cannot be read", Err: err}
		}
		if n >= len(schema) || name != schema[n].name || text.String != schema[n].sql {
			return &ledger.CorruptError{Path: path, Where: fmt.Sprintf("its schema was changed at %q", name)}
		}
	}
	if err := rows.Err(); err != nil {
		return corrupt(path, "its schema cannot be read", err)
	}
	if n != len(schema) {
		return &ledger.CorruptError{Path: path, Where: "its schema is not complete"}
	}
	return nil
}

// checkSize notices an end that is missing, which SQLite reads as zeros.
func (v *view) checkSize(c *conn) error {
	var pages int64
	if err := c.QueryRowContext(background, "PRAGMA page_count").Scan(&pages); err != nil {
		return corrupt(v.path, "its size cannot be read", err)
	}
	if v.size < pages*pageSize {
		return &ledger.CorruptError{Path: v.path, Where: fmt.Sprintf("it was cut off: %d bytes of %d", v.size, pages*pageSize)}
	}
	return nil
}

// checkPages looks for damage in the pages of the file that reading the rows
// would not meet, but the next write might.
func (v *view) checkPages() error {
	c, err := v.reader()
	if err != nil {
		return err
	}
	defer c.Close()
	var result string
	if err := c.QueryRowContext(background, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return corrupt(v.path, "its pages cannot be read", err)
	}
	if result != "ok" {
		return &ledger.CorruptError{Path: v.path, Where: result}
	}
	return nil
}

// checkRecords follows the chain from its first record to its last. The size of the file bounds how
// many there can be.
func checkRecords(c *conn, path string, size int64, tell func(done, of uint64)) (*chain.State, error) {
	state := chain.NewFor(min(expected(c), size/smallest))
	if err := follow(c, path, state, tell); err != nil {
		return nil, err
	}
	return state, nil
}

// follow follows the chain from where a state is to its last record, and tells now and then how far
// it is, where somebody wants to know.
func follow(c *conn, path string, state *chain.State, tell func(done, of uint64)) error {
	bad := func(n uint64, err error) error {
		return &ledger.CorruptError{Path: path, Where: fmt.Sprintf("record %d: %v", n, err)}
	}
	next := uint64(0)
	if last, hash := state.Head(); hash != "" {
		next = last + 1
	}
	of := uint64(expected(c))
	for batch := range readRecords(c, next) {
		if tell != nil {
			tell(next, of)
		}
		for i := range batch.rows {
			row := &batch.rows[i]
			err := row.err
			if row.sequence != int64(next) {
				return bad(next, errors.New("it is missing"))
			}
			if err == nil && row.record.Sequence != next {
				err = fmt.Errorf("it says that it is number %d", row.record.Sequence)
			}
			if err == nil {
				err = state.Check(&row.record)
			}
			if err != nil {
				return bad(next, err)
			}
			state.Apply(&row.record, row.hash)
			next++
		}
		if batch.err != nil && code(batch.err) == 0 {
			return bad(next, batch.err)
		} else if batch.err != nil {
			return corrupt(path, fmt.Sprintf("record %d cannot be read", next), batch.err)
		}
		batch.release()
	}
	if next == 0 {
		return bad(0, errors.New("it is missing"))
	}
	return nil
}

// smallest is less than a record takes on the disk.
const smallest = 128

// expected returns about how many records there are, so that memory is asked for once. It may be
// wrong.
func expected(c *conn) int64 {
	var n int64
	var hash string
	_ = c.QueryRowContext(background, selectHead).Scan(&n, &hash)
	return max(n, 0)
}

// checkHead compares the last record with the head beside it. This is what notices that
// the last record was removed.
func checkHead(c *conn, path string, state *chain.State) error {
	var n int64
	var h string
	if err := c.QueryRowContext(background, selectHead).Scan(&n, &h); err != nil {
		if code(err) == 0 {
			return &ledger.CorruptError{Path: path, Where: "its head is missing", Err: err}
		}
		return corrupt(path, "its head cannot be read", err)
	}
	sequence, hash := state.Head()
	if uint64(n) != sequence || h != hash {
		return &ledger.CorruptError{Path: path,
			Where: fmt.Sprintf("the last record is number %d, but the head says that there are %d", sequence, n)}
	}
	return nil
}
