package sqlite

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// scrub does in the background what was left out when the ledger was opened by a checkpoint: it
// follows the chain from its first record to that of the checkpoint, checks everything that is
// checked without one, and makes the checkpoint again, which has to be the same. So it notices
// damage that nobody comes across, and a checkpoint that does not follow from the records, whoever
// vouched for it. It stops the ledger where it finds any.
func (l *Ledger) scrub(last uint64, sum string) {
	state, sorted := chain.New(), uint64(0)
	for next := uint64(0); next <= last; {
		start := time.Now()
		rows, err := l.scrubSome(next, last)
		if rows == nil && err == nil {
			return
		}
		if next, err = scrubRows(state, rows, next, err); err != nil {
			l.condemn(next, err)
			return
		}
		if next > sorted+sorted/4+checkpointLeast {
			state.Sort() // which takes less memory
			sorted = next
		}
		select {
		case <-l.stop:
			return
		case <-time.After(scrubRest * time.Since(start)): // charges go first
		}
	}
	again := newPieceSum()
	if err := state.Checkpoint(again); err != nil || again.sum() != sum {
		l.condemn(last, errFollows)
		return
	}
	l.Take()
	defer l.Leave()
	l.checkpoints.whole = true
	l.checkpoint()
}

var errFollows = fmt.Errorf("the checkpoint by which the ledger was opened does not follow from its records")

const (
	scrubbed  = 64 // records at a time
	scrubRest = 9  // of ten parts of the time
)

// scrubSome reads some records, or nothing where the ledger ends.
func (l *Ledger) scrubSome(from, last uint64) (rows []row, err error) {
	l.Take()
	defer l.Leave()
	if l.Stopped() != nil || l.checkpoints.ending {
		return nil, nil
	}
	n := min(scrubbed, last-from+1)
	rows = make([]row, 0, n)
	err = l.conn.each(selectSome, func(v []driver.Value) error {
		rows = append(rows, row{})
		return rows[len(rows)-1].fill(v)
	}, int64(from), int64(n))
	return rows, err
}

// scrubRows follows the chain by some records, and returns which one is next. The error is that of
// reading them, after the last one.
func scrubRows(state *chain.State, rows []row, next uint64, failed error) (uint64, error) {
	for i := range rows {
		r := &rows[i]
		if failed != nil && i == len(rows)-1 {
			return next, failed
		}
		err := r.record.Read(r.body, r.hash, r.answer)
		if err == nil && (r.sequence != int64(next) || r.record.Sequence != next) {
			err = fmt.Errorf("it is missing")
		}
		if err == nil {
			err = state.Check(&r.record)
		}
		if err != nil {
			return next, err
		}
		state.Apply(&r.record, r.hash)
		next++
	}
	if len(rows) == 0 && failed == nil {
		failed = fmt.Errorf("it is missing")
	}
	return next, failed
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
