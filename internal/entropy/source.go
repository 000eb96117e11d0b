// Package entropy is the only place of Discreet that reads randomness. A [Source] hands out the
// bits of the operating system's generator, in order and each of them once.
package entropy

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// bufferBytes is how many bytes are read at once. Reading a few hundred bytes costs
// hardly more per byte than reading many thousands, and what is buffered is
// noise that exists before it is needed: the less of it, the better.
const bufferBytes = 512

// Source is a stream of random bits. Its first bit is the highest bit of its
// first byte, so that bits read one after the other are the binary digits of one
// uniform real number, whatever the widths they are read in. The samplers rely on
// this to draw a number only as far as they must know it.
//
// A Source is not safe for concurrent use, and must not be copied: two copies would hand out the
// same bits. Every goroutine makes its own. The same is true of a copy of the whole machine: a
// snapshot that is started twice repeats the few bits that were buffered.
type Source struct {
	_ noCopy

	word uint64 // the bits read last, from the top; below them all is zero
	have uint   // how many bits of word are left

	read func([]byte) // fills a slice, or does not return
	next int          // the first byte of buf that has not been used
	end  int          // the end of what was read into buf
	full int          // how much of buf to fill at once
	buf  [bufferBytes]byte
}

// New returns a Source of the operating system's randomness, crypto/rand.
//
// Where that fails there is no randomness to go on with. Since Go 1.24,
// [rand.Read] never returns an error: it ends the program, past any recover.
// We rely on it, and so a Source has no errors to return and to forget.
func New() *Source { return &Source{read: readSystem, full: bufferBytes} }

func readSystem(p []byte) {
	if _, err := rand.Read(p); err != nil {
		panic("entropy: " + err.Error()) // not reached, see New
	}
}

// FromReader returns a Source of the bytes of r, for tests and for the audit kit only. It reads
// eight bytes whenever it needs more bits and nothing ahead, and panics when r fails or ends.
//
// The samplers end with probability one on random bits. On a stream that is not
// random, such as one of ones only, they may never end.
func FromReader(r io.Reader) *Source {
	return &Source{full: 8, read: func(p []byte) {
		if _, err := io.ReadFull(r, p); err != nil {
			panic(fmt.Sprintf("entropy: the reader of this source failed: %v", err))
		}
	}}
}

func (s *Source) Uint64() uint64 { return s.Bits(64) }
func (s *Source) Uint32() uint32 { return uint32(s.Bits(32)) }

// Name returns 128 bits as text, for naming what no other may share a name with.
func (s *Source) Name() string { return fmt.Sprintf("%016x%016x", s.Uint64(), s.Uint64()) }

// Bits returns the next n bits as a number below 2^n. It is meant for n up to 64; no bits are zero.
func (s *Source) Bits(n uint) uint64 {
	if n <= s.have {
		v := s.word >> (64 - n)
		s.word <<= n
		s.have -= n
		return v
	}
	return s.spanWords(n)
}

// spanWords takes what is left of this word and the rest from the next one.
func (s *Source) spanWords(n uint) uint64 {
	if n > 64 {
		panic("entropy: at most 64 bits at a time")
	}
	if s.next == s.end {
		s.read(s.buf[:s.full])
		s.next, s.end = 0, s.full
	}
	p := s.buf[s.next : s.next+8]
	fresh := binary.BigEndian.Uint64(p)
	clear(p) // a used byte is not kept: it would tell the noise to whoever reads our memory later
	s.next += 8

	rest := n - s.have
	v := s.word>>(64-s.have)<<rest | fresh>>(64-rest)
	s.word = fresh << rest
	s.have = 64 - rest
	return v
}

// noCopy makes go vet object to copies of a Source.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Split returns another Source, for somebody who will draw from it at times of
// their own. What is drawn from the one does not change what the other hands out.
//
// The operating system's randomness is split by asking the system again. A
// source of [FromReader] repeats itself for a test, and so must its part: that is
// a stream made of 32 bytes of the source and of nothing else.
func (s *Source) Split() *Source {
	if s.full == bufferBytes {
		return New()
	}
	var seed [32]byte
	for i := 0; i < len(seed); i += 8 {
		binary.BigEndian.PutUint64(seed[i:], s.Uint64())
	}
	return FromReader(&stretchedReader{seed: seed})
}

// stretchedReader is SHA-256 of a seed and a counter, for tests that repeat themselves.
type stretchedReader struct {
	seed  [32]byte
	count uint64
	left  bytes.Reader
}

func (s *stretchedReader) Read(p []byte) (int, error) {
	if s.left.Len() == 0 {
		block := sha256.Sum256(binary.BigEndian.AppendUint64(s.seed[:len(s.seed):len(s.seed)], s.count))
		s.count++
		s.left.Reset(block[:])
	}
	return s.left.Read(p)
}
