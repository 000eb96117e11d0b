package sqlite

import (
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/internal/chain"
)

// append writes the next records and returns when they are on stable storage. Only then does the state know them. The answer,
// where there is one, belongs to the only record.
func (l *Ledger) append(answer []byte, links ...*chain.Link) error {
	if err := l.commitLinks(answer, links); err != nil {
		return l.failed(err)
	}
	for _, k := range links {
		// What was written is read as it will be read at the next Open.
		var written ledger.Record
		if err := errors.Join(written.Read(k.Body, k.Hash, hashOf(answer)), l.state.Check(&written)); err != nil {
			return fmt.Errorf("the ledger refuses its own record %d: %w", k.Record.Sequence, err)
		}
		l.state.Apply(&written, k.Hash)
	}
	return nil
}

// commitLinks is one transaction: the records and the head, or neither.
func (l *Ledger) commitLinks(answer []byte, links []*chain.Link) error {
	if _, err := l.begin.ExecContext(background); err != nil {
		return err
	}
	for _, k := range links {
		if _, err := l.insertRecord.ExecContext(background, k.Record.Sequence, k.Body, k.Hash, answer); err != nil {
			return err
		}
	}
	sequence, previous := l.state.Head()
	last := links[len(links)-1]
	result, err := l.updateHead.ExecContext(background, last.Record.Sequence, last.Hash, sequence, previous)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errors.New("the head in the file is not the head of this ledger"), err)
	}
	_, err = l.commit.ExecContext(background)
	return err
}

// failed decides what a failed write means. A full disk is noticed before
// anything changed, so after a rollback the ledger can go on if the file proves to be as it
// was. Any other failure, above all of fsync, stops this ledger for good: the
// kernel may have dropped what it could not write and report success the next time,
// so to try again would be to confirm what is not there (Rebello et al. 2020, "Can
// Applications Recover from fsync Failures?").
func (l *Ledger) failed(cause error) error {
	l.broken = &ledger.WriteError{Path: l.path, Broken: true, Err: cause}
	if code(cause)&0xff != sqlite3.SQLITE_FULL {
		return l.broken
	}
	// SQLite may have rolled back by itself, so an error here says nothing.
	_, _ = l.conn.ExecContext(background, "ROLLBACK")
	if err := checkHead(l.conn, l.path, l.state); err != nil {
		return l.broken
	}
	l.broken = nil
	return &ledger.WriteError{Path: l.path, Err: cause}
}
