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
