package bound

import (
	"math"
	"slices"
)

// kernel reduces people to what they contribute. It belongs to one goroutine.
type kernel struct {
	*layout
	// mark has, for each group, the last person who was in it, in the upper half, and the number of
	// their pair. People are counted from 1 on and on, so nothing is ever cleared.
	mark   []uint64
	last   uint64   // who was counted last
	group  []int32  // of each pair
	hash   []uint64 // of each pair: its place in the person's order
	pair   []uint32 // of each row
	ends   []uint32 // of each person, in pairs
	lo, hi [][]int64
	kept   []uint32 // the pairs that are kept
	sorted []uint64
	totals [][]wide
	slim   slim
	spans  spans
	picked picked
	hand   hand
}

func newKernel(l *layout) *kernel {
	k := &kernel{layout: l, mark: make([]uint64, max(l.Groups, parts))}
	if l.slim {
		k.slim.totals = make([]tally, l.Groups)
		k.hand = newHand(l)
	}
	k.lo, k.hi = make([][]int64, len(l.fields)), make([][]int64, len(l.fields))
	for range l.fields {
		if l.Pick == nil {
			k.totals = append(k.totals, make([]wide, l.Groups))
		}
	}
	if l.Private != nil && l.Pick == nil {
		k.spans = newSpans(l.Private.Combos)
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
	if k.Private != nil {
		k.name(c)
	}
	if k.Pick != nil {
		k.pick(c, emit)
		return
	}
	k.sum(c)
	k.keep(emit)
	if emit == nil {
		k.add()
	}
}

// keep chooses among each person's pairs, which are numbered and hashed.
func (k *kernel) keep(emit func(person, pair int)) {
	k.kept = slices.Grow(k.kept[:0], len(k.group)+handful)
	from := uint32(0)
	for p, to := range k.ends {
		kept := k.keepOf(from, to)
		if emit != nil {
			for _, i := range kept {
				emit(p, int(i))
			}
		} else if k.Private != nil {
			k.countSpans(kept)
		}
		from = to
	}
}

// keepOf chooses among the pairs of one person, from up to to, and returns those that are kept.
func (k *kernel) keepOf(from, to uint32) []uint32 {
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
func (k *kernel) prepare(rows, people int) {
	if k.last+uint64(people) > math.MaxUint32 {
		clear(k.mark)
		k.last = 0
	}
	k.ends = slices.Grow(k.ends[:0], people+1)[:people+1]
	k.group, k.hash = slices.Grow(k.group[:0], rows+1)[:rows+1], slices.Grow(k.hash[:0], rows+1)[:rows+1]
}

// number numbers the pairs of person and group.
func (k *kernel) number(c *columns) {
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
	k.numbered(people, next)
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
	k.addPeople()
}

// addPeople counts those who keep a group.
func (k *kernel) addPeople() {
	for m, f := range k.fields {
		if f.kind != People {
			continue
		}
		for _, i := range k.kept {
			k.totals[m][k.group[i]].add(0, 1)
		}
	}
}
