package bound

import (
	"encoding/binary"
	"math/bits"
)

// mix is a bijection of 64 bits in which every bit of the input moves every bit of the output
// (Stafford's thirteenth variant of the finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// seedInt is the hash of a person.
func (l *layout) seedInt(person int64) uint64 { return mix(uint64(person) ^ l.s0) }

// seedText is the hash of a person whose key is text. Two texts with one hash share a seed, and
// nothing else.
func (l *layout) seedText(b []byte) uint64 {
	h := l.s0 ^ uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = fold(h^binary.LittleEndian.Uint64(b), 0x9e3779b97f4a7c15^l.s1|1)
	}
	if len(b) > 0 {
		h = fold(h^lastWord(b), 0xd6e8feb86659fd93^l.s1|1)
	}
	return mix(h)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo + a
}

// lastWord reads up to seven bytes.
func lastWord(b []byte) uint64 {
	var w uint64
	for i, c := range b {
		w |= uint64(c) << (8 * i)
	}
	return w
}

// order is the place of a group in a person's own order of all groups: for one seed no two groups
// have the same.
func (l *layout) order(seed uint64, group int32) uint64 {
	return order(l.s1, seed, group)
}

func order(s1, seed uint64, group int32) uint64 { return mix(seed + s1 + uint64(group)*phi) }

const phi = 0x9e3779b97f4a7c15

// first and next make the hash of a person and of values of theirs.
func (l *layout) first(seed uint64) uint64       { return seed ^ l.s1 }
func (l *layout) next(hash, value uint64) uint64 { return mix(hash ^ value) }

// Hash makes 128 bits of a text, so that it can be carried as two numbers, and 64 to name a group.
type Hash struct{ one, other layout }

// NewHash makes the hash of a salt.
func NewHash(salt [32]byte) *Hash {
	word := func(i int) uint64 { return mix(binary.LittleEndian.Uint64(salt[8*i:]) + uint64(i)) }
	return &Hash{layout{s0: word(0), s1: word(1)}, layout{s0: word(2), s1: word(3)}}
}

// Of returns the hash of a text. Different values that share one count as one: a function of the
// hashes moves no further than one of the values, so the sensitivity is the same.
func (h *Hash) Of(text []byte) (int64, int64) {
	return int64(h.one.seedText(text)), int64(h.other.seedText(text))
}

// Name returns half of the hash, which names a group.
func (h *Hash) Name(text []byte) uint64 { return h.one.seedText(text) }
