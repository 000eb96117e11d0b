package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/ledger"
)

const selectNotes = `SELECT sequence, body, hash, answer FROM ledger.records WHERE sequence = ANY ($1::bigint[]) ORDER BY sequence`

// notesAtOnce is how many notes one statement asks for.
const notesAtOnce = 256

// Notes implements [ledger.Ledger].
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
	for these := range slices.Chunk(sequences, notesAtOnce) {
		some, err := l.rows(ctx, selectNotes, these)
		if err != nil {
			return nil, err
		}
		for i, r := range some {
			if r.record.Sequence != these[i] || r.record.Kind != ledger.KindNote || r.record.Session != session ||
				len(r.answer) <= ledger.NoteSalt {
				return nil, l.corrupt(fmt.Sprintf("record %d is no note of this session", these[i]))
			}
			notes = append(notes, r.answer[ledger.NoteSalt:])
		}
	}
	return notes, nil
}

// row is a record with its answer, both checked.
type row struct {
	record *ledger.Record
	hash   string
	answer []byte
}

// rows returns the records with these sequences.
func (l *Ledger) rows(ctx context.Context, query string, sequences []uint64) (all []row, err error) {
	if err := l.Look(ctx); err != nil {
		return nil, err
	}
	defer l.Leave()
	wanted := make([]int64, len(sequences))
	for i, n := range sequences {
		wanted[i] = int64(n)
	}
	w := writer{l}
	err = w.persist(func() error {
		rows, err := l.conn.Query(background, l.place.in(query), wanted)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, l.read)
		if err == nil && len(all) != len(sequences) {
			err = l.corrupt(fmt.Sprintf("of %d records from %d on there are %d", len(sequences), sequences[0], len(all)))
		}
		for i := 0; i < len(all) && err == nil; i++ {
			err = l.prove(all[i].record.Sequence, all[i].hash)
		}
		return err
	})
	switch {
	case damaged(err):
		return nil, err
	case err != nil:
		return nil, w.unable(err)
	}
	return all, nil
}

// read reads a row and checks it.
func (l *Ledger) read(from pgx.CollectableRow) (row, error) {
	var sequence int64
	var body, answer []byte
	var hash string
	if err := from.Scan(&sequence, &body, &hash, &answer); err != nil {
		return row{}, err
	}
	r := new(ledger.Record)
	err := r.Read(string(body), hash, hashOf(answer))
	if err == nil && int64(r.Sequence) != sequence {
		err = errors.New("it is another one")
	}
	if err != nil {
		return row{}, &ledger.CorruptError{Path: l.Path, Where: fmt.Sprintf("record %d cannot be read", sequence), Err: err}
	}
	return row{r, hash, answer}, nil
}

// How many records are read at a time: few first, for a caller that wants only one.
const few, many = 4, 256

// Records implements [ledger.Ledger]. It reads some at a time, so that charges do not wait for a
// caller that takes its time.
func (l *Ledger) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for n := uint64(few); ; n = many {
			last, _, err := l.Head(ctx)
			if err == nil && from > last {
				return
			}
			var wanted []uint64
			for i := from; err == nil && i <= last && i < from+n; i++ {
				wanted = append(wanted, i)
			}
			var some []row
			if err == nil {
				some, err = l.rows(ctx, selectNotes, wanted)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range some {
				if !yield(r.record, nil) {
					return
				}
			}
			from += uint64(len(some))
		}
	}
}
