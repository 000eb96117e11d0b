package bound

import "slices"

// people numbers the people of a partition, in the order in which they come.
type people struct {
	*layout
	slots []slot // open addressing
	// Who they are, by number.
	ints  []int64
	seeds []uint64
	texts [][]uint64 // hash, length and bytes, inside of the records
	text  bool
}

// slot is a place in the table.
type slot struct {
	key int64  // of an integer
	id  uint32 // the number and 1; 0 is free
}

const smallest = 1 << 12

func newPeople(l *layout) *people {
	return &people{layout: l, slots: make([]slot, smallest)}
}

func (t *people) reset() {
	if len(t.slots) > 64*smallest {
		t.slots = make([]slot, smallest)
	}
	clear(t.slots)
	clear(t.texts) // they hold on to blocks
	t.ints, t.seeds, t.texts, t.text = t.ints[:0], t.seeds[:0], t.texts[:0], false
}

func (t *people) len() int { return max(len(t.ints), len(t.texts)) }

// byInt appends the numbers of the people of records that are so many words long.
func (t *people) byInt(numbers []uint32, words []uint64, step int) []uint32 {
	slots := t.slots
	mask := uint64(len(slots) - 1)
	for i := 0; i < len(words); i += step {
		person := int64(words[i])
		at := t.seedInt(person) & mask
		for slots[at].id != 0 && slots[at].key != person {
			at = (at + 1) & mask
		}
		id := slots[at].id
		if id == 0 {
			id = t.newInt(person, at)
			slots = t.slots
			mask = uint64(len(slots) - 1)
		}
		numbers = append(numbers, id-1)
	}
	return numbers
}

func (t *people) newInt(person int64, at uint64) uint32 {
	t.ints = append(t.ints, person)
	id := uint32(len(t.ints))
	t.slots[at] = slot{person, id}
	if 2*len(t.ints) > len(t.slots) {
		t.grow(func(i int) uint64 { return t.seedInt(t.ints[i]) })
	}
	return id
}

// byText returns the number of a person. The hash says where to look, the bytes who it is.
func (t *people) byText(key []uint64) uint32 {
	t.text = true
	mask := uint64(len(t.slots) - 1)
	for at := key[0] & mask; ; at = (at + 1) & mask {
		id := t.slots[at].id
		if id == 0 {
			t.texts, t.seeds = append(t.texts, key), append(t.seeds, key[0])
			id = uint32(len(t.texts))
			t.slots[at].id = id
			if 2*len(t.texts) > len(t.slots) {
				t.grow(func(i int) uint64 { return t.seeds[i] })
			}
			return id - 1
		}
		if slices.Equal(t.texts[id-1], key) {
			return id - 1
		}
	}
}

func (t *people) grow(seed func(int) uint64) {
	n := 4 * len(t.slots)
	t.slots = make([]slot, n)
	mask := uint64(n - 1)
	for i := range t.len() {
		at := seed(i) & mask
		for t.slots[at].id != 0 {
			at = (at + 1) & mask
		}
		t.slots[at].id = uint32(i + 1)
		if !t.text {
			t.slots[at].key = t.ints[i]
		}
	}
}
