package sqlite

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
)

// piece is how much of a checkpoint is hashed by itself. The hash of a checkpoint is that of the
// hashes of its pieces.
const piece = 1 << 20

// pieceSum hashes what is written to it, piece by piece.
type pieceSum struct {
	all, one hash.Hash
	in       int // bytes in the open piece
}

func newPieceSum() *pieceSum { return &pieceSum{all: sha256.New(), one: sha256.New()} }

func (s *pieceSum) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		some := min(len(b), piece-s.in)
		s.one.Write(b[:some])
		if s.in += some; s.in == piece {
			s.end()
		}
		b = b[some:]
	}
	return n, nil
}

func (s *pieceSum) end() {
	s.all.Write(s.one.Sum(nil))
	s.one.Reset()
	s.in = 0
}

func (s *pieceSum) sum() string {
	if s.in > 0 {
		s.end()
	}
	return hex.EncodeToString(s.all.Sum(nil))
}

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
	sum := newPieceSum()
	out := bufio.NewWriterSize(io.MultiWriter(f, sum), piece)
	if err := errors.Join(state.Checkpoint(out), out.Flush(), f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return sum.sum(), nil
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
	sum := newPieceSum()
	// The bytes are hashed by one processor while another takes them apart.
	r, w := newPipe()
	hashed := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(w, sum)}, struct{ io.Reader }{f}, make([]byte, piece))
		w.close()
		hashed <- err
	}()
	state, err := chain.ReadCheckpoint(r, info.Size())
	r.close()
	if err := errors.Join(err, <-hashed); err != nil {
		return nil, "", err
	}
	return state, sum.sum(), nil
}
