package sqlite

import (
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/internal/chain"
)

// append writes the next record and returns its hash when it is on stable storage.
// Only then does the state know it.
func (l *Ledger) append(r *chain.Record, answer []byte) (string, error) {
	body := r.Encode()
	hash := chain.Hash(body)
	// What is about to be written is first read as it will be read at the next Open.
	var written chain.Record
	if err := errors.Join(written.Read(body, hash, hashOf(answer)), l.state.Check(&written)); err != nil {
		return "", fmt.Errorf("the ledger refuses its own record %d: %w", r.Sequence, err)
	}
	if err := l.commitRecord(r, body, hash, answer); err != nil {
		return "", l.failed(err)
	}
	l.state.Apply(&written, hash)
	return hash, nil
}

// commitRecord is one transaction: the record and the head, or neither.
func (l *Ledger) commitRecord(r *chain.Record, body, hash string, answer []byte) error {
	if _, err := l.begin.ExecContext(background); err != nil {
		return err
	}
	if _, err := l.insertRecord.ExecContext(background, r.Sequence, body, hash, answer); err != nil {
		return err
	}
	last, previous := l.state.Head()
	result, err := l.updateHead.ExecContext(background, r.Sequence, hash, last, previous)
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
