package sqlite

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/ledger"
)

// madeAgain is a checkpoint beside a ledger, made again.
type madeAgain struct {
	candidate
	checkpoint.Remade
}

// checkpoints returns the checkpoints beside the ledger, to be made again.
func (r *Reader) checkpoints() []madeAgain {
	var all []madeAgain
	for _, k := range candidates(r.path) {
		all = append(all, madeAgain{k, checkpoint.Remade{Last: k.last}})
	}
	return all
}

// checkCheckpoints returns an error where the chain vouches for a checkpoint that does not follow
// from its records. One for which it does not is not used, and is no fault.
func (r *Reader) checkCheckpoints(state *chain.State, made []madeAgain) error {
	for _, m := range made {
		_, sum, err := readCheckpoint(m.name)
		if err != nil || sum == m.Sum {
			continue
		}
		if checkpoint.Noted(state, m.last, sum, func(sequence uint64) (*ledger.Record, []byte, error) {
			return readProven(r.conn, r.path, state, sequence)
		}) != nil {
			continue
		}
		return &ledger.CorruptError{Path: r.path,
			Where: fmt.Sprintf("its checkpoint at record %d does not follow from its records", m.last)}
	}
	return nil
}
