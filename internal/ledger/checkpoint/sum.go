package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Piece is how much of a checkpoint is hashed by itself. The hash of a checkpoint is that of the
// hashes of its pieces.
const Piece = 1 << 20

// Sum hashes what is written to it, piece by piece.
type Sum struct {
	all, one hash.Hash
	in       int // bytes in the open piece
}

// NewSum returns the hash of nothing yet.
func NewSum() *Sum { return &Sum{all: sha256.New(), one: sha256.New()} }

func (s *Sum) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		some := min(len(b), Piece-s.in)
		s.one.Write(b[:some])
		if s.in += some; s.in == Piece {
			s.end()
		}
		b = b[some:]
	}
	return n, nil
}

func (s *Sum) end() {
	s.all.Write(s.one.Sum(nil))
	s.one.Reset()
	s.in = 0
}

// Hex returns the hash. Nothing is written afterwards.
func (s *Sum) Hex() string {
	if s.in > 0 {
		s.end()
	}
	return hex.EncodeToString(s.all.Sum(nil))
}
