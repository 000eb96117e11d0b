package desk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/ledger"
)

// Note implements [ledger.Ledger].
func (d *Desk) Note(ctx context.Context, session string, entry []byte) error {
	return d.NoteIf(ctx, session, entry, ledger.Provided{})
}

// NoteIf implements [ledger.Ledger].
func (d *Desk) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	if err := ledger.ValidateNote(session, entry); err != nil {
		return err
	}
	note := salted(entry)
	hash := ledger.Hash(note)
	_, err := d.submit(ctx, &request{size: len(note), decide: func(g *Group) (ledger.Receipt, error) {
		if g.unanchored != nil {
			return ledger.Receipt{}, &ledger.WriteError{Path: g.Path, Err: g.unanchored}
		}
		if err := g.paid(session); err != nil {
			return ledger.Receipt{}, err
		}
		if err := g.provided(session, p); err != nil {
			return ledger.Receipt{}, err
		}
		link, err := g.State.Note(session, hash, g.Now())
		if err != nil {
			return ledger.Receipt{}, err
		}
		return ledger.Receipt{}, g.Add(note, link)
	}})
	var failed *ledger.WriteError
	if errors.As(err, &failed) {
		failed.Charged = true // what it is about was charged before
	}
	return err
}

// provided returns an error where something does not hold that a note needs.
func (g *Group) provided(session string, p ledger.Provided) error {
	if p.Analyst != "" && g.State.Closed(p.Dataset, p.Analyst) {
		return &ledger.DoorError{Dataset: p.Dataset, Charged: true}
	}
	if p.Window != 0 {
		if now := g.State.Window(p.Dataset); now != p.Window {
			return &ledger.LapsedError{Dataset: p.Dataset, Window: p.Window, Now: now, Charged: true}
		}
	}
	if p.After == nil {
		return nil
	}
	notes, err := g.State.Notes(session)
	if err == nil && len(notes) != *p.After {
		err = ledger.ErrBehind
	}
	return err
}

// paid returns an error where a session that one charge pays for has no such charge, or none that
// pays in this window, or where the door is closed to who made it. It is decided with the note, so
// that nothing lies between the two: a note of such a session is what is told next.
func (g *Group) paid(session string) error {
	sequence, ok := ledger.NotesCharge(session)
	if !ok {
		return nil
	}
	if _, ok := g.State.AnswerOf(sequence); !ok {
		return fmt.Errorf("sequence %d: %w", sequence, ledger.ErrUnpaid)
	}
	if g.State.Before(sequence) {
		return ledger.ErrEra
	}
	if g.State.Withheld(sequence) {
		return &ledger.DoorError{Dataset: g.State.DatasetOf(sequence), Charged: true}
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
