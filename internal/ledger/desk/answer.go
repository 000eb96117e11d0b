package desk

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/ledger"
)

// Keep implements [ledger.Ledger].
func (d *Desk) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	if err := ledger.ValidateKey(key); err != nil {
		return err
	}
	if err := ledger.ValidateAnswer(answer); err != nil {
		return err
	}
	answerHash := ledger.Hash(answer)
	_, err := d.submit(ctx, &request{size: len(answer), decide: func(g *Group) (ledger.Receipt, error) {
		kept, ok := g.State.AnswerOf(sequence)
		if !ok {
			return ledger.Receipt{}, fmt.Errorf("sequence %d: %w", sequence, ledger.ErrUnpaid)
		}
		if kept == 0 && g.State.Before(sequence) {
			return ledger.Receipt{}, fmt.Errorf("sequence %d: %w", sequence, ledger.ErrRecovered)
		}
		if kept == 0 && g.State.Withheld(sequence) {
			return ledger.Receipt{}, &ledger.DoorError{Dataset: g.State.DatasetOf(sequence), Charged: true}
		}
		if kept == 0 {
			if err := g.inWindow(sequence); err != nil {
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
	var failed *ledger.WriteError
	if errors.As(err, &failed) {
		failed.Charged = true // everybody has an error of their own
	}
	return err
}

// inWindow returns an error where the window of a charge has ended. It is decided with the record
// that depends on it, so that no renewal lies between the two.
func (g *Group) inWindow(charge uint64) error {
	if !g.State.MayLapse(charge) {
		return nil
	}
	record, _, err := g.read(charge)
	if err == nil && g.State.Lapsed(record) {
		err = lapsed(g.State, record, true)
	}
	return err
}
