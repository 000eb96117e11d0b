package detrand

import (
	"fmt"
	"io"
	"testing"
)

// The same name and seed make the same bytes, however they are read; another name or seed makes
// others.
func TestStream(t *testing.T) {
	read := func(name string, seed uint64, sizes ...int) string {
		s, out := NewStream(name, seed), []byte{}
		for _, n := range sizes {
			p := make([]byte, n)
			if _, err := io.ReadFull(s, p); err != nil {
				t.Fatal(err)
			}
			out = append(out, p...)
		}
		if s.Drawn() != len(out) {
			t.Errorf("%d bytes were drawn of %d", s.Drawn(), len(out))
		}
		return fmt.Sprintf("%x", out)
	}
	whole := read("a", 1, 100)
	if read("a", 1, 1, 31, 32, 33, 3) != whole || read("a", 2, 100) == whole || read("b", 1, 100) == whole {
		t.Error("a stream is not its name and seed")
	}
}

func TestDice(t *testing.T) {
	d, seen := New("dice", 1), map[int]int{}
	for range 6000 {
		seen[d.Below(6)]++
	}
	for i := range 6 {
		if n := seen[i]; n < 800 || n > 1200 {
			t.Errorf("%d came %d times", i, n)
		}
	}
	if len(seen) != 6 || Pick(New("x", 1), []int{7}) != 7 || !d.One(1) {
		t.Error("dice that are loaded")
	}
}
