package sqlite

import (
	"database/sql/driver"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/ledger"
)

// scrub checks in the background what was left out when the ledger was opened by a checkpoint. It
// stops the ledger where it finds something.
func (l *Ledger) scrub(last uint64, sum string) {
	done, at, err := checkpoint.Scrub(last, sum, l.stop, l.scrubSome)
	switch {
	case err != nil:
		l.condemn(at, err)
	case done:
		l.Take()
		defer l.Leave()
		l.checkpoints.whole = true
		l.checkpoint()
	}
}

// scrubSome reads some records, or nothing where the ledger ends.
func (l *Ledger) scrubSome(from, n uint64) (rows []checkpoint.Row, err error) {
	l.Take()
	defer l.Leave()
	if l.Stopped() != nil || l.checkpoints.ending {
		return nil, nil
	}
	rows = make([]checkpoint.Row, 0, n)
	err = l.conn.each(selectSome, func(v []driver.Value) error {
		var r row
		err := r.fill(v)
		rows = append(rows, checkpoint.Row{Sequence: r.sequence, Body: r.body, Hash: r.hash, Answer: r.answer})
		return err
	}, int64(from), int64(n))
	return rows, err
}

// condemn stops the ledger, because a record is not what it has to be.
func (l *Ledger) condemn(sequence uint64, cause error) {
	bad := corrupt(l.Path, fmt.Sprintf("record %d cannot be read", sequence), cause)
	if code(cause) == 0 {
		bad = &ledger.CorruptError{Path: l.Path, Where: fmt.Sprintf("record %d: %v", sequence, cause)}
	}
	l.Take()
	defer l.Leave()
	if l.Stopped() == nil {
		l.Broken = &ledger.WriteError{Path: l.Path, Broken: true, Err: bad}
	}
}
