package bound

import (
	"math"
	"math/bits"
	"slices"
)

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
	if len(c.starts) < 2 {
		return
	}
	k.number(c)
	k.reduce(c, emit)
}

// reduce adds up the pairs that are numbered, chooses among each person's, and hands on what is
// kept.
func (k *kernel) reduce(c *columns, emit func(person, pair int)) {
	k.sum(c)
	k.kept = k.kept[:0]
	from := uint32(0)
	for p, to := range k.ends {
		before := len(k.kept)
		if int(to-from) <= k.MaxGroups {
			for i := from; i < to; i++ {
				k.kept = append(k.kept, i)
			}
		} else {
			k.choose(c.seeds[p], from, to)
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

// prepare makes room for the pairs of so many rows and people, with one to spare.
func (k *kernel) prepare(rows, people int) {
	if uint64(k.next)+uint64(rows) > math.MaxUint32 {
		clear(k.mark)
		k.next = 1
	}
	k.pair, k.ends, k.group = slices.Grow(k.pair[:0], rows)[:rows], slices.Grow(k.ends[:0], people+1)[:people+1],
		slices.Grow(k.group[:0], rows+1)[:rows+1]
}

// number numbers the pairs of person and group.
func (k *kernel) number(c *columns) {
	people := len(c.starts) - 1
	k.prepare(len(c.groups), people)
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
	k.pair, k.ends = k.pair[c.starts[0]:c.starts[people]], k.ends[:people]
	k.group, k.next = group[:next-base], next
}

// numberKeys is number for sorted keys that have the group in their lowest bits, and finds out
// where people start on its way: without a branch that depends on it.
func (k *kernel) numberKeys(c *columns, keys []uint64, p int) {
	k.prepare(len(keys), len(keys))
	c.seeds = slices.Grow(c.seeds[:0], len(keys)+1)[:len(keys)+1]
	top := uint64(p) << (64 - partBits)
	mark, group, pair, ends, seeds := k.mark, k.group, k.pair[:len(keys)], k.ends, c.seeds
	base := k.next
	next, first := base, base
	people, now := 0, ^uint64(0) // no key has so high bits when they are shifted
	for i, key := range keys {
		x, g := key>>partBits, uint32(key&(parts-1))
		d := x ^ now
		now = x
		other := int64(d|-d) >> 63 // all ones where this is somebody else
		ends[people], seeds[people] = next-base, x|top
		people -= int(other)
		first ^= (first ^ next) & uint32(other)
		at := mark[g]
		group[next-base] = int32(g) // it stays where the pair is new
		fresh := uint32((int64(at) - int64(first)) >> 63)
		at ^= (at ^ next) & fresh
		next -= fresh
		mark[g] = at
		pair[i] = at - base
	}
	ends[people] = next - base
	k.pair, k.ends, c.seeds = pair, ends[1:people+1], seeds[:people] // each person's end is where the next one starts
	k.group, k.next = group[:next-base], next
}

// sum adds up the rows of each pair.
func (k *kernel) sum(c *columns) {
	pair := k.pair
	from := int(c.starts[0])
	to := from + len(pair)
	for m, f := range k.fields {
		if f.kind == People {
			continue
		}
		k.lo[m] = zeros(k.lo[m], len(k.group))
		lo := k.lo[m]
		switch {
		case c.small[m] != nil && !f.wide:
			values := c.small[m][from:to][:len(pair)]
			for r, i := range pair {
				lo[i] += int64(int32(values[r]))
			}
		case c.small[m] == nil && c.lo[m] == nil:
			for _, i := range pair {
				lo[i]++
			}
		case !f.wide:
			values := c.lo[m][from:to]
			for r, i := range pair {
				lo[i] += values[r]
			}
		default:
			k.sumWide(m, c, pair, from)
		}
	}
}

// sumWide adds up what may need 128 bits.
func (k *kernel) sumWide(m int, c *columns, pair []uint32, from int) {
	k.hi[m] = zeros(k.hi[m], len(k.group))
	lo, hi := k.lo[m], k.hi[m]
	for r, i := range pair {
		r += from
		v := int64(0)
		if c.small[m] != nil {
			v = int64(int32(c.small[m][r]))
		} else {
			v = c.lo[m][r]
		}
		upper := v >> 63
		if c.hi[m] != nil {
			upper = c.hi[m][r]
		}
		w := wide{hi[i], uint64(lo[i])}
		w.add(upper, uint64(v))
		hi[i], lo[i] = w.hi, int64(w.lo)
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
// The lowest bits of a hash are replaced by which pair it is of; where that leaves no order between
// the last that is kept and the first that is not, all bits are looked at.
func (k *kernel) chooseFew(seed uint64, from, to uint32) {
	const which = 1<<5 - 1 // few pairs have numbers below it
	var list [handful]uint64
	for i := handful - k.MaxGroups; i < handful; i++ {
		list[i] = math.MaxUint64
	}
	a, b, c, d, e, last, next := list[0], list[1], list[2], list[3], list[4], list[5], uint64(math.MaxUint64)
	for i, g := range k.group[from:to] {
		h := k.order(seed, g)&^which | uint64(i)
		a, h = min(a, h), max(a, h)
		b, h = min(b, h), max(b, h)
		c, h = min(c, h), max(c, h)
		d, h = min(d, h), max(d, h)
		e, h = min(e, h), max(e, h)
		last, h = min(last, h), max(last, h)
		next = min(next, h)
	}
	if (last^next)&^which == 0 {
		k.chooseOfMany(seed, from, to)
		return
	}
	list = [handful]uint64{a, b, c, d, e, last}
	for i := handful - k.MaxGroups; i < handful; i++ {
		k.kept = append(k.kept, from+uint32(list[i]&which))
	}
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
