package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/ledger"
)

// Note implements [ledger.Ledger].
func (l *Ledger) Note(ctx context.Context, session string, entry []byte) error {
	return l.noteIf(ctx, session, entry, func(*group) error { return nil })
}

// NoteIn implements [ledger.Ledger].
func (l *Ledger) NoteIn(ctx context.Context, dataset string, window uint64, session string, entry []byte) error {
	return l.noteIf(ctx, session, entry, func(g *group) error {
		if now := g.state.Window(dataset); now != window {
			return &ledger.LapsedError{Dataset: dataset, Window: window, Now: now, Charged: true}
		}
		return nil
	})
}

// noteIf writes a note where nothing speaks against it then.
func (l *Ledger) noteIf(ctx context.Context, session string, entry []byte, may func(*group) error) error {
	if err := ledger.ValidateNote(session, entry); err != nil {
		return err
	}
	note := salted(entry)
	hash := ledger.Hash(note)
	_, err := l.submit(ctx, &request{size: len(note), decide: func(g *group) (ledger.Receipt, error) {
		if g.unanchored != nil {
			return ledger.Receipt{}, &ledger.WriteError{Path: g.path, Err: g.unanchored}
		}
		if err := g.paid(session); err != nil {
			return ledger.Receipt{}, err
		}
		if err := may(g); err != nil {
			return ledger.Receipt{}, err
		}
		link, err := g.state.Note(session, hash, g.now())
		if err != nil {
			return ledger.Receipt{}, err
		}
		return ledger.Receipt{}, g.add(note, link)
	}})
	var failed *ledger.WriteError
	if errors.As(err, &failed) {
		failed.Charged = true // what it is about was charged before
	}
	return err
}

// paid returns an error where a session that one charge pays for has no such charge, or none that
// pays in this window, or where the door is closed to who made it. It is decided with the note, so
// that nothing lies between the two: a note of such a session is what is told next.
func (g *group) paid(session string) error {
	sequence, ok := ledger.NotesCharge(session)
	if !ok {
		return nil
	}
	if _, ok := g.state.AnswerOf(sequence); !ok {
		return fmt.Errorf("sequence %d: %w", sequence, ledger.ErrUnpaid)
	}
	if g.state.Before(sequence) {
		return ledger.ErrEra
	}
	if g.state.Withheld(sequence) {
		return &ledger.DoorError{Dataset: g.state.DatasetOf(sequence), Charged: true}
	}
	return g.inWindow(sequence)
}

// salted puts random bytes before a note.
func salted(entry []byte) []byte {
	salt := entropy.New()
	note := make([]byte, 0, ledger.NoteSalt+len(entry))
	note = binary.BigEndian.AppendUint64(note, salt.Uint64())
	note = binary.BigEndian.AppendUint64(note, salt.Uint64())
	return append(note, entry...)
}

// notesAtOnce is how many notes one statement asks for.
const notesAtOnce = 256

// selectNotes asks for notes by their sequences, so that what lies between them is not read.
var selectNotes = `SELECT sequence, body, hash, answer FROM records WHERE sequence IN (?` + strings.Repeat(", ?", notesAtOnce-1) +
	`) ORDER BY sequence`

// Notes implements [ledger.Ledger]. It reads some at a time, so that charges do not wait for all of
// them.
func (l *Ledger) Notes(ctx context.Context, session string) ([][]byte, error) {
	sequences, err := l.notesOf(ctx, session)
	if err != nil {
		return nil, err
	}
	notes := make([][]byte, 0, len(sequences))
	for len(sequences) > 0 {
		n := min(len(sequences), notesAtOnce)
		if notes, err = l.someNotes(ctx, notes, session, sequences[:n]); err != nil {
			return nil, err
		}
		sequences = sequences[n:]
	}
	return notes, nil
}

// notesOf returns where the notes of a session are. All of them are on stable storage.
func (l *Ledger) notesOf(ctx context.Context, session string) ([]uint64, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	sequences, err := l.state.Notes(session)
	if err != nil || len(sequences) == 0 {
		return nil, err
	}
	return sequences, l.tellable(sequences[len(sequences)-1])
}

// someNotes reads notes and puts them at the end of those that were read.
func (l *Ledger) someNotes(ctx context.Context, notes [][]byte, session string, sequences []uint64) ([][]byte, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
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
		return nil, &ledger.CorruptError{Path: l.path, Where: where, Err: bad}
	case err != nil:
		return nil, corrupt(l.path, where, err)
	case read != len(sequences):
		return nil, &ledger.CorruptError{Path: l.path, Where: where}
	}
	return notes, nil
}

// Era implements [ledger.Ledger].
func (l *Ledger) Era(ctx context.Context) (string, error) {
	if err := l.enter(ctx); err != nil {
		return "", err
	}
	defer l.leave()
	return l.state.Era(), nil
}
