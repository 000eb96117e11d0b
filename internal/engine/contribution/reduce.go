package contribution

import (
	"slices"
)

// reducer groups a partition's records by person and runs the kernel on them. It belongs to one
// goroutine at a time.
type reducer struct {
	*layout
	kernel *kernel
	sorter sorter
	people *people
	pool   *pool
	person []uint32 // of each record of texts
	next   []int32  // where the next row of a person goes
	cols   columns
}

func newReducer(l *layout, p *pool) *reducer {
	return &reducer{layout: l, kernel: newKernel(l), sorter: sorter{layout: l}, people: newPeople(), pool: p, cols: newColumns(l)}
}

// roundWords is how many words of records are sorted at once, so that a partition
// of any size takes little besides itself.
const roundWords = 1 << 21

// finish adds what a partition's people contribute to the totals, and frees it.
func (r *reducer) finish(p int, blocks []block, text bool) {
	if len(blocks) == 0 {
		return // as most partitions of few people are
	}
	blocks = r.shrink(p, blocks, text, roundWords)
	r.run(p, blocks, text, nil)
	r.pool.put(blocks)
}

// compact replaces a partition by the partials that its people keep.
func (r *reducer) compact(p int, blocks []block, text bool) []block {
	return r.shrink(p, blocks, text, 0)
}

// shrink compacts a partition, a round at a time, until it is no larger than limit or all compact.
// A round that starts with the partials of the last one is the same as if all rows had been there
// at once: see the package.
func (r *reducer) shrink(p int, blocks []block, text bool, limit int) []block {
	size := 0
	for _, b := range blocks {
		size += len(b.words)
	}
	if size <= limit {
		return blocks
	}
	var done []block
	for len(blocks) > 0 {
		n, words := 0, 0
		for n < len(blocks) && (n == 0 || words < roundWords) {
			words += len(blocks[n].words)
			n++
		}
		take := append(done, blocks[:n]...)
		blocks = blocks[n:]
		done = r.partials(p, take, text)
		r.pool.put(take)
	}
	return done
}

// partials runs the kernel and writes what people keep into new blocks.
func (r *reducer) partials(p int, blocks []block, text bool) []block {
	var out []block
	var w []uint64
	r.run(p, blocks, text, func(person, pair int) {
		key := 1
		if text {
			key = len(r.people.texts[person])
		}
		if cap(w)-len(w) < key+r.partial {
			if len(w) > 0 {
				out = append(out, block{form: partials, words: w})
			}
			w = r.pool.newBlock(key + r.partial)
		}
		if text {
			w = append(w, r.people.texts[person]...)
		} else {
			w = append(w, r.cols.seeds[person])
		}
		w = append(w, uint64(r.kernel.pairs.group[pair]))
		for m, f := range r.fields {
			if f.kind == People {
				continue
			}
			w = append(w, uint64(r.kernel.lo[m][pair]))
			if f.wide {
				w = append(w, uint64(r.kernel.hi[m][pair]))
			}
		}
	})
	if len(w) > 0 {
		out = append(out, block{form: partials, words: w})
	}
	return out
}

// run groups records by person and runs the kernel on them.
func (r *reducer) run(p int, blocks []block, text bool, emit func(person, pair int)) {
	some := slices.ContainsFunc(blocks, func(b block) bool { return b.form == partials })
	if !text && !some && r.slim && !r.groupLane && emit == nil {
		r.sorter.sort(blocks, true)
		r.kernel.slim.runKeys(r.sorter.keys, r.sorter.with, p)
		return
	}
	if text {
		r.groupTexts(blocks, some)
	} else {
		r.sorter.sort(blocks, false)
		r.sorter.people(&r.cols, p)
		r.gather(blocks, some)
	}
	r.kernel.run(&r.cols, emit)
}

// columns are rows sorted by person.
type columns struct {
	groups []int32
	starts []int32  // where each person's rows start; and the end
	seeds  []uint64 // the hashes of the people
	// Per measure: values of 32 bits, or of 64, or neither where every row adds 1; and the upper
	// halves of those that have 128.
	small  [][]uint32
	lo, hi [][]int64
	spare  *columns // what is not in use
}

func newColumns(l *layout) columns {
	n := len(l.fields)
	return columns{small: make([][]uint32, n), lo: make([][]int64, n), hi: make([][]int64, n),
		spare: &columns{small: make([][]uint32, n), lo: make([][]int64, n), hi: make([][]int64, n)}}
}

// size makes room for so many rows. Where there are partials among them, every measure but People
// has values of its own.
func (c *columns) size(l *layout, rows int, partials bool) {
	c.groups = slices.Grow(c.groups[:0], rows)[:rows]
	for m, f := range l.fields {
		valued := f.half >= 0 || f.full >= 0
		c.small[m] = sizeColumn(&c.spare.small[m], rows, f.half >= 0 && !partials)
		c.lo[m] = sizeColumn(&c.spare.lo[m], rows, f.full >= 0 || partials && (valued || f.kind == Rows))
		c.hi[m] = sizeColumn(&c.spare.hi[m], rows, f.wide && partials)
	}
}

