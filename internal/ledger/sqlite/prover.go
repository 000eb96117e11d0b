package sqlite

import (
	"database/sql/driver"
	"errors"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
)

// prover proves that records are those of the chain that a ledger ends with. A ledger that was
// opened by a checkpoint has not read the records before it, and reads none of them without this.
// It remembers the last block, because neighbours are often read together.
type prover struct {
	state  *chain.State
	first  uint64
	hashes []string
}

const selectHashes = `SELECT sequence, hash FROM records WHERE sequence BETWEEN ? AND ? ORDER BY sequence`

// prove proves a record that was not read when the ledger was opened.
func (l *Ledger) prove(sequence uint64, hash string) error {
	if sequence > l.State.Unread() {
		return nil
	}
	return l.prover.prove(l.conn, l.State, sequence, hash)
}

// prove returns an error unless the record has this hash in the chain.
func (p *prover) prove(c *conn, state *chain.State, sequence uint64, hash string) error {
	first, last := state.Block(sequence)
	if p.state != state || p.first != first || sequence-first >= uint64(len(p.hashes)) {
		p.state, p.first, p.hashes = nil, first, p.hashes[:0]
		err := c.each(selectHashes, func(v []driver.Value) error {
			n, number := v[0].(int64)
			text, isText := v[1].(string)
			if !number || !isText || uint64(n) != first+uint64(len(p.hashes)) {
				return errors.New("a record is missing")
			}
			p.hashes = append(p.hashes, text)
			return nil
		}, int64(first), int64(last))
		if err == nil {
			err = state.CheckBlock(first, p.hashes)
		}
		if err != nil {
			return err
		}
		p.state = state
	}
	if p.hashes[sequence-first] != hash {
		return errors.New("it is not the record of the chain that the ledger ends with")
	}
	return nil
}
