package sqlite

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// scrub checks in the background what a checkpoint stands for: that every record before it has its
// hash, and is the one of the chain. Nothing rests on it, because no such record is used without a
// proof; it is how damage is noticed that nobody comes across. It stops the ledger where it finds
// any.
func (l *Ledger) scrub(last uint64) {
	for from := uint64(0); from <= last; from += scrubbed {
		start := time.Now()
		if !l.scrubSome(from) {
			return
		}
		select {
		case <-l.stop:
			return
		case <-time.After(scrubRest * time.Since(start)): // charges go first
		}
	}
}

const (
	scrubbed  = 64 // records at a time, which are whole blocks
	scrubRest = 9  // of ten parts of the time
)

// scrubSome checks some records and reports whether to go on.
func (l *Ledger) scrubSome(from uint64) bool {
	l.turn <- struct{}{}
	defer l.leave()
	if l.stopped() != nil || l.checkpoints.ending {
		return false
	}
	next := from
	var hashes []string
	var bad error
	err := l.conn.each(selectSome, func(v []driver.Value) error {
		var stored row
		if bad = stored.fill(v); bad == nil {
			bad = stored.record.Read(stored.body, stored.hash, stored.answer)
		}
		if bad == nil && (stored.sequence != int64(next) || stored.record.Sequence != next) {
			bad = fmt.Errorf("it is missing")
		}
		if bad == nil {
			hashes = append(hashes, stored.hash)
			next++
		}
		return bad
	}, int64(from), int64(scrubbed))
	for first := from; first < next && bad == nil; {
		_, last := l.state.Block(first)
		bad = l.state.CheckBlock(first, hashes[first-from:min(last+1, next)-from])
		first = last + 1
	}
	switch {
	case bad != nil:
		bad = &ledger.CorruptError{Path: l.path, Where: fmt.Sprintf("record %d: %v", next, bad)}
	case err != nil:
		bad = corrupt(l.path, fmt.Sprintf("record %d cannot be read", next), err)
	case next == from:
		bad = &ledger.CorruptError{Path: l.path, Where: fmt.Sprintf("record %d: it is missing", from)}
	}
	if bad != nil {
		l.broken = &ledger.WriteError{Path: l.path, Broken: true, Err: bad}
	}
	return bad == nil
}
