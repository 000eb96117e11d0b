package survey

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

func amount(t testing.TB, text string) dp.Amount {
	t.Helper()
	a, err := dp.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func oracle(t testing.TB, name string, size int, epsilon string) Oracle {
	t.Helper()
	o, err := New(name, size, amount(t, epsilon))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

var names = []string{"direct", "oue", "olh", "hadamard"}

// counted is a stream that counts what was read.
type counted struct {
	r    io.Reader
	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += n
	return n, err
}

func stream(seed byte) *counted {
	var key [32]byte
	key[0] = seed
	return &counted{r: rand.NewChaCha8(key)}
}

// seeded returns a Source that is the same in every run.
func seeded(seed byte) *noise.Source { return entropy.FromReader(stream(seed)) }

// digits returns a Source of the given words, and then of zeros.
func digits(words ...uint64) *noise.Source {
	var head []byte
	for _, w := range words {
		head = binary.BigEndian.AppendUint64(head, w)
	}
	return entropy.FromReader(&feed{head})
}

type feed struct{ head []byte }

func (f *feed) Read(p []byte) (int, error) {
	clear(p)
	f.head = f.head[copy(p, f.head):]
	return len(p), nil
}

// holders returns the values of n people, of which every value holds a known share: value
// x is held by weights[x] of them, as nearly as it goes.
func holders(n int, weights ...int) []int {
	total := 0
	for _, w := range weights {
		total += w
	}
	var out []int
	for x, w := range weights {
		for range n * w / total {
			out = append(out, x)
		}
	}
	for len(out) < n {
		out = append(out, 0)
	}
	return out
}
