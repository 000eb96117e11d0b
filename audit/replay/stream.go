package replay

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// stream is the same endless bytes for the same seed: SHA-256 of a name, the seed
// and a counter. It is predictable, which is its purpose, and so no answer about
// anybody's data is ever made with it.
type stream struct {
	name  string
	seed  uint64
	block uint64
	left  []byte
	drawn int // bytes that were read
}

func newStream(name string, seed uint64) *stream { return &stream{name: name, seed: seed} }

// Read implements [io.Reader]. It does not fail.
func (s *stream) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if len(s.left) == 0 {
			text := binary.BigEndian.AppendUint64([]byte(s.name), s.seed)
			sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, s.block))
			s.left, s.block = sum[:], s.block+1
		}
		k := copy(p[n:], s.left)
		s.left, n = s.left[k:], n+k
	}
	s.drawn += len(p)
	return len(p), nil
}

// dice makes choices, the same for the same seed.
type dice struct{ source *entropy.Source }

func newDice(name string, seed uint64) dice { return dice{entropy.FromReader(newStream(name, seed))} }

func (d dice) below(n int) int { return int(noise.Uniform(d.source, uint64(n))) }

func pick[T any](d dice, from []T) T { return from[d.below(len(from))] }
