package contribution

import (
	"math"
	"math/bits"
	"slices"
)

// kernel reduces people to what they contribute. It belongs to one goroutine.
type kernel struct {
	*layout
	pairs  pairTable
	lo, hi [][]int64 // of each pair, by measure
	totals totals
	slim   slimKernel
	spans  combinationCounts
	picker picker
}

// pairTable numbers the pairs of person and group, and chooses those that each person keeps.
type pairTable struct {
	*layout
	// mark has, for each group, the last person who was in it, in the upper half, and the number of
	// their pair. People are counted from 1 on and on, so nothing is ever cleared.
	mark   []uint64
	last   uint64   // who was counted last
	group  []int32  // of each pair
	hash   []uint64 // of each pair: its place in the person's order
	pair   []uint32 // of each row
	ends   []uint32 // of each person, in pairs
	kept   []uint32 // the pairs that are kept
	sorted []uint64
	named  []uint32 // pairs among which the names of groups decide
}

// totals are what all people add up to, by measure and group.
type totals struct {
	fields []field
	sums   [][]wide
}

func newKernel(l *layout) *kernel {
	k := &kernel{layout: l, pairs: pairTable{layout: l, mark: make([]uint64, max(l.Groups, partCount))}, totals: totals{fields: l.fields}}
	k.lo, k.hi = make([][]int64, len(l.fields)), make([][]int64, len(l.fields))
	for range l.fields {
		if l.Pick == nil {
			k.totals.sums = append(k.totals.sums, make([]wide, l.Groups))
		}
	}
	if l.slim {
		k.slim = newSlimKernel(l, &k.pairs, &k.totals)
	}
	k.picker = picker{layout: l, pairs: &k.pairs, partials: k.lo}
	if l.Private != nil && l.Pick == nil {
		k.spans = newCombinationCounts(l.Private.Combos)
	}
	return k
}

// run takes people's rows as a whole. Where emit is nil, what they contribute is added to the
// totals; otherwise emit is told about every pair that is kept, with person and pair.
func (k *kernel) run(c *columns, emit func(person, pair int)) {
	if len(c.starts) < 2 {
		return
	}
	k.pairs.number(c)
	if k.Private != nil {
		k.pairs.hashByName(c)
	}
	if k.Pick != nil {
		k.picker.pick(c, emit)
		return
	}
	k.sum(c)
	k.keep(emit)
	if emit == nil {
		k.add()
	}
}

// keep chooses among each person's pairs, which are numbered, hashed and summed.
func (k *kernel) keep(emit func(person, pair int)) {
	switch {
	case emit != nil:
		k.pairs.keep(func(person int, kept []uint32) {
			for _, i := range kept {
				emit(person, int(i))
			}
		})
	case k.Private != nil:
		k.pairs.keep(func(_ int, kept []uint32) { k.countSpans(kept) })
	default:
		k.pairs.keep(nil)
	}
}

// keep chooses among each person's pairs, which are numbered and hashed. Where tell is not nil, it
// is told what each person keeps.
func (k *pairTable) keep(tell func(person int, kept []uint32)) {
	k.kept = slices.Grow(k.kept[:0], len(k.group)+maxRegisterGroups)
	from := uint32(0)
	for p, to := range k.ends {
		kept := k.keepOf(from, to)
		if tell != nil {
			tell(p, kept)
		}
		from = to
	}
}

// keepOf chooses among the pairs of one person, from up to to, and returns those that are kept.
func (k *pairTable) keepOf(from, to uint32) []uint32 {
	before := len(k.kept)
	switch {
	case int(to-from) <= k.MaxGroups:
		for i := from; i < to; i++ {
			k.kept = append(k.kept, i)
		}
	case k.Private != nil && k.Private.Compare != nil:
		k.chooseNamed(from, to)
	default:
		k.choose(from, to)
		k.kept = k.kept[:min(len(k.kept), before+k.MaxGroups)] // whatever hashes are
	}
	return k.kept[before:]
}

