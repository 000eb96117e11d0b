package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
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

	pages     chan error // gets what is wrong with the pages, once
	pagesOnce sync.Once
	broken    error
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
	if r.view, err = openView(path); err != nil {
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

// withPages waits for what is wrong with the pages, and returns it, or otherwise the error.
func (r *Reader) withPages(err error) error {
	r.pagesOnce.Do(func() {
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
			yield(Line{}, r.withPages(&ledger.CorruptError{Path: r.path, Where: fmt.Sprintf("record %d: %v", next, err)}))
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
				yield(Line{}, r.withPages(corrupt(r.path, fmt.Sprintf("record %d cannot be read", next), batch.err)))
				return
			}
			batch.release()
		}
		var err error
		if next != r.last+1 || previous != r.head {
			err = &ledger.CorruptError{Path: r.path,
				Where: fmt.Sprintf("it has %d records, and the head says that the last is number %d", next, r.last)}
		}
		if err = r.withPages(err); err != nil {
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
			yield(chain.Stored{}, r.withPages(&ledger.CorruptError{Path: r.path, Where: fmt.Sprintf("record %d: %v", next, err)}))
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
		return Summary{}, r.withPages(err)
	}
	return s, nil
}

// Close lets writers in.
func (r *Reader) Close() (err error) {
	if r.view != nil {
		r.withPages(nil) // it reads the view
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

// Read returns a record, its hash and its answer, all checked.
func (l *Ledger) Read(sequence uint64) (*ledger.Record, string, []byte, error) {
	var body, hash string
	var answer []byte
	where := fmt.Sprintf("record %d cannot be read", sequence)
	if err := l.selectRecord.QueryRowContext(background, sequence).Scan(&body, &hash, &answer); err != nil {
		return nil, "", nil, corrupt(l.Path, where, err)
	}
	record := new(ledger.Record)
	err := record.Read(body, hash, chain.AnswerHash(answer))
	if err == nil && record.Sequence != sequence {
		err = fmt.Errorf("it is record %d", record.Sequence)
	}
	if err == nil {
		err = l.prove(sequence, hash)
	}
	if err != nil {
		return nil, "", nil, &ledger.CorruptError{Path: l.Path, Where: where, Err: err}
	}
	return record, hash, answer, nil
}

// notesPerQuery is how many notes one statement asks for.
const notesPerQuery = 256

// selectNotes asks for notes by their sequences, so that what lies between them is not read.
var selectNotes = `SELECT sequence, body, hash, answer FROM records WHERE sequence IN (?` + strings.Repeat(", ?", notesPerQuery-1) +
	`) ORDER BY sequence`

func (l *Ledger) Notes(ctx context.Context, session string) ([][]byte, error) {
	return l.NotesAfter(ctx, session, 0)
}

// NotesAfter implements [ledger.Ledger]. It reads some at a time, so that charges do not wait for
// all of them.
func (l *Ledger) NotesAfter(ctx context.Context, session string, after int) ([][]byte, error) {
	sequences, err := l.NotesOf(ctx, session, after)
	if err != nil {
		return nil, err
	}
	notes := make([][]byte, 0, len(sequences))
	for these := range slices.Chunk(sequences, notesPerQuery) {
		if notes, err = l.readNotes(ctx, notes, session, these); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// readNotes reads notes and puts them at the end of those that were read.
func (l *Ledger) readNotes(ctx context.Context, notes [][]byte, session string, sequences []uint64) ([][]byte, error) {
	if err := l.LockForRead(ctx); err != nil {
		return nil, err
	}
	defer l.Unlock()
	var args [notesPerQuery]driver.Value
	for i := range args {
		args[i] = int64(sequences[min(i, len(sequences)-1)]) // the last one again, which finds nothing more
	}
	var record ledger.Record
	var hashes []string
	var bad error
	read := 0
	err := l.conn.each(selectNotes, func(v []driver.Value) error {
		var stored row
		if bad = stored.fill(v); bad == nil {
			bad = record.Read(stored.body, stored.hash, stored.answer)
		}
		note, _ := v[3].([]byte)
		switch {
		case bad != nil:
		case read >= len(sequences) || record.Sequence != sequences[read] || stored.sequence != int64(record.Sequence):
			bad = fmt.Errorf("it is record %d", record.Sequence)
		case record.Kind != ledger.KindNote || record.Session != session || len(note) <= ledger.NoteSalt:
			bad = errors.New("it is not a note of this session")
		default:
			notes = append(notes, append([]byte(nil), note[ledger.NoteSalt:]...))
			hashes = append(hashes, stored.hash)
			read++
		}
		return bad
	}, args[:]...)
	for i := 0; i < len(hashes) && bad == nil; i++ {
		bad = l.prove(sequences[i], hashes[i])
	}
	where := fmt.Sprintf("record %d cannot be read", sequences[min(read, len(sequences)-1)])
	switch {
	case bad != nil:
		return nil, &ledger.CorruptError{Path: l.Path, Where: where, Err: bad}
	case err != nil:
		return nil, corrupt(l.Path, where, err)
	case read != len(sequences):
		return nil, &ledger.CorruptError{Path: l.Path, Where: where}
	}
	return notes, nil
}

// Died implements [ledger.Ledger]. A dataset with a charge whose question was canceled stays one of
// them: what a process was doing when it died is written nowhere else, and to write it would cost
// every question a commit. A charge that paid for a session never has an answer; what counts there
// is that questions of sessions have reached the engine since the last crash that was counted,
// which a process notes once.
func (l *Ledger) Died() []string {
	if !l.died || l.LockForRead(background) != nil {
		return nil
	}
	defer l.Unlock()
	return l.State.Unanswered()
}
