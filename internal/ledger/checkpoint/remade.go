package checkpoint

import "github.com/discreet-dp/discreet/internal/ledger/chain"

// Remade is a checkpoint of a ledger that is verified from its first record on, and the hash of the
// one that follows from its records.
type Remade struct {
	Last uint64
	Sum  string
}

// Make makes the checkpoint again where the state is at its record.
func (m *Remade) Make(state *chain.State) (err error) {
	if last, _ := state.Head(); last == m.Last && last <= chain.MaxCheckpoint {
		m.Sum, err = Again(state)
	}
	return err
}
