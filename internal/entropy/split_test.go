package entropy

import (
	"math/rand/v2"
	"testing"
)

// A part of a source that repeats itself repeats itself, and neither the source nor
// the part changes with what is drawn from the other.
func TestSplitRepeats(t *testing.T) {
	make := func() (*Source, *Source) {
		s := FromReader(rand.NewChaCha8([32]byte{7}))
		s.Bits(13)
		return s, s.Split()
	}
	words := func(s *Source) (out [100]uint64) {
		for i := range out {
			out[i] = s.Uint64()
		}
		return out
	}
	s, part := make()
	first, second := words(s), words(part)
	s, part = make()
	if words(part) != second || words(s) != first {
		t.Error("the order of drawing changes what is drawn")
	}
	if first == second {
		t.Error("the part is the source again")
	}
	s, part = make()
	if words(part) == words(s.Split()) {
		t.Error("two parts are the same")
	}
	seen := map[uint64]bool{}
	for _, w := range second {
		seen[w] = true
	}
	if len(seen) != len(second) {
		t.Error("the part repeats words")
	}
}

// The system's source is split into another of the system's, and nothing is taken
// from the first.
func TestSplitSystem(t *testing.T) {
	s := New()
	s.Uint64()
	next := s.next
	part := s.Split()
	if part.full != size || part == s || s.next != next || part.Uint64() == s.Uint64() {
		t.Error("no source of its own")
	}
}
