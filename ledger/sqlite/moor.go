package sqlite

import (
	"errors"

	"github.com/discreet-dp/discreet/ledger"
)

// hashAt returns the hash of a record. The caller has the turn, or the ledger for itself.
func (l *Ledger) hashAt(sequence uint64) (string, error) {
	_, hash, _, err := l.read(sequence)
	return hash, err
}

// moor stores the anchor where one is due, with the charges that were just made. The fate of the ledger itself is known, so it
// goes on: the same request gets its receipt when the anchor could be stored.
func (l *Ledger) moor(charged bool, charges ...*ledger.Record) error {
	if err := l.mooring.Committed(background, l.state, charges); err != nil {
		return &ledger.WriteError{Path: l.path, Charged: charged, Err: err}
	}
	return nil
}

// abandon closes a ledger that is not handed out, without an anchor.
func (l *Ledger) abandon(cause error) error {
	l.mooring = nil
	if err := l.Close(); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}
