package entropy

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestOrder reads a stream in all widths and puts the bits together again: each
// bit comes once, in order.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	stream := make([]byte, 4096)
	for i := range stream {
		stream[i] = byte(rng.Uint32())
	}
	s := FromReader(bytes.NewReader(stream))
	got, total := new(big.Int), uint(0)
	for total < 8*4096-64 {
		n := rng.UintN(65)
		v := new(big.Int).SetUint64(s.Bits(n))
		if v.BitLen() > int(n) {
			t.Fatalf("Bits(%d) = %x", n, v)
		}
		got.Lsh(got, n).Or(got, v)
		total += n
	}
	want := new(big.Int).SetBytes(stream)
	if want.Rsh(want, 8*4096-total).Cmp(got) != 0 {
		t.Error("the bits are not the bits of the stream, in order")
	}
}

func TestWords(t *testing.T) {
	s := FromReader(bytes.NewReader([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}))
	if v := s.Uint32(); v != 0x01020304 {
		t.Errorf("%x", v)
	}
	if v := s.Uint64(); v != 0x05060708090a0b0c {
		t.Errorf("%x", v)
	}
}

// TestSystem looks at the buffer of a production source while it is used up: what
// has been handed out is zero, and what is left is what comes next.
func TestSystem(t *testing.T) {
	s := New()
	for range 3*bufferBytes/8 + 5 {
		if s.next < s.end {
			left := append([]byte(nil), s.buf[s.next:s.end]...)
			v := s.Uint64()
			if !bytes.Equal(new(big.Int).SetUint64(v).FillBytes(make([]byte, 8)), left[:8]) {
				t.Fatalf("%x is not the beginning of %x", v, left)
			}
		} else {
			s.Uint64()
		}
		if !bytes.Equal(s.buf[:s.next], make([]byte, s.next)) {
			t.Fatal("used bytes are kept")
		}
		if s.word != 0 || s.have != 0 {
			t.Fatal("used bits are kept")
		}
	}
	s.Bits(3)
	if s.word<<s.have != 0 {
		t.Error("the word holds more than the bits that are left")
	}
}

// TestDifferent: two sources, and two halves of one, have nothing in common. Equal
// words among these have probability below 1e-12.
func TestDifferent(t *testing.T) {
	seen := map[uint64]bool{}
	a, b := New(), New()
	for range 2000 {
		for _, v := range []uint64{a.Uint64(), b.Uint64()} {
			if seen[v] {
				t.Fatalf("%x came twice", v)
			}
			seen[v] = true
		}
	}
}

// TestReadsOnDemand: a source made for tests takes nothing ahead.
func TestReadsOnDemand(t *testing.T) {
	r := bytes.NewReader(make([]byte, 64))
	s := FromReader(r)
	for _, step := range []struct {
		bits uint
		left int
	}{{0, 64}, {1, 56}, {63, 56}, {0, 56}, {40, 48}, {24, 48}, {40, 40}, {40, 32}, {64, 24}} {
		s.Bits(step.bits)
		if r.Len() != step.left {
			t.Errorf("after %d more bits %d bytes are left, want %d", step.bits, r.Len(), step.left)
		}
	}
}

func TestFailure(t *testing.T) {
	for _, f := range []func(){
		func() { FromReader(bytes.NewReader(make([]byte, 7))).Bits(1) },
		func() { FromReader(failingReader{}).Uint64() },
		func() { New().Bits(65) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("went on without randomness")
				}
			}()
			f()
		}()
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

var _ io.Reader = failingReader{}

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

// The system's source is split into another of the system's, and nothing is taken from the first.
func TestSplitSystem(t *testing.T) {
	s := New()
	s.Uint64()
	next := s.next
	part := s.Split()
	if part.full != bufferBytes || part == s || s.next != next || part.Uint64() == s.Uint64() {
		t.Error("no source of its own")
	}
}
