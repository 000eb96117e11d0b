package noise

import (
	"encoding/binary"
	"io"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// feed is a stream of chosen bytes, and then one byte for ever. It counts what
// was read, so that a test can tell which way a decision took.
type feed struct {
	head []byte
	then byte
	read int
}

func (f *feed) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = f.then
		if f.read < len(f.head) {
			p[i] = f.head[f.read]
		}
		f.read++
	}
	return len(p), nil
}

var _ io.Reader = (*feed)(nil)

// digits returns a Source whose first 64 bits are v, followed by zeros: the number
// v 2^-64 itself.
func digits(v uint64) *Source { return entropy.FromReader(&feed{head: word(v)}) }

func word(v ...uint64) []byte {
	var b []byte
	for _, w := range v {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return b
}
