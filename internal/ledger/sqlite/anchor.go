package sqlite

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// hashAt returns the hash of a record. The caller has the turn, or the ledger for itself.
func (l *Ledger) hashAt(sequence uint64) (string, error) {
	_, hash, _, err := l.read(sequence)
	return hash, err
}

// storeAnchor stores the anchor where one is due, with the records that were just made, or one that
// could not be stored before. The fate of the ledger itself is known, so it goes on: the same
// request gets its receipt when the anchor could be stored.
func (l *Ledger) storeAnchor(made []*chain.Link) error {
	if l.keeper == nil {
		return nil
	}
	records := make([]*ledger.Record, len(made))
	for i, k := range made {
		records[i] = k.Record
	}
	return l.keeper.Committed(background, l.state, records)
}

// abandon closes a ledger that is not handed out, without an anchor.
func (l *Ledger) abandon(cause error) error {
	l.keeper = nil
	if err := l.Close(); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// tellable returns an error where a record must not be told of before an anchor that could not be
// stored is.
func (l *Ledger) tellable(sequence uint64) error {
	if l.keeper.Covers(sequence) {
		return nil
	}
	if err := l.storeAnchor(nil); err != nil {
		return &ledger.WriteError{Path: l.path, Charged: true, Err: err}
	}
	return nil
}
