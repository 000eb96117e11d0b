package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/ledger"
)

// Keep implements [ledger.Ledger].
func (l *Ledger) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	if err := ledger.ValidateKey(key); err != nil {
		return err
	}
	if err := ledger.ValidateAnswer(answer); err != nil {
		return err
	}
	answerHash := ledger.Hash(answer)
	_, err := l.submit(ctx, &request{size: len(answer), decide: func(g *group) (ledger.Receipt, error) {
		kept, ok := g.state.AnswerOf(sequence)
		if !ok {
			return ledger.Receipt{}, fmt.Errorf("sequence %d: %w", sequence, ledger.ErrUnpaid)
		}
		if kept == 0 && g.state.Before(sequence) {
			return ledger.Receipt{}, fmt.Errorf("sequence %d: %w", sequence, ledger.ErrRecovered)
		}
		if kept == 0 && g.state.Withheld(sequence) {
			return ledger.Receipt{}, &ledger.DoorError{Dataset: g.state.DatasetOf(sequence), Charged: true}
		}
		if kept == 0 {
			if err := g.inWindow(sequence); err != nil {
				return ledger.Receipt{}, err
			}
			return ledger.Receipt{}, g.add(answer, g.state.Answer(sequence, key, answerHash, g.now()))
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
func (g *group) inWindow(charge uint64) error {
	if !g.state.MayLapse(charge) {
		return nil
	}
	record, _, err := g.read(charge)
	if err == nil && g.state.Lapsed(record) {
		err = lapsed(g.state, record, true)
	}
	return err
}

// Recall implements [ledger.Ledger].
func (l *Ledger) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	if err := l.enter(ctx); err != nil {
		return nil, 0, false, err
	}
	defer l.leave()
	kept, ok := l.state.Key(key)
	if !ok {
		return nil, 0, false, nil
	}
	if err := l.tellable(kept); err != nil {
		return nil, 0, false, err
	}
	record, _, answer, err := l.read(kept)
	if err != nil || !slices.Contains(ledger.Keys(record.Key), key) {
		return nil, 0, false, err
	}
	return answer, record.Charge, true, nil
}

// Answer implements [ledger.Ledger].
func (l *Ledger) Answer(ctx context.Context, request string) ([]byte, bool, error) {
	if err := l.enter(ctx); err != nil {
		return nil, false, err
	}
	defer l.leave()
	charge, ok := l.state.Request(request)
	if !ok {
		return nil, false, nil
	}
	kept, _ := l.state.AnswerOf(charge)
	if kept == 0 {
		return nil, false, nil
	}
	if err := l.tellable(kept); err != nil {
		return nil, false, err
	}
	_, _, answer, err := l.read(kept)
	if err != nil {
		return nil, false, err
	}
	return answer, true, nil
}

// read returns a record, its hash and its answer, all checked.
func (l *Ledger) read(sequence uint64) (*ledger.Record, string, []byte, error) {
	var body, hash string
	var answer []byte
	where := fmt.Sprintf("record %d cannot be read", sequence)
	if err := l.selectRecord.QueryRowContext(background, sequence).Scan(&body, &hash, &answer); err != nil {
		return nil, "", nil, corrupt(l.path, where, err)
	}
	record := new(ledger.Record)
	err := record.Read(body, hash, hashOf(answer))
	if err == nil && record.Sequence != sequence {
		err = fmt.Errorf("it is record %d", record.Sequence)
	}
	if err == nil {
		err = l.prove(sequence, hash)
	}
	if err != nil {
		return nil, "", nil, &ledger.CorruptError{Path: l.path, Where: where, Err: err}
	}
	return record, hash, answer, nil
}
