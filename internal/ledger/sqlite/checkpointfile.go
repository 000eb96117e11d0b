package sqlite

import (
	"errors"
	"os"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
)

// writeCheckpoint writes the checkpoint of a state to a file, puts it on stable storage and returns
// its hash.
func writeCheckpoint(name string, state *chain.State) (_ string, err error) {
	// Not over the old one: who reads that has a file that stays as it is.
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	sum, err := checkpoint.Write(f, state)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return sum, nil
}

// readCheckpoint reads the state that a file claims, and the hash of the file.
func readCheckpoint(name string) (*chain.State, string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	return checkpoint.Read(f, info.Size())
}
