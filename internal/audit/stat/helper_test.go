package stat

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// seeded returns sources that repeat themselves.
func seeded(seed int) func(part int) *noise.Source {
	return func(part int) *noise.Source {
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], uint64(seed))
		binary.LittleEndian.PutUint64(key[8:], uint64(part))
		return entropy.FromReader(rand.NewChaCha8(key))
	}
}
