package bound

import "slices"

// columns are rows sorted by person.
type columns struct {
	groups []int32
	starts []int32  // where each person's rows start; and the end
	seeds  []uint64 // the hashes of the people
	// Per measure: values of 32 bits, or of 64, or neither where every row adds 1; and the upper
	// halves of those that have 128.
	small  [][]uint32
	lo, hi [][]int64
	room   *columns // what is not in use
}

func newColumns(l *layout) columns {
	n := len(l.fields)
	return columns{small: make([][]uint32, n), lo: make([][]int64, n), hi: make([][]int64, n),
		room: &columns{small: make([][]uint32, n), lo: make([][]int64, n), hi: make([][]int64, n)}}
}

// size makes room for so many rows. Where there are partials among them, every measure but People
// has values of its own.
func (c *columns) size(l *layout, rows int, partials bool) {
	c.groups = slices.Grow(c.groups[:0], rows)[:rows]
	for m, f := range l.fields {
		valued := f.half >= 0 || f.full >= 0
		c.small[m] = sized(&c.room.small[m], rows, f.half >= 0 && !partials)
		c.lo[m] = sized(&c.room.lo[m], rows, f.full >= 0 || partials && (valued || f.kind == Rows))
		c.hi[m] = sized(&c.room.hi[m], rows, f.wide && partials)
	}
}

// sized returns a column of n places, or nil where none is needed.
func sized[T any](room *[]T, n int, needed bool) []T {
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
			r.cols.groups[at] = int32(b.words[i] & (parts - 1))
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
