package duckdb

import "sync"

// names64 is a set of hashes. It takes them from package bound, from several goroutines, and is
// read when all are there.
type names64 struct {
	mu    sync.Mutex
	slots []uint64 // open addressing: 0 is free
	n     int
	zero  bool // whether 0 is among them
}

// Take adds hashes.
func (t *names64) Take(_ []int32, values [][]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range values[0] {
		t.add(uint64(h))
	}
}

func (t *names64) add(h uint64) {
	if h == 0 {
		t.zero = true
		return
	}
	if 2*(t.n+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]uint64, max(64, 2*len(old)))
		for _, x := range old {
			if x != 0 {
				t.slots[t.find(x)] = x
			}
		}
	}
	if at := t.find(h); t.slots[at] == 0 {
		t.slots[at] = h
		t.n++
	}
}

// find returns where a hash is, or could be.
func (t *names64) find(h uint64) int {
	mask := uint64(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		if x := t.slots[at]; x == 0 || x == h {
			return int(at)
		}
	}
}

func (t *names64) has(h uint64) bool {
	if h == 0 || len(t.slots) == 0 {
		return t.zero && h == 0
	}
	return t.slots[t.find(h)] == h
}
