// Package detrand makes choices that can be made again: for databases and questions that are made
// up, and for noise that a test repeats. It is predictable, which is its purpose, and so no answer
// about anybody's data is ever made with it.
package detrand

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// Stream is the same endless bytes for the same name and seed: SHA-256 of both and a counter.
type Stream struct {
	start []byte
	block uint64
	left  []byte // of sum
	drawn int

	// Kept, because to make them anew for every block takes longer than to hash it.
	input []byte
	sum   [sha256.Size]byte
}

// NewStream returns the stream of a name and a seed.
func NewStream(name string, seed uint64) *Stream {
	return &Stream{start: binary.BigEndian.AppendUint64([]byte(name), seed)}
}

// Read implements [io.Reader]. It does not fail.
func (s *Stream) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if len(s.left) == 0 {
			s.input = binary.BigEndian.AppendUint64(append(s.input[:0], s.start...), s.block)
			s.sum = sha256.Sum256(s.input)
			s.left, s.block = s.sum[:], s.block+1
		}
		k := copy(p[n:], s.left)
		s.left, n = s.left[k:], n+k
	}
	s.drawn += len(p)
	return len(p), nil
}

func (s *Stream) Drawn() int { return s.drawn }

// Choices are the same for the same name and seed.
type Choices struct{ source *entropy.Source }

// New returns the choices of a name and a seed.
func New(name string, seed uint64) Choices { return Choices{entropy.FromReader(NewStream(name, seed))} }

// Below returns a number from 0 to n-1.
func (d Choices) Below(n int) int { return int(noise.Uniform(d.source, uint64(n))) }

// One reports something that is so once in n times.
func (d Choices) One(n int) bool { return d.Below(n) == 0 }

// Pick chooses one of some.
func Pick[T any](d Choices, from []T) T { return from[d.Below(len(from))] }

// Noise returns a source that makes the same noise for the same name and seed, for databases that
// are made up.
func Noise(name string, seed uint64) *noise.Source { return entropy.FromReader(NewStream(name, seed)) }
