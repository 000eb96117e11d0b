package noise

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// TestUniform counts, for all small n, the words that give each number in the
// first attempt: exactly one each.
func TestUniform(t *testing.T) {
	for n := uint64(1); n <= 300; n++ {
		width := 0
		for 1<<width < n {
			width++
		}
		seen := make([]int, n)
		for v := range uint64(1) << width {
			// Where v is refused, zeros follow, and 0 is drawn with more than width bits.
			f := &feed{head: word(v<<(64-width), 0)}
			src := entropy.FromReader(f)
			k := Uniform(src, n)
			if k >= n {
				t.Fatalf("Uniform(%d) = %d", n, k)
			}
			if v < n || k != 0 {
				seen[k]++
			}
		}
		for k, c := range seen {
			if c != 1 {
				t.Fatalf("n = %d: %d words give %d", n, c, k)
			}
		}
	}
}

func TestUniformEdges(t *testing.T) {
	f := &feed{then: 0xff}
	if v := Uniform(entropy.FromReader(f), 1); v != 0 || f.read != 0 {
		t.Errorf("Uniform(1) = %d and read %d bytes", v, f.read)
	}
	n := uint64(1)<<63 + 1
	for _, c := range []struct{ first, second, want uint64 }{
		{n - 1, 5, n - 1}, {n, 5, 5}, {math.MaxUint64, n - 1, n - 1}, {0, 5, 0},
	} {
		if v := Uniform(entropy.FromReader(&feed{head: word(c.first, c.second)}), n); v != c.want {
			t.Errorf("Uniform(2^63+1) of %x, %x is %x, want %x", c.first, c.second, v, c.want)
		}
	}
	if v := Uniform(digits(math.MaxUint64), math.MaxUint64); v != 0 {
		t.Errorf("Uniform(2^64-1) takes the refused word as %x", v)
	}
	mustPanic(t, func() { Uniform(NewSource(), 0) })
}
