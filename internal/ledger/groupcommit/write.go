package groupcommit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

func (c *Committer) Charge(ctx context.Context, charge ledger.Charge) (ledger.Receipt, error) {
	if err := charge.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	return c.batches.submit(ctx, &request{decide: func(g *Group) (ledger.Receipt, error) {
		sequence, again := g.State.Charges.Request(charge.Request)
		// While an anchor cannot be stored nothing more is spent, and no receipt is given for what
		// was spent last.
		if g.unanchored != nil {
			return ledger.Receipt{}, &ledger.WriteError{Path: g.Path, Charged: again, Err: g.unanchored}
		}
		// What was charged before and never answered would be a new answer too.
		if again && g.State.Incidents.Closed(charge.Dataset, charge.Analyst) {
			return ledger.Receipt{}, &ledger.LockoutError{Dataset: charge.Dataset}
		}
		if again {
			return g.receiptAgain(sequence, charge)
		}
		return g.charge(charge)
	}})
}

// charge makes the records of a charge: the data's where that is another, itself, and its notes.
func (g *Group) charge(c ledger.Charge) (ledger.Receipt, error) {
	for _, key := range c.Missed {
		if _, kept := g.State.Charges.Key(key); kept {
			return ledger.Receipt{}, ledger.ErrBehind
		}
	}
	now := g.Now()
	links, err := g.State.Charge(c, now)
	for _, n := range c.Firsts {
		if err == nil {
			err = g.refuseUnless(n.Session, ledger.After(0))
		}
	}
	if err != nil {
		return ledger.Receipt{}, err
	}
	if err := g.Add(nil, links...); err != nil {
		return ledger.Receipt{}, err
	}
	last := links[len(links)-1]
	for _, n := range c.Firsts {
		note := addSalt(n.Entry(last.Record.Sequence))
		link, err := g.State.Note(n.Session, ledger.Hash(note), now)
		if err == nil {
			err = g.Add(note, link)
		}
		if err != nil { // which nothing above leaves room for
			g.err = err
			return ledger.Receipt{}, err
		}
	}
	return chain.Receipt(last.Record, last.Hash, false), nil
}

// lapsedError is the error of a charge whose window has ended.
func lapsedError(s *chain.State, charge *ledger.Record, charged bool) error {
	return &ledger.LapsedError{Request: charge.Request, Dataset: charge.Dataset, Window: charge.Window,
		Now: s.Window(charge.Dataset), Charged: charged}
}

// receiptAgain returns the receipt of a request that was charged before.
func (g *Group) receiptAgain(sequence uint64, c ledger.Charge) (ledger.Receipt, error) {
	record, hash, err := g.read(sequence)
	if err != nil {
		return ledger.Receipt{}, err
	}
	if differs := chain.Differs(record, c); differs != "" {
		return ledger.Receipt{}, &ledger.RequestError{Request: c.Request, Differs: differs}
	}
	// What has its answer has it for good. What has none gets none once its window is over.
	if kept, _ := g.State.Charges.AnswerOf(sequence); kept == 0 && g.State.Lapsed(record) {
		return ledger.Receipt{}, lapsedError(g.State, record, false)
	}
	return chain.Receipt(record, hash, true), nil
}

func (c *Committer) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	if err := ledger.ValidateKey(key); err != nil {
		return err
	}
	if err := ledger.ValidateAnswer(answer); err != nil {
		return err
	}
	answerHash := ledger.Hash(answer)
	_, err := c.batches.submit(ctx, &request{size: len(answer), decide: func(g *Group) (ledger.Receipt, error) {
		kept, ok := g.State.Charges.AnswerOf(sequence)
		if !ok {
			return ledger.Receipt{}, fmt.Errorf("sequence %d: %w", sequence, ledger.ErrUnpaid)
		}
		if kept == 0 && g.State.Notes.Before(sequence) {
			return ledger.Receipt{}, fmt.Errorf("sequence %d: %w", sequence, ledger.ErrRecovered)
		}
		if kept == 0 && g.State.Incidents.Withheld(sequence) {
			return ledger.Receipt{}, &ledger.LockoutError{Dataset: g.State.Incidents.DatasetOf(sequence), Charged: true}
		}
		if kept == 0 {
			if err := g.refuseLapsed(sequence); err != nil {
				return ledger.Receipt{}, err
			}
			return ledger.Receipt{}, g.Add(answer, g.State.Answer(sequence, key, answerHash, g.Now()))
		}
		record, _, err := g.read(kept)
		if err == nil && (record.Key != key || record.AnswerHash != answerHash) {
			err = fmt.Errorf("sequence %d: %w", sequence, ledger.ErrKept)
		}
		return ledger.Receipt{}, err
	}})
	return charged(err)
}

// charged says in the error of a write, which is its caller's own, that what it is about was
// charged before.
func charged(err error) error {
	var failed *ledger.WriteError
	if errors.As(err, &failed) {
		failed.Charged = true
	}
	return err
}

// refuseLapsed returns an error where the window of a charge has ended. It is decided with the
// record that depends on it, so that no renewal lies between the two.
func (g *Group) refuseLapsed(charge uint64) error {
	if !g.State.MayLapse(charge) {
		return nil
	}
	record, _, err := g.read(charge)
	if err == nil && g.State.Lapsed(record) {
		err = lapsedError(g.State, record, true)
	}
	return err
}

