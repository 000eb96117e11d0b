package generate

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// Dice makes choices, the same for the same name and seed. It is predictable, which is its purpose, and
// so no answer about anybody's data is ever made with it.
type Dice struct{ source *entropy.Source }

// NewDice returns the dice of a name and a seed.
func NewDice(name string, seed uint64) Dice {
	return Dice{entropy.FromReader(&stream{start: binary.BigEndian.AppendUint64([]byte(name), seed)})}
}

// Below returns a number from 0 to n-1.
func (d Dice) Below(n int) int { return int(noise.Uniform(d.source, uint64(n))) }

// one reports something that is so once in n times.
func (d Dice) one(n int) bool { return d.Below(n) == 0 }

func pick[T any](d Dice, from []T) T { return from[d.Below(len(from))] }

// stream is endless bytes: SHA-256 of a start and a counter.
type stream struct {
	start []byte
	block uint64
	left  []byte
}

// Read implements [io.Reader]. It does not fail.
func (s *stream) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if len(s.left) == 0 {
			sum := sha256.Sum256(binary.BigEndian.AppendUint64(s.start[:len(s.start):len(s.start)], s.block))
			s.left, s.block = sum[:], s.block+1
		}
		k := copy(p[n:], s.left)
		s.left, n = s.left[k:], n+k
	}
	return len(p), nil
}
