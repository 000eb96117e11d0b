package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"

	"github.com/discreet-dp/discreet/ledger"
)

// Records implements [ledger.Ledger]. It reads some at a time, so that charges do not wait for a
// caller that takes its time.
func (l *Ledger) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for n := few; ; n = many {
			some, err := l.some(ctx, from, n)
			for _, r := range some {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(some) == 0 {
				return
			}
			from += uint64(len(some))
		}
	}
}

// How many records are read at a time: few first, for a caller that wants only one.
const few, many = int64(4), int64(256)

const selectSome = `SELECT sequence, body, hash, answer FROM records WHERE sequence >= ? ORDER BY sequence LIMIT ?`

// some returns the next records, or none after the last one.
func (l *Ledger) some(ctx context.Context, from uint64, n int64) ([]*ledger.Record, error) {
	if err := l.Look(ctx); err != nil {
		return nil, err
	}
	defer l.Leave()
	last, _ := l.State.Head()
	if from > last {
		return nil, nil
	}
	var some []*ledger.Record
	var hashes []string
	var bad error
	err := l.conn.each(selectSome, func(v []driver.Value) error {
		var stored row
		r := new(ledger.Record)
		if bad = stored.fill(v); bad == nil {
			bad = r.Read(stored.body, stored.hash, stored.answer)
		}
		if bad == nil && (r.Sequence != from+uint64(len(some)) || stored.sequence != int64(r.Sequence)) {
			bad = fmt.Errorf("it is record %d", r.Sequence)
		}
		if bad == nil {
			hashes = append(hashes, stored.hash)
			some = append(some, r)
		}
		return bad
	}, int64(from), n)
	for i := 0; i < len(some) && err == nil; i++ {
		if bad = l.prove(from+uint64(i), hashes[i]); bad != nil {
			some, err = some[:i], bad
		}
	}
	where := fmt.Sprintf("record %d cannot be read", from+uint64(len(some)))
	switch {
	case bad != nil:
		return some, &ledger.CorruptError{Path: l.Path, Where: where, Err: bad}
	case err != nil:
		return some, corrupt(l.Path, where, err)
	case len(some) == 0:
		return nil, &ledger.CorruptError{Path: l.Path, Where: where}
	}
	return some, nil
}