func (c *Committer) Note(ctx context.Context, session string, entry []byte) error {
	return c.NoteIf(ctx, session, entry, ledger.Provided{})
}

func (c *Committer) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	if err := ledger.ValidateNote(session, entry); err != nil {
		return err
	}
	note := addSalt(entry)
	hash := ledger.Hash(note)
	_, err := c.batches.submit(ctx, &request{size: len(note), decide: func(g *Group) (ledger.Receipt, error) {
		if g.unanchored != nil {
			return ledger.Receipt{}, &ledger.WriteError{Path: g.Path, Err: g.unanchored}
		}
		if err := g.refuseUnpaid(session); err != nil {
			return ledger.Receipt{}, err
		}
		if err := g.refuseUnless(session, p); err != nil {
			return ledger.Receipt{}, err
		}
		link, err := g.State.Note(session, hash, g.Now())
		if err != nil {
			return ledger.Receipt{}, err
		}
		return ledger.Receipt{}, g.Add(note, link)
	}})
	return charged(err)
}

// refuseUnless returns an error where something does not hold that a note needs.
func (g *Group) refuseUnless(session string, p ledger.Provided) error {
	if p.Analyst != "" && g.State.Incidents.Closed(p.Dataset, p.Analyst) {
		return &ledger.LockoutError{Dataset: p.Dataset, Charged: true}
	}
	if p.Window != 0 {
		if now := g.State.Window(p.Dataset); now != p.Window {
			return &ledger.LapsedError{Dataset: p.Dataset, Window: p.Window, Now: now, Charged: true}
		}
	}
	if p.After == nil {
		return nil
	}
	notes, err := g.State.Notes.Of(session)
	if err == nil && len(notes) != *p.After {
		err = ledger.ErrBehind
	}
	return err
}

// refuseUnpaid returns an error where a session that one charge pays for has no such charge, or
// none that pays in this window, or where its dataset is closed to who made it. It is decided with
// the note, so that nothing lies between the two: a note of such a session is what is told next.
func (g *Group) refuseUnpaid(session string) error {
	sequence, ok := ledger.NotesCharge(session)
	if !ok {
		return nil
	}
	if _, ok := g.State.Charges.AnswerOf(sequence); !ok {
		return fmt.Errorf("sequence %d: %w", sequence, ledger.ErrUnpaid)
	}
	if g.State.Notes.Before(sequence) {
		return ledger.ErrEra
	}
	if g.State.Incidents.Withheld(sequence) {
		return &ledger.LockoutError{Dataset: g.State.Incidents.DatasetOf(sequence), Charged: true}
	}
	return g.refuseLapsed(sequence)
}

func addSalt(entry []byte) []byte {
	salt := entropy.New()
	note := make([]byte, 0, ledger.NoteSalt+len(entry))
	note = binary.BigEndian.AppendUint64(note, salt.Uint64())
	note = binary.BigEndian.AppendUint64(note, salt.Uint64())
	return append(note, entry...)
}

// Fail implements [ledger.Ledger]. In a lockout nothing is written: an answer is not kept
// there, and a record that only failures leave would count them in the number of everybody's next
// receipt. A crash is recorded, because it broke every connection and is told by that.
func (c *Committer) Fail(ctx context.Context, i ledger.Incident) (tell bool, err error) {
	if err := i.Validate(); err != nil {
		return false, err
	}
	_, err = c.batches.submit(ctx, &request{decide: func(g *Group) (ledger.Receipt, error) {
		tell = !g.State.Incidents.Closed(i.Dataset, i.Analyst)
		if !tell && i.Failure != ledger.FailedCrash {
			return ledger.Receipt{}, nil
		}
		if answer, _ := g.State.Charges.AnswerOf(i.Charge); answer != 0 && g.State.Incidents.Failed(i.Charge) {
			return ledger.Receipt{}, nil
		}
		if i.Failure == ledger.FailedCrash {
			if counts, err := g.store.CountCrash(i.Dataset); err != nil || !counts {
				return ledger.Receipt{}, err
			}
		}
		return ledger.Receipt{}, g.Add(nil, g.State.Incident(i, g.Now()))
	}})
	return tell && err == nil, charged(err)
}

func (c *Committer) Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	return c.enterAt(ctx, nil, e)
}

// enterAt is Enter, and where a state is given it returns [ledger.ErrBehind] unless the ledger ends
// where that does.
func (c *Committer) enterAt(ctx context.Context, at *chain.State, e ledger.Entry) (ledger.Receipt, error) {
	if err := e.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	receipt, err := c.batches.submit(ctx, &request{decide: func(g *Group) (ledger.Receipt, error) {
		if at != nil {
			if sequence, hash := at.Head(); sequence != g.Sequence || hash != g.Hash || len(g.Links) > 0 {
				return ledger.Receipt{}, ledger.ErrBehind
			}
		}
		link, err := g.State.Entry(e, g.Now())
		if err != nil {
			return ledger.Receipt{}, err
		}
		if err := g.Add(nil, link); err != nil {
			return ledger.Receipt{}, err
		}
		return chain.Receipt(link.Record, link.Hash, false), nil
	}})
	var unsecured *ledger.WriteError
	if errors.As(err, &unsecured) && unsecured.Charged {
		err = fmt.Errorf("the entry is in the ledger %s, but %w", c.Path, unsecured.Err)
	}
	return receipt, err
}
