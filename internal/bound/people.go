package bound

import "slices"

// people numbers the people of a partition whose keys are texts, in the order in which they come.
type people struct {
	slots []uint32   // open addressing: the number and 1; 0 is free
	seeds []uint64   // who they are, by number
	texts [][]uint64 // hash, length and bytes, inside of the records
}

const smallest = 1 << 12

func newPeople() *people { return &people{slots: make([]uint32, smallest)} }

func (t *people) reset() {
	if len(t.slots) > 64*smallest {
		t.slots = make([]uint32, smallest)
	}
	clear(t.slots)
	clear(t.texts) // they hold on to blocks
	t.seeds, t.texts = t.seeds[:0], t.texts[:0]
}

// number returns the number of a person. The hash says where to look, the bytes who it is.
func (t *people) number(key []uint64) uint32 {
	mask := uint64(len(t.slots) - 1)
	for at := key[0] & mask; ; at = (at + 1) & mask {
		id := t.slots[at]
		if id == 0 {
			t.texts, t.seeds = append(t.texts, key), append(t.seeds, key[0])
			id = uint32(len(t.texts))
			t.slots[at] = id
			if 2*len(t.texts) > len(t.slots) {
				t.grow()
			}
			return id - 1
		}
		if slices.Equal(t.texts[id-1], key) {
			return id - 1
		}
	}
}

func (t *people) grow() {
	n := 4 * len(t.slots)
	t.slots = make([]uint32, n)
	mask := uint64(n - 1)
	for i, seed := range t.seeds {
		at := seed & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(i + 1)
	}
}