// prepare makes room for the pairs of so many rows and people, with one to spare.
func (k *pairTable) prepare(rows, people int) {
	if k.last+uint64(people) > math.MaxUint32 {
		clear(k.mark)
		k.last = 0
	}
	k.ends = slices.Grow(k.ends[:0], people+1)[:people+1]
	k.group, k.hash = slices.Grow(k.group[:0], rows+1)[:rows+1], slices.Grow(k.hash[:0], rows+1)[:rows+1]
}

// number numbers the pairs of person and group.
func (k *pairTable) number(c *columns) {
	people := len(c.starts) - 1
	k.prepare(len(c.groups), people)
	k.pair = slices.Grow(k.pair[:0], len(c.groups))[:len(c.groups)]
	mark, group, hash, next := k.mark, k.group, k.hash, uint32(0)
	for p := range people {
		who, seed := k.last+uint64(p)+1, c.seeds[p]
		from, to := c.starts[p], c.starts[p+1]
		pair := k.pair[from:to]
		for i, g := range c.groups[from:to] {
			group[next], hash[next] = g, k.order(seed, g) // they stay where the pair is new
			m := mark[g]
			fresh := uint32(int64(m>>32-who) >> 63) // all ones where it is
			at := uint32(m) ^ (uint32(m)^next)&fresh
			mark[g] = who<<32 | uint64(at)
			next -= fresh
			pair[i] = at
		}
		k.ends[p] = next
	}
	k.pair = k.pair[c.starts[0]:c.starts[people]]
	k.endNumbering(people, next)
}

// sum adds up the rows of each pair.
func (k *kernel) sum(c *columns) {
	pair := k.pairs.pair
	from := int(c.starts[0])
	to := from + len(pair)
	for m, f := range k.fields {
		if f.kind == People {
			continue
		}
		k.lo[m] = zeros(k.lo[m], len(k.pairs.group))
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
	k.hi[m] = zeros(k.hi[m], len(k.pairs.group))
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
		f, totals := &k.fields[m], k.totals.sums[m]
		lo, hi := k.lo[m], k.hi[m]
		switch {
		case f.kind == People:
		case !f.wide && f.scale > 0:
			rows := k.lo[f.by]
			for _, i := range k.pairs.kept {
				x := min(max(scaled64(lo[i], rows[i], f.scale), f.low), f.high)
				totals[k.pairs.group[i]].add(x>>63, uint64(x))
			}
		case !f.wide:
			low, high := f.low, f.high
			for _, i := range k.pairs.kept {
				x := min(max(lo[i], low), high)
				totals[k.pairs.group[i]].add(x>>63, uint64(x))
			}
		default:
			for _, i := range k.pairs.kept {
				x := wide{hi[i], uint64(lo[i])}
				if f.scale > 0 {
					x = x.scaled(k.lo[f.by][i], f.scale)
				}
				if x.less(f.lo) {
					x = f.lo
				} else if f.hi.less(x) {
					x = f.hi
				}
				totals[k.pairs.group[i]].add(x.hi, x.lo)
			}
		}
	}
	k.totals.addPeople(k.pairs.group, k.pairs.kept)
}

// addPeople counts those who keep a group, by the pairs that are kept.
func (t *totals) addPeople(groups []int32, kept []uint32) {
	for m, f := range t.fields {
		if f.kind != People {
			continue
		}
		for _, i := range kept {
			t.sums[m][groups[i]].add(0, 1)
		}
	}
}

// addPerson counts somebody who keeps a group.
func (t *totals) addPerson(group int32) {
	for m, f := range t.fields {
		if f.kind == People {
			t.sums[m][group].add(0, 1)
		}
	}
}

// maxRankedPairs is how many groups are ranked by comparing each with each, which has no branch to
// guess wrong.
const maxRankedPairs = 24

