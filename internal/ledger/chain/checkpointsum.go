package chain

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// WriteCheckpoint writes the checkpoint of a state, in pieces but for the last, and returns its
// hash.
func WriteCheckpoint(to io.Writer, state *State) (string, error) {
	sum := NewCheckpointHash()
	out := bufio.NewWriterSize(io.MultiWriter(to, sum), CheckpointPieceBytes)
	if err := errors.Join(state.EncodeCheckpoint(out), out.Flush()); err != nil {
		return "", err
	}
	return sum.Hex(), nil
}

// CheckpointSum returns the hash of the checkpoint of a state.
func CheckpointSum(state *State) (string, error) {
	sum := NewCheckpointHash()
	err := state.EncodeCheckpoint(sum)
	return sum.Hex(), err
}

// ReadCheckpoint reads the state that so many bytes claim, and their hash.
func ReadCheckpoint(from io.Reader, size int64) (*State, string, error) {
	sum := NewCheckpointHash()
	// The bytes are hashed by one processor while another takes them apart.
	r, w := newPipe()
	hashed := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(w, sum)}, struct{ io.Reader }{from}, make([]byte, CheckpointPieceBytes))
		w.close()
		hashed <- err
	}()
	state, err := decodeCheckpoint(r, size)
	r.close()
	if err := errors.Join(err, <-hashed); err != nil {
		return nil, "", err
	}
	return state, sum.Hex(), nil
}

// newPipe returns two ends of a pipe in memory that holds some pieces, so that no end waits for
// the other all the time.
func newPipe() (*pipeReader, *pipeWriter) {
	full, empty, stop := make(chan []byte, 4), make(chan []byte, 4), make(chan struct{})
	for range cap(empty) {
		empty <- nil
	}
	return &pipeReader{full: full, empty: empty, stop: stop}, &pipeWriter{full: full, empty: empty, stop: stop}
}

type pipeReader struct {
	full, empty chan []byte
	stop        chan struct{}
	piece, rest []byte
}

func (r *pipeReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.piece != nil {
			r.empty <- r.piece
		}
		next, ok := <-r.full
		if r.piece, r.rest = next, next; !ok {
			return 0, io.EOF
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// close lets the other end go on without anybody who reads.
func (r *pipeReader) close() { close(r.stop) }

type pipeWriter struct {
	full, empty chan []byte
	stop        chan struct{}
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	select {
	case piece := <-w.empty:
		w.full <- append(piece[:0], b...)
	case <-w.stop:
	}
	return len(b), nil
}

func (w *pipeWriter) close() { close(w.full) }

// CheckpointPieceBytes is how much of a checkpoint is hashed by itself. The hash of a checkpoint is
// that of the hashes of its pieces.
const CheckpointPieceBytes = 1 << 20

// CheckpointHash hashes what is written to it, piece by piece.
type CheckpointHash struct {
	all, one hash.Hash
	in       int // bytes in the open piece
}

// NewCheckpointHash returns the hash of nothing yet.
func NewCheckpointHash() *CheckpointHash {
	return &CheckpointHash{all: sha256.New(), one: sha256.New()}
}

func (s *CheckpointHash) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		some := min(len(b), CheckpointPieceBytes-s.in)
		s.one.Write(b[:some])
		if s.in += some; s.in == CheckpointPieceBytes {
			s.end()
		}
		b = b[some:]
	}
	return n, nil
}

func (s *CheckpointHash) end() {
	s.all.Write(s.one.Sum(nil))
	s.one.Reset()
	s.in = 0
}

// Hex returns the hash. Nothing is written afterwards.
func (s *CheckpointHash) Hex() string {
	if s.in > 0 {
		s.end()
	}
	return hex.EncodeToString(s.all.Sum(nil))
}
