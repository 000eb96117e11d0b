package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/ledger"
)

// notesAtOnce is how many notes one statement asks for.
const notesAtOnce = 256

// selectNotes asks for notes by their sequences, so that what lies between them is not read.
var selectNotes = `SELECT sequence, body, hash, answer FROM records WHERE sequence IN (?` + strings.Repeat(", ?", notesAtOnce-1) +
	`) ORDER BY sequence`

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
		if notes, err = l.someNotes(ctx, notes, session, these); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// someNotes reads notes and puts them at the end of those that were read.
func (l *Ledger) someNotes(ctx context.Context, notes [][]byte, session string, sequences []uint64) ([][]byte, error) {
	if err := l.Look(ctx); err != nil {
		return nil, err
	}
	defer l.Leave()
	var args [notesAtOnce]driver.Value
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
			bad = errors.New("it is no note of this session")
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
