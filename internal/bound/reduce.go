package bound

import "slices"

// reducer groups a partition's records by person and runs the kernel on them. It belongs to one
// goroutine at a time.
type reducer struct {
	*layout
	kernel *kernel
	people *people
	pool   *pool
	person []uint32 // of each record
	next   []int32  // where the next row of a person goes
	cols   columns
}

func newReducer(l *layout, p *pool) *reducer {
	r := &reducer{layout: l, kernel: newKernel(l), people: newPeople(l), pool: p}
	r.cols.lo, r.cols.hi = make([][]int64, len(l.fields)), make([][]int64, len(l.fields))
	return r
}

// round is how many words of records are sorted at once, so that a partition
// of any size takes little besides itself.
const round = 1 << 21

// finish adds what a partition's people contribute to the totals, and frees it.
func (r *reducer) finish(blocks []block, text bool) {
	if len(blocks) == 0 {
		return // most partitions of few people are, and the table of people is large to clear
	}
	blocks = r.shrink(blocks, text, round)
	r.group(blocks, text)
	r.kernel.run(&r.cols, nil)
	r.pool.put(blocks)
}

// compact replaces a partition by the partials that its people keep.
func (r *reducer) compact(blocks []block, text bool) []block {
	return r.shrink(blocks, text, 0)
}

// shrink compacts a partition, a round at a time, until it is no larger than limit or all compact.
// A round that starts with the partials of the last one is the same as if all rows had been there
// at once: see the package.
func (r *reducer) shrink(blocks []block, text bool, limit int) []block {
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
		for n < len(blocks) && (n == 0 || words < round) {
			words += len(blocks[n].words)
			n++
		}
		take := append(done, blocks[:n]...)
		blocks = blocks[n:]
		r.group(take, text)
		done = r.partials(text)
		r.pool.put(take)
	}
	return done
}

// partials runs the kernel and writes what people keep into new blocks.
func (r *reducer) partials(text bool) []block {
	var out []block
	var w []uint64
	r.kernel.run(&r.cols, func(person, pair int) {
		key := 1
		if text {
			key = len(r.people.texts[person])
		}
		if cap(w)-len(w) < key+r.partial {
			if len(w) > 0 {
				out = append(out, block{w, true})
			}
			w = r.pool.room(key + r.partial)
		}
		if text {
			w = append(w, r.people.texts[person]...)
		} else {
			w = append(w, uint64(r.people.ints[person]))
		}
		w = append(w, uint64(r.kernel.group[pair]))
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
		out = append(out, block{w, true})
	}
	return out
}

// group sorts records by person into columns.
func (r *reducer) group(blocks []block, text bool) {
	r.people.reset()
	r.person = r.person[:0]
	partials := false
	for _, b := range blocks {
		partials = partials || b.partial
		r.identify(b, text)
	}
	rows, n := len(r.person), r.people.len()
	c := &r.cols
	c.groups = slices.Grow(c.groups[:0], rows)[:rows]
	for m, f := range r.fields {
		c.lo[m], c.hi[m] = sized(c.lo[m], rows, f.half >= 0 || f.full >= 0 || f.kind == Rows && partials),
			sized(c.hi[m], rows, f.wide && partials)
	}
	// Count, then place: a person's rows follow each other.
	c.starts = slices.Grow(c.starts[:0], n+1)[:n+1]
	clear(c.starts)
	for _, p := range r.person {
		c.starts[p+1]++
	}
	for p := range n {
		c.starts[p+1] += c.starts[p]
	}
	r.next = append(r.next[:0], c.starts[:n]...)
	c.ints, c.seeds = r.people.ints, nil
	if text {
		c.ints, c.seeds = nil, r.people.seeds
	}
	row := 0
	for _, b := range blocks {
		switch {
		case b.partial:
			row = r.placePartials(b, text, row)
		case !text && r.payload == 1:
			row = r.placeSlim(b, row)
		default:
			row = r.placeRows(b, text, row)
		}
	}
}

// sized returns a column of n places, or nil where none is needed.
func sized(s []int64, n int, needed bool) []int64 {
	if !needed {
		return nil
	}
	return slices.Grow(s[:0], n)[:n]
}

// identify finds out who the records of a block are about.
func (r *reducer) identify(b block, text bool) {
	after := r.payload
	if b.partial {
		after = r.partial
	}
	w := b.words
	if !text {
		r.person = r.people.byInt(r.person, w, 1+after)
		return
	}
	for len(w) > 0 {
		key := keyWords(w)
		r.person = append(r.person, r.people.byText(w[:key:key]))
		w = w[key+after:]
	}
}

// keyWords returns how many words the person of a text record takes.
func keyWords(w []uint64) int { return 2 + int((w[1]+7)/8) }

// place returns where the next record goes.
func (r *reducer) place(row int) int32 {
	p := r.person[row]
	at := r.next[p]
	r.next[p]++
	return at
}

func (r *reducer) placeSlim(b block, row int) int {
	var values []int64
	for m, f := range r.fields {
		if f.half == 0 {
			values = r.cols.lo[m]
		}
		if f.kind == Rows && r.cols.lo[m] != nil || r.cols.hi[m] != nil {
			return r.placeRows(b, false, row) // together with partials
		}
	}
	people, next, groups := r.person[row:], r.next, r.cols.groups
	for i := 1; i < len(b.words); i += 2 {
		p, x := people[i/2], b.words[i]
		at := next[p]
		next[p] = at + 1
		groups[at] = int32(uint32(x))
		if values != nil {
			values[at] = int64(x) >> 32
		}
	}
	return row + len(b.words)/2
}

func (r *reducer) placeRows(b block, text bool, row int) int {
	w := b.words
	for len(w) > 0 {
		key := 1
		if text {
			key = keyWords(w)
		}
		x := w[key : key+r.payload]
		w = w[key+r.payload:]
		at := r.place(row)
		row++
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
			if r.cols.lo[m] != nil {
				r.cols.lo[m][at] = v
			}
			if r.cols.hi[m] != nil {
				r.cols.hi[m][at] = v >> 63
			}
		}
	}
	return row
}

func (r *reducer) placePartials(b block, text bool, row int) int {
	w := b.words
	for len(w) > 0 {
		key := 1
		if text {
			key = keyWords(w)
		}
		x := w[key : key+r.partial]
		w = w[key+r.partial:]
		at := r.place(row)
		row++
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
	return row
}
