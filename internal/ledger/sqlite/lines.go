package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"slices"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Lines returns the records up to one with the bytes that are stored beside them, each checked
// against its hash. It reads some at a time, so that charges do not wait.
func (l *Ledger) Lines(ctx context.Context, last uint64) iter.Seq2[chain.Stored, error] {
	return func(yield func(chain.Stored, error) bool) {
		for next := uint64(0); next <= last; {
			lines, err := l.someLines(ctx, next, min(uint64(many), last-next+1))
			for _, s := range lines {
				if !yield(s, nil) {
					return
				}
			}
			if err != nil {
				yield(chain.Stored{}, err)
				return
			}
			next += uint64(len(lines))
		}
	}
}

// someLines returns so many lines from one on, all of them or an error.
func (l *Ledger) someLines(ctx context.Context, from, n uint64) (all []chain.Stored, err error) {
	if err := l.Look(ctx); err != nil {
		return nil, err
	}
	defer l.Leave()
	err = l.conn.each(selectSome, func(v []driver.Value) error {
		var stored row
		r := new(ledger.Record)
		err := stored.fill(v)
		if err == nil {
			err = r.Read(stored.body, stored.hash, stored.answer)
		}
		if err == nil && r.Sequence != from+uint64(len(all)) {
			err = fmt.Errorf("it is record %d", r.Sequence)
		}
		answer, _ := v[3].([]byte)
		all = append(all, chain.Stored{Line: Line{Record: r, Body: stored.body, Hash: stored.hash}, Answer: slices.Clone(answer)})
		return err
	}, int64(from), int64(n))
	if err == nil && uint64(len(all)) != n {
		err = fmt.Errorf("it is missing")
	}
	for i := 0; i < len(all) && err == nil; i++ {
		err = l.prove(all[i].Record.Sequence, all[i].Hash)
	}
	if err != nil {
		return nil, &ledger.CorruptError{Path: l.Path, Where: fmt.Sprintf("records from %d on cannot be read", from), Err: err}
	}
	return all, nil
}
