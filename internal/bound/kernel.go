package bound

import (
	"math"
	"math/bits"
	"slices"
)

// columns are rows sorted by person.
type columns struct {
	groups []int32
	starts []int32 // where each person's rows start; and the end
	ints   []int64 // who they are: keys, or
	seeds  []uint64
	// Per measure: values, nil where every row adds 1; and their upper halves, nil where the values
	// are 64 bits.
	lo, hi [][]int64
}

// kernel reduces people to what they contribute. It belongs to one goroutine.
type kernel struct {
	*layout
	// mark has, for each group, the number of the pair (person, group) that it was in last. Numbers
	// only grow, so a person's pairs are those from the person's first on, and nothing is ever
	// cleared.
	mark   []uint32
	next   uint32
	group  []int32  // of each pair
	pair   []uint32 // of each row
	ends   []uint32 // of each person, in pairs
	lo, hi [][]int64
	kept   []uint32 // the pairs that are kept
	hashes []uint64
	sorted []uint64
	totals [][]wide
}

func newKernel(l *layout) *kernel {
	k := &kernel{layout: l, mark: make([]uint32, l.Groups), next: 1}
	k.lo, k.hi = make([][]int64, len(l.fields)), make([][]int64, len(l.fields))
	for range l.fields {
		k.totals = append(k.totals, make([]wide, l.Groups))
	}
	return k
}

// run takes people's rows as a whole. Where emit is nil, what they contribute is added to the
// totals; otherwise emit is told about every pair that is kept, with person and pair.
func (k *kernel) run(c *columns, emit func(person, pair int)) {
	people := len(c.starts) - 1
	if people < 1 {
		return
	}
	k.number(c, people)
	k.sum(c)
	k.kept = k.kept[:0]
	from := uint32(0)
	for p := range people {
		before, to := len(k.kept), k.ends[p]
		if int(to-from) <= k.MaxGroups {
			for i := from; i < to; i++ {
				k.kept = append(k.kept, i)
			}
		} else {
			seed := uint64(0)
			if c.ints != nil {
				seed = k.seedInt(c.ints[p])
			} else {
				seed = c.seeds[p]
			}
			k.choose(seed, from, to)
		}
		if emit != nil {
			for _, i := range k.kept[before:] {
				emit(p, int(i))
			}
		}
		from = to
	}
	if emit == nil {
		k.add()
	}
}

// number numbers the pairs of person and group.
func (k *kernel) number(c *columns, people int) {
	rows := len(c.groups)
	if uint64(k.next)+uint64(rows) > math.MaxUint32 {
		clear(k.mark)
		k.next = 1
	}
	k.pair, k.ends, k.group = slices.Grow(k.pair[:0], rows)[:rows], slices.Grow(k.ends[:0], people)[:people],
		slices.Grow(k.group[:0], rows+1)[:rows+1]
	base, next := k.next, k.next
	mark, group := k.mark, k.group
	for p := range people {
		first := next
		from, to := c.starts[p], c.starts[p+1]
		pair := k.pair[from:to]
		for i, g := range c.groups[from:to] {
			at := mark[g]
			group[next-base] = g // it stays where the pair is new
			_, fresh := bits.Sub64(uint64(at), uint64(first), 0)
			if fresh != 0 {
				at = next
			}
			next += uint32(fresh)
			mark[g] = at
			pair[i] = at - base
		}
		k.ends[p] = next - base
	}
	k.group, k.next = group[:next-base], next
}

// sum adds up the rows of each pair.
func (k *kernel) sum(c *columns) {
	from, to := c.starts[0], c.starts[len(c.starts)-1]
	pair := k.pair[from:to]
	for m, f := range k.fields {
		if f.kind == People {
			continue
		}
		k.lo[m] = zeros(k.lo[m], len(k.group))
		lo := k.lo[m]
		switch {
		case c.lo[m] == nil:
			for _, i := range pair {
				lo[i]++
			}
		case !f.wide:
			values := c.lo[m][from:to]
			for r, i := range pair {
				lo[i] += values[r]
			}
		default:
			k.hi[m] = zeros(k.hi[m], len(k.group))
			hi := k.hi[m]
			for r, i := range pair {
				v := c.lo[m][int(from)+r]
				upper := v >> 63
				if c.hi[m] != nil {
					upper = c.hi[m][int(from)+r]
				}
				w := wide{hi[i], uint64(lo[i])}
				w.add(upper, uint64(v))
				hi[i], lo[i] = w.hi, int64(w.lo)
			}
		}
	}
}

