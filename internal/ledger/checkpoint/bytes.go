package checkpoint

import (
	"bufio"
	"errors"
	"io"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
)

// Write writes the checkpoint of a state, in pieces but for the last, and returns its hash.
func Write(to io.Writer, state *chain.State) (string, error) {
	sum := NewSum()
	out := bufio.NewWriterSize(io.MultiWriter(to, sum), Piece)
	if err := errors.Join(state.Checkpoint(out), out.Flush()); err != nil {
		return "", err
	}
	return sum.Hex(), nil
}

// Again returns the hash of the checkpoint of a state.
func Again(state *chain.State) (string, error) {
	sum := NewSum()
	err := state.Checkpoint(sum)
	return sum.Hex(), err
}

// Read reads the state that so many bytes claim, and their hash.
func Read(from io.Reader, size int64) (*chain.State, string, error) {
	sum := NewSum()
	// The bytes are hashed by one processor while another takes them apart.
	r, w := newPipe()
	hashed := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(w, sum)}, struct{ io.Reader }{from}, make([]byte, Piece))
		w.close()
		hashed <- err
	}()
	state, err := chain.ReadCheckpoint(r, size)
	r.close()
	if err := errors.Join(err, <-hashed); err != nil {
		return nil, "", err
	}
	return state, sum.Hex(), nil
}
