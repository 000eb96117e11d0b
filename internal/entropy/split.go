package entropy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// Split returns another Source, for somebody who will draw from it at times of
// their own. What is drawn from the one does not change what the other hands out.
//
// The operating system's randomness is split by asking the system again. A
// source of [FromReader] repeats itself for a test, and so must its part: that is
// a stream made of 32 bytes of the source and of nothing else.
func (s *Source) Split() *Source {
	if s.full == size {
		return New()
	}
	var seed [32]byte
	for i := 0; i < len(seed); i += 8 {
		binary.BigEndian.PutUint64(seed[i:], s.Uint64())
	}
	return FromReader(&stretched{seed: seed})
}

// stretched is SHA-256 of a seed and a counter, for tests that repeat themselves.
type stretched struct {
	seed  [32]byte
	count uint64
	left  bytes.Reader
}

func (s *stretched) Read(p []byte) (int, error) {
	if s.left.Len() == 0 {
		block := sha256.Sum256(binary.BigEndian.AppendUint64(s.seed[:len(s.seed):len(s.seed)], s.count))
		s.count++
		s.left.Reset(block[:])
	}
	return s.left.Read(p)
}
