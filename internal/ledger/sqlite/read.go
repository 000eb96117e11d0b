package sqlite

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Reader reads a ledger without being its writer. It changes nothing.
//
// It keeps the ledger locked until it is closed, so whoever reads for long makes writers wait: read
// first, then show.
type Reader struct {
	path string
	lock *lock
	view *view
	conn *conn
	last uint64
	head string

	pages  chan error // gets what is wrong with the pages, once
	looked sync.Once
	broken error
}

// Line is a record as it is stored, and Summary what follows from a ledger that checks.
type (
	Line    = chain.Line
	Summary = chain.Summary
)

// Read opens the ledger at the path for reading. It returns the errors of [Verify], but for those
// of records, which come when they are read, and of pages, which are looked at meanwhile.
//
// What a process that died left in the log is read from there, and the ledger stays as it is.
func Read(path string) (_ *Reader, err error) {
	path, exists, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, fmt.Errorf("there is no ledger at %s: %w", path, os.ErrNotExist)
	}
	r := &Reader{path: path}
	if r.lock, err = acquire(path, false); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.view, err = look(path); err != nil {
		return nil, err
	}
	if r.conn, err = r.view.reader(); err != nil {
		return nil, err
	}
	for _, err := range []error{checkSchema(r.conn, path), r.view.checkSize(r.conn), r.readHead()} {
		if err != nil {
			return nil, err
		}
	}
	r.pages = make(chan error, 1)
	go func() { r.pages <- r.view.checkPages() }()
	return r, nil
}

// checked waits for what is wrong with the pages, and returns it, or otherwise the error.
func (r *Reader) checked(err error) error {
	r.looked.Do(func() {
		if r.pages != nil {
			r.broken = <-r.pages
		}
	})
	return cmp.Or(r.broken, err)
}

func (r *Reader) readHead() error {
	var n int64
	if err := r.conn.QueryRowContext(background, selectHead).Scan(&n, &r.head); err != nil {
		if errors.Is(err, sql.ErrNoRows) || code(err) == 0 {
			return &ledger.CorruptError{Path: r.path, Where: "its head is missing", Err: err}
		}
		return corrupt(r.path, "its head cannot be read", err)
	}
	r.last = uint64(n)
	return nil
}

// Path returns the one absolute name of the ledger.
func (r *Reader) Path() string { return r.path }

// Head returns the sequence and the hash of the last record, as the head beside the records has
// them.
func (r *Reader) Head() (uint64, string) { return r.last, r.head }

// Records returns all records in their order, each checked against its hash and against the one
// before, and the last one against the head. Whether they add up is not asked here: see
// [Reader.Verify], and the package replay for a second opinion.
//
// After an error there is nothing more. It can be called again, and gives the same.
func (r *Reader) Records() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		next, previous := uint64(0), ""
		fail := func(err error) {
			yield(Line{}, r.checked(&ledger.CorruptError{Path: r.path, Where: fmt.Sprintf("record %d: %v", next, err)}))
		}
		for batch := range readRecords(r.conn, 0) {
			for i := range batch.rows {
				row := &batch.rows[i]
				if row.sequence != int64(next) {
					fail(errors.New("it is missing"))
					return
				}
				if row.err != nil {
					fail(row.err)
					return
				}
				if row.record.Sequence != next || row.record.Previous != previous {
					fail(errors.New("the record does not continue the one before"))
					return
				}
				if !yield(Line{Record: &row.record, Body: row.body, Hash: row.hash}, nil) {
					return
				}
				next, previous = next+1, row.hash
			}
			switch {
			case batch.err != nil && code(batch.err) == 0:
				fail(batch.err)
				return
			case batch.err != nil:
				yield(Line{}, r.checked(corrupt(r.path, fmt.Sprintf("record %d cannot be read", next), batch.err)))
				return
			}
			batch.release()
		}
		var err error
		if next != r.last+1 || previous != r.head {
			err = &ledger.CorruptError{Path: r.path,
				Where: fmt.Sprintf("it has %d records, and the head says that the last is number %d", next, r.last)}
		}
		if err = r.checked(err); err != nil {
			yield(Line{}, err)
		}
	}
}

// Lines returns all records in their order with the bytes that are stored beside them, each checked
// against its hash.
func (r *Reader) Lines() iter.Seq2[chain.Stored, error] {
	return func(yield func(chain.Stored, error) bool) {
		next := uint64(0)
		err := r.conn.each(selectRecords, func(v []driver.Value) error {
			var stored row
			err := stored.fill(v)
			if err == nil {
				err = stored.record.Read(stored.body, stored.hash, stored.answer)
			}
			if err == nil && stored.record.Sequence != next {
				err = errors.New("it is missing")
			}
			if err != nil {
				return err
			}
			next++
			answer, _ := v[3].([]byte)
			line := Line{Record: &stored.record, Body: stored.body, Hash: stored.hash}
			if !yield(chain.Stored{Line: line, Answer: slices.Clone(answer)}, nil) {
				return io.EOF
			}
			return nil
		}, int64(math.MinInt64))
		if err != nil && err != io.EOF {
			yield(chain.Stored{}, r.checked(&ledger.CorruptError{Path: r.path, Where: fmt.Sprintf("record %d: %v", next, err)}))
		}
	}
}

// Verify checks what [Verify] checks. It calls tell now and then with how many records were
// checked, of how many.
func (r *Reader) Verify(tell func(done, of uint64)) (Summary, error) {
	made := r.checkpoints()
	s, state, err := chain.Verify(r.path, r.Records(), func(state *chain.State) error {
		for i := range made {
			if err := made[i].Make(state); err != nil {
				return err
			}
		}
		return nil
	}, func(done uint64) {
		if tell != nil {
			tell(done, r.last)
		}
	})
	if err == nil {
		err = r.checkCheckpoints(state, made)
	}
	if err != nil {
		return Summary{}, r.checked(err)
	}
	return s, nil
}

// Close lets writers in.
func (r *Reader) Close() (err error) {
	if r.view != nil {
		r.checked(nil) // it reads the view
	}
	if r.conn != nil {
		err = r.conn.Close()
		r.conn = nil
	}
	if r.view != nil {
		err = errors.Join(err, r.view.Close())
		r.view = nil
	}
	if r.lock != nil {
		err = errors.Join(err, r.lock.release())
		r.lock = nil
	}
	return err
}