// sizeColumn returns a column of n places, or nil where none is needed.
func sizeColumn[T any](room *[]T, n int, needed bool) []T {
	if !needed {
		return nil
	}
	*room = slices.Grow((*room)[:0], n)[:n]
	return *room
}

// gather fills the columns with what the sorted records are.
func (r *reducer) gather(blocks []block, some bool) {
	r.cols.size(r.layout, len(r.sorter.keys), some)
	for at, place := range r.sorter.with {
		b, i := &blocks[place/blockWords], int(place%blockWords)
		if b.form == partials {
			r.takePartial(at, b.words[i*(1+r.partial)+1:])
			continue
		}
		lane := i
		if r.groupLane {
			r.cols.groups[at] = int32(b.lanes[i])
			lane += blockWords
		} else {
			r.cols.groups[at] = int32(b.words[i] & (partCount - 1))
		}
		for m := range r.fields {
			f := &r.fields[m]
			v := int64(1)
			switch {
			case f.half >= 0:
				v = int64(int32(b.lanes[lane]))
				lane += blockWords
			case f.full >= 0:
				v = int64(uint64(b.lanes[lane]) | uint64(b.lanes[lane+blockWords])<<32)
				lane += 2 * blockWords
			}
			r.cols.set(m, at, v)
		}
	}
}

// set writes a row's value of a measure.
func (c *columns) set(m, at int, v int64) {
	switch {
	case c.small[m] != nil:
		c.small[m][at] = uint32(v)
	case c.lo[m] != nil:
		c.lo[m][at] = v
		if c.hi[m] != nil {
			c.hi[m][at] = v >> 63
		}
	}
}

// takePartial reads a partial from behind its person.
func (r *reducer) takePartial(at int, x []uint64) {
	r.cols.groups[at] = int32(uint32(x[0]))
	x = x[1:]
	for m := range r.fields {
		f := &r.fields[m]
		if f.kind == People {
			continue
		}
		r.cols.lo[m][at] = int64(x[0])
		x = x[1:]
		if f.wide {
			r.cols.hi[m][at] = int64(x[0])
			x = x[1:]
		}
	}
}

// groupTexts sorts records of people whose keys are texts into columns: they are numbered, counted
// and placed.
func (r *reducer) groupTexts(blocks []block, some bool) {
	r.people.reset()
	r.person = r.person[:0]
	for _, b := range blocks {
		r.identify(b)
	}
	c, n := &r.cols, len(r.people.texts)
	c.size(r.layout, len(r.person), some)
	c.starts = slices.Grow(c.starts[:0], n+1)[:n+1]
	clear(c.starts)
	for _, p := range r.person {
		c.starts[p+1]++
	}
	for p := range n {
		c.starts[p+1] += c.starts[p]
	}
	r.next = append(r.next[:0], c.starts[:n]...)
	c.seeds = append(c.seeds[:0], r.people.seeds...)
	row := 0
	for _, b := range blocks {
		for w := b.words; len(w) > 0; row++ {
			w = w[keyWords(w):]
			p := r.person[row]
			at := int(r.next[p])
			r.next[p]++
			if b.form == partials {
				r.takePartial(at, w)
				w = w[r.partial:]
			} else {
				r.takeText(at, w)
				w = w[r.payload:]
			}
		}
	}
}

// identify finds out who the records of a block are about.
func (r *reducer) identify(b block) {
	after := r.payload
	if b.form == partials {
		after = r.partial
	}
	for w := b.words; len(w) > 0; {
		key := keyWords(w)
		r.person = append(r.person, r.people.number(w[:key:key]))
		w = w[key+after:]
	}
}

// keyWords returns how many words the person of a text record takes.
func keyWords(w []uint64) int { return 2 + int((w[1]+7)/8) }

// takeText reads a row from behind its person.
func (r *reducer) takeText(at int, x []uint64) {
	r.cols.groups[at] = int32(uint32(x[0]))
	for m := range r.fields {
		f := &r.fields[m]
		v := int64(1)
		switch {
		case f.half >= 0:
			n := f.half + 1
			v = int64(int32(uint32(x[n/2] >> (n % 2 * 32))))
		case f.full >= 0:
			v = int64(x[(r.halves+2)/2+f.full])
		}
		r.cols.set(m, at, v)
	}
}

// people numbers the people of a partition whose keys are texts, in the order in which they come.
type people struct {
	slots []uint32   // open addressing: the number and 1; 0 is free
	seeds []uint64   // who they are, by number
	texts [][]uint64 // hash, length and bytes, inside of the records
}

const minSlots = 1 << 12

func newPeople() *people { return &people{slots: make([]uint32, minSlots)} }

func (t *people) reset() {
	if len(t.slots) > 64*minSlots {
		t.slots = make([]uint32, minSlots)
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
