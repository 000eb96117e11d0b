package sqlite

import (
	"database/sql/driver"
	"errors"
)

const selectHashes = `SELECT sequence, hash FROM records WHERE sequence BETWEEN ? AND ? ORDER BY sequence`

// prove proves a record that was not read when the ledger was opened.
func (l *Ledger) prove(sequence uint64, hash string) error {
	if sequence > l.State.Unread() {
		return nil
	}
	return l.prover.Prove(l.State, sequence, hash, l.conn.hashes)
}

// hashes returns the hashes of a range of records.
func (c *conn) hashes(first, last uint64) (all []string, err error) {
	err = c.each(selectHashes, func(v []driver.Value) error {
		n, number := v[0].(int64)
		text, isText := v[1].(string)
		if !number || !isText || uint64(n) != first+uint64(len(all)) {
			return errors.New("a record is missing")
		}
		all = append(all, text)
		return nil
	}, int64(first), int64(last))
	return all, err
}