// choose keeps the pairs of one person, from up to to, whose hashes are smallest.
func (k *pairTable) choose(from, to uint32) {
	switch n := int(to - from); {
	case n > maxRankedPairs:
		k.chooseOfMany(from, to)
	case k.MaxGroups <= maxRegisterGroups:
		k.chooseFew(from, to)
	default:
		k.rank(from, to)
	}
}

// rank counts for each pair how many hashes are smaller.
func (k *pairTable) rank(from, to uint32) {
	hash := k.hash[from:to]
	var rank [maxRankedPairs]uint64
	for i := 1; i < len(hash); i++ {
		h, above := hash[i], uint64(0)
		for j, other := range hash[:i] {
			_, less := bits.Sub64(h, other, 0) // 1 where h < other
			rank[j] += less
			above += 1 - less
		}
		rank[i] = above
	}
	end := len(k.kept)
	k.kept = slices.Grow(k.kept, len(hash))[:end+len(hash)]
	for i := range hash {
		k.kept[end] = from + uint32(i)
		_, keep := bits.Sub64(rank[i], uint64(k.MaxGroups), 0)
		end += int(keep)
	}
	k.kept = k.kept[:end]
}

// maxRegisterGroups is the largest number of groups to keep whose hashes are held in registers.
const maxRegisterGroups = 6

// chooseFew inserts every hash into the list of the smallest, without a branch either. The list is
// always as long, and starts with as many numbers below all as there are places too many, which
// stay in front. The lowest bits of a hash are replaced by which pair it is of; where that leaves
// no order between the last that is kept and the first that is not, all bits are looked at. Numbers
// have a sign, because processors compare these faster.
func (k *pairTable) chooseFew(from, to uint32) {
	const pairMask = 1<<5 - 1 // maxRankedPairs pairs have numbers below it
	hash, none := k.hash[from:to], maxRegisterGroups-k.MaxGroups
	var list [maxRegisterGroups]int64
	for i := range list {
		list[i] = -1
		if i >= none {
			list[i] = int64(hash[i-none]>>1&^pairMask) | int64(i-none)
		}
	}
	a, b, c, d, e, last := sortSix(list[0], list[1], list[2], list[3], list[4], list[5])
	next := int64(math.MaxInt64)
	for i := k.MaxGroups; i < len(hash); i++ {
		h := int64(hash[i]>>1&^pairMask) | int64(i)
		a, h = min(a, h), max(a, h)
		b, h = min(b, h), max(b, h)
		c, h = min(c, h), max(c, h)
		d, h = min(d, h), max(d, h)
		e, h = min(e, h), max(e, h)
		last, h = min(last, h), max(last, h)
		next = min(next, h)
	}
	if (last^next)&^pairMask == 0 {
		k.chooseOfMany(from, to)
		return
	}
	end := len(k.kept)
	kept := slices.Grow(k.kept, maxRegisterGroups)[:end+maxRegisterGroups]
	for i, x := range [maxRegisterGroups]int64{last, e, d, c, b, a} { // those too many are the last, and cut off
		kept[end+i] = from + uint32(x&pairMask)
	}
	k.kept = kept[:end+k.MaxGroups]
}

func sortSix(a, b, c, d, e, f int64) (_, _, _, _, _, _ int64) {
	a, f = min(a, f), max(a, f)
	b, d = min(b, d), max(b, d)
	c, e = min(c, e), max(c, e)
	b, c = min(b, c), max(b, c)
	d, e = min(d, e), max(d, e)
	a, d = min(a, d), max(a, d)
	c, f = min(c, f), max(c, f)
	a, b = min(a, b), max(a, b)
	c, d = min(c, d), max(c, d)
	e, f = min(e, f), max(e, f)
	b, c = min(b, c), max(b, c)
	d, e = min(d, e), max(d, e)
	return a, b, c, d, e, f
}

func (k *pairTable) chooseOfMany(from, to uint32) {
	hash := k.hash[from:to]
	k.sorted = append(k.sorted[:0], hash...)
	slices.Sort(k.sorted)
	last := k.sorted[k.MaxGroups-1]
	for i, h := range hash {
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
