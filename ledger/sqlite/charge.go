package sqlite

import (
	"context"

	"github.com/discreet-dp/discreet/ledger"
)

// Charge implements [ledger.Ledger].
func (l *Ledger) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if err := c.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	if err := l.enter(ctx); err != nil {
		return ledger.Receipt{}, err
	}
	defer l.leave()
	if sequence, ok := l.state.Request(c.Request); ok {
		return l.again(sequence, c)
	}
	record, err := l.state.Next(c, l.now())
	if err != nil {
		return ledger.Receipt{}, err
	}
	hash, err := l.append(record, nil)
	if err != nil {
		return ledger.Receipt{}, err
	}
	return record.Receipt(hash, false), nil
}

// again returns the receipt of a request that was charged before.
func (l *Ledger) again(sequence uint64, c ledger.Charge) (ledger.Receipt, error) {
	record, hash, _, err := l.read(sequence)
	if err != nil {
		return ledger.Receipt{}, err
	}
	if differs := record.Differs(c); differs != "" {
		return ledger.Receipt{}, &ledger.RequestError{Request: c.Request, Differs: differs}
	}
	return record.Receipt(hash, true), nil
}
