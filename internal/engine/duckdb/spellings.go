package duckdb

import "bytes"

// spellings numbers texts, in the order in which they come. Whoever asks brings the hash, which
// says where to look; the bytes say whether it is the same.
type spellings struct {
	hashes []uint64
	ends   []int
	bytes  []byte
	slots  []int32 // open addressing: the number and 1; 0 is free
	shared bool    // whether two texts have one hash
}

func (t *spellings) len() int { return len(t.hashes) }

// of returns the text of a number.
func (t *spellings) of(n int32) []byte {
	from := 0
	if n > 0 {
		from = t.ends[n-1]
	}
	return t.bytes[from:t.ends[n]]
}

// find returns the number of a text, or -1.
func (t *spellings) find(hash uint64, text []byte) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		n := t.slots[at] - 1
		if n < 0 || t.hashes[n] == hash && bytes.Equal(t.of(n), text) {
			return n
		}
	}
}

// add returns the number of a text, which may be new.
func (t *spellings) add(hash uint64, text []byte) int32 {
	if n := t.find(hash, text); n >= 0 {
		return n
	}
	if 2*(len(t.hashes)+1) > len(t.slots) {
		t.slots = make([]int32, max(64, 2*len(t.slots)))
		for n, h := range t.hashes {
			t.place(h, int32(n))
		}
	}
	n := int32(len(t.hashes))
	t.hashes, t.bytes = append(t.hashes, hash), append(t.bytes, text...)
	t.ends = append(t.ends, len(t.bytes))
	t.place(hash, n)
	return n
}

func (t *spellings) place(hash uint64, n int32) {
	mask := uint64(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		t.shared = t.shared || t.hashes[t.slots[at]-1] == hash
		at = (at + 1) & mask
	}
	t.slots[at] = n + 1
}
