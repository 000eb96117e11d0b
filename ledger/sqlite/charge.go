package sqlite

import (
	"context"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/internal/chain"
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
	sequence, again := l.state.Request(c.Request)
	// While an anchor cannot be stored nothing more is spent, and no receipt is given for what was spent last.
	if err := l.moor(again); err != nil {
		return ledger.Receipt{}, err
	}
	if again {
		return l.again(sequence, c)
	}
	links, err := l.state.Charge(c, l.now())
	if err != nil {
		return ledger.Receipt{}, err
	}
	if err := l.append(nil, links...); err != nil {
		return ledger.Receipt{}, err
	}
	last := links[len(links)-1]
	if err := l.moor(true, last.Record); err != nil {
		return ledger.Receipt{}, err
	}
	return chain.Receipt(last.Record, last.Hash, false), nil
}

// again returns the receipt of a request that was charged before.
func (l *Ledger) again(sequence uint64, c ledger.Charge) (ledger.Receipt, error) {
	record, hash, _, err := l.read(sequence)
	if err != nil {
		return ledger.Receipt{}, err
	}
	if differs := chain.Differs(record, c); differs != "" {
		return ledger.Receipt{}, &ledger.RequestError{Request: c.Request, Differs: differs}
	}
	return chain.Receipt(record, hash, true), nil
}
