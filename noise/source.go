package noise

import "github.com/discreet-dp/discreet/internal/entropy"

// Source is a stream of random bits. It is not safe for concurrent use and must
// not be copied: every goroutine makes its own with [NewSource].
type Source = entropy.Source

// NewSource returns a Source of the operating system's randomness. Where the
// system has none the program ends (see crypto/rand.Read), because noise made of
// anything else would protect nobody.
func NewSource() *Source { return entropy.New() }
