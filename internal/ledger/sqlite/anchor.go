package sqlite

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// storeAnchor stores the anchor where one is due, with the records that were just made, or one that
// could not be stored before. The fate of the ledger itself is known, so it goes on: the same
// request gets its receipt when the anchor could be stored.
func (l *Ledger) storeAnchor(made []*chain.Link) error {
	if l.Keeper == nil {
		return nil
	}
	records := make([]*ledger.Record, len(made))
	for i, k := range made {
		records[i] = k.Record
	}
	return l.Keeper.Committed(background, l.State, records)
}

// abandon closes a ledger that is not handed out, without an anchor.
func (l *Ledger) abandon(cause error) error {
	l.Keeper = nil
	if err := l.Close(); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}