// add clamps the partials that are kept and adds them to the totals.
func (k *kernel) add() {
	for m := range k.fields {
		f, totals := &k.fields[m], k.totals[m]
		lo, hi := k.lo[m], k.hi[m]
		switch {
		case f.kind == People:
			for _, i := range k.kept {
				totals[k.group[i]].add(0, 1)
			}
		case !f.wide:
			low, high := f.low, f.high
			for _, i := range k.kept {
				x := min(max(lo[i], low), high)
				totals[k.group[i]].add(x>>63, uint64(x))
			}
		default:
			for _, i := range k.kept {
				x := wide{hi[i], uint64(lo[i])}
				if x.less(f.lo) {
					x = f.lo
				} else if f.hi.less(x) {
					x = f.hi
				}
				totals[k.group[i]].add(x.hi, x.lo)
			}
		}
	}
}

// few is how many groups are ranked by comparing each with each, which has no branch to guess
// wrong.
const few = 24

// choose keeps the pairs of one person, from up to to, whose hashes are smallest.
func (k *kernel) choose(seed uint64, from, to uint32) {
	n := int(to - from)
	switch {
	case n > few:
		k.chooseOfMany(seed, from, to)
		return
	case k.MaxGroups <= handful:
		k.chooseFew(seed, from, to)
		return
	}
	var hash [few]uint64
	var rank [few]uint64
	for i, g := range k.group[from:to] {
		hash[i] = k.order(seed, g)
	}
	for i := 1; i < n; i++ {
		h, above := hash[i], uint64(0)
		for j, other := range hash[:i] {
			_, less := bits.Sub64(h, other, 0) // 1 where h < other
			rank[j] += less
			above += 1 - less
		}
		rank[i] = above
	}
	end := len(k.kept)
	k.kept = slices.Grow(k.kept, n)[:end+n]
	for i := range n {
		k.kept[end] = from + uint32(i)
		_, keep := bits.Sub64(rank[i], uint64(k.MaxGroups), 0)
		end += int(keep)
	}
	k.kept = k.kept[:end]
}

// handful is the largest number of groups to keep whose hashes are held in registers.
const handful = 6

// chooseFew inserts every hash into the list of the smallest, without a branch either. The list is
// always as long, and starts with as many zeros as there are places too many, which stay in front.
func (k *kernel) chooseFew(seed uint64, from, to uint32) {
	var hash [few]uint64
	var list [handful]uint64
	for i := handful - k.MaxGroups; i < handful; i++ {
		list[i] = math.MaxUint64
	}
	a, b, c, d, e, last := list[0], list[1], list[2], list[3], list[4], list[5]
	groups := k.group[from:to]
	for i, g := range groups {
		h := k.order(seed, g)
		hash[i] = h
		a, h = min(a, h), max(a, h)
		b, h = min(b, h), max(b, h)
		c, h = min(c, h), max(c, h)
		d, h = min(d, h), max(d, h)
		e, h = min(e, h), max(e, h)
		last = min(last, h)
	}
	end := len(k.kept)
	k.kept = slices.Grow(k.kept, len(groups))
	kept := k.kept[:end+len(groups)]
	for i := range groups {
		kept[end] = from + uint32(i)
		_, more := bits.Sub64(last, hash[i], 0) // 1 where the hash is larger
		end += int(1 - more)
	}
	k.kept = kept[:end]
}

func (k *kernel) chooseOfMany(seed uint64, from, to uint32) {
	k.hashes = k.hashes[:0]
	for _, g := range k.group[from:to] {
		k.hashes = append(k.hashes, k.order(seed, g))
	}
	k.sorted = append(k.sorted[:0], k.hashes...)
	slices.Sort(k.sorted)
	last := k.sorted[k.MaxGroups-1]
	for i, h := range k.hashes {
		if h <= last {
			k.kept = append(k.kept, from+uint32(i))
		}
	}
}

func zeros(s []int64, n int) []int64 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
