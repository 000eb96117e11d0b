package contribution

import "slices"

// tally is what the rows of a pair of person and group add up to, or all that is kept in a group.
type tally struct{ rows, sum int64 }

// slimKernel is the way for the questions that are asked most: rows that have at most one value,
// which needs no more than 32 bits. Pairs are numbered, hashed and added up in one go over the
// rows, a part of them at a time that stays in the cache.
type slimKernel struct {
	*layout
	pairs   *pairTable
	tallies []tally // of each pair
	out     *slimTotals
	few     fewKernel
}

// slimTotals are totals in 64 bits, which are moved to those of 128 before they overflow.
type slimTotals struct {
	sums  []tally // of each group
	added int     // how many pairs they have
	wide  *totals
}

func newSlimKernel(l *layout, pairs *pairTable, wide *totals) slimKernel {
	out := &slimTotals{sums: make([]tally, l.Groups), wide: wide}
	return slimKernel{layout: l, pairs: pairs, out: out, few: newFewKernel(l, out)}
}

const (
	// slimReach is how far the clamp of a slim measure reaches, and maxSlimPairs how many of them
	// are added up before their sum is moved to where there are 128 bits.
	slimReach    = 1 << 31
	maxSlimPairs = 1 << 31
	// sliceRows is about how many rows are taken at once.
	sliceRows = 1 << 11
)

// isSlim reports whether a question is one of those. It depends on the question alone.
func (l *layout) isSlim() bool {
	rows := 0
	for _, f := range l.fields {
		switch {
		case f.kind == People:
		case f.wide || f.full >= 0 || f.low < -slimReach || f.high > slimReach:
			return false
		case f.kind == Rows:
			rows++
		}
	}
	return rows <= 1 && l.halves <= 1
}

// runKeys takes sorted keys that have the group in their lowest bits, with what goes with them: the
// values, where there are any.
func (k *slimKernel) runKeys(keys []uint64, values []uint32, p int) {
	top := uint64(p) << (64 - partBits)
	for len(keys) > 0 {
		n := min(sliceRows, len(keys))
		for n < len(keys) && keys[n]>>partBits == keys[n-1]>>partBits {
			n++
		}
		if k.keepsFewGroups() {
			if k.valued >= 0 {
				k.few.pickKeys(keys[:n], values[:n], top)
				values = values[n:]
			} else {
				k.few.pickKeys(keys[:n], nil, top)
			}
			keys = keys[n:]
			continue
		}
		k.pairs.prepare(n, n)
		if k.valued >= 0 {
			k.numberValued(keys[:n], values[:n])
			values = values[n:]
		} else {
			k.numberBare(keys[:n])
		}
		for i, g := range k.pairs.group {
			k.pairs.hash[i] = k.order(k.pairs.hash[i]|top, g)
		}
		k.pairs.keep(nil)
		k.add()
		keys = keys[n:]
	}
}

// numberBare numbers, hashes and counts, and finds out where people start on its way: without a
// branch that depends on the data.
func (k *slimKernel) numberBare(keys []uint64) {
	mark, ends := (*[partCount]uint64)(k.pairs.mark), k.pairs.ends
	group, hash, pairs := k.makeRoom(len(keys))
	next, base := uint32(0), k.pairs.last
	who, now := base, ^uint64(0) // no key has so high bits when they are shifted
	for _, key := range keys {
		x, g := key>>partBits, uint32(key&(partCount-1))
		d := x ^ now
		now = x
		who += (d | -d) >> 63 // 1 where this is somebody else
		// What is written behind the last pair stays there where the pair is new.
		group[next], hash[next], pairs[next].rows = int32(g), x, 0
		m := mark[g]
		fresh := uint32(int64(m>>32-who) >> 63) // all ones where it is
		at := uint32(m) ^ (uint32(m)^next)&fresh
		mark[g] = who<<32 | uint64(at)
		next -= fresh
		ends[who-base-1] = next
		pairs[at].rows++
	}
	k.pairs.endNumbering(int(who-base), next)
}

// numberValued is numberBare for rows that have a value.
func (k *slimKernel) numberValued(keys []uint64, values []uint32) {
	mark, ends := (*[partCount]uint64)(k.pairs.mark), k.pairs.ends
	group, hash, pairs := k.makeRoom(len(keys))
	values = values[:len(keys)]
	next, base := uint32(0), k.pairs.last
	who, now := base, ^uint64(0)
	for i, key := range keys {
		x, g := key>>partBits, uint32(key&(partCount-1))
		d := x ^ now
		now = x
		who += (d | -d) >> 63
		group[next], hash[next], pairs[next] = int32(g), x, tally{}
		m := mark[g]
		fresh := uint32(int64(m>>32-who) >> 63) // all ones where it is
		at := uint32(m) ^ (uint32(m)^next)&fresh
		mark[g] = who<<32 | uint64(at)
		next -= fresh
		ends[who-base-1] = next
		t := &pairs[at]
		t.rows++
		t.sum += int64(int32(values[i]))
	}
	k.pairs.endNumbering(int(who-base), next)
}

// runRows takes the rows of a batch, from up to to, that are in the order of people, of whom all
// rows are among them.
func (k *slimKernel) runRows(b *Batch, from, to int) {
	if from == to {
		return
	}
	if k.keepsFewGroups() {
		var values []int64
		if k.valued >= 0 {
			values = b.Values[k.valued][from:to]
		}
		pick(&k.few, b.Ints[from:to], b.Groups[from:to], values, false)
		return
	}
	k.pairs.prepare(to-from, to-from)
	if k.valued >= 0 {
		k.numberRows(b.Ints[from:to], b.Groups[from:to], b.Values[k.valued][from:to])
	} else {
		k.countRows(b.Ints[from:to], b.Groups[from:to])
	}
	for i, g := range k.pairs.group {
		k.pairs.hash[i] = k.order(mix(k.pairs.hash[i]^k.s0), g)
	}
	k.pairs.keep(nil)
	k.add()
}

// countRows is numberBare for rows whose people are not hashed yet.
func (k *slimKernel) countRows(ints []int64, groups []int32) {
	mark, ends := k.pairs.mark, k.pairs.ends
	group, hash, pairs := k.makeRoom(len(ints))
	groups = groups[:len(ints)]
	next, base := uint32(0), k.pairs.last
	who, now := base, ^ints[0]
	for i, x := range ints {
		g := groups[i]
		d := uint64(x ^ now)
		now = x
		who += (d | -d) >> 63
		group[next], hash[next], pairs[next].rows = g, uint64(x), 0
		m := mark[g]
		fresh := uint32(int64(m>>32-who) >> 63) // all ones where it is
		at := uint32(m) ^ (uint32(m)^next)&fresh
		mark[g] = who<<32 | uint64(at)
		next -= fresh
		ends[who-base-1] = next
		pairs[at].rows++
	}
	k.pairs.endNumbering(int(who-base), next)
}

// numberRows is countRows for rows that have a value.
func (k *slimKernel) numberRows(ints []int64, groups []int32, values []int64) {
	mark, ends := k.pairs.mark, k.pairs.ends
	group, hash, pairs := k.makeRoom(len(ints))
	groups, values = groups[:len(ints)], values[:len(ints)]
	next, base := uint32(0), k.pairs.last
	who, now := base, ^ints[0]
	for i, x := range ints {
		g := groups[i]
		d := uint64(x ^ now)
		now = x
		who += (d | -d) >> 63
		group[next], hash[next], pairs[next] = g, uint64(x), tally{}
		m := mark[g]
		fresh := uint32(int64(m>>32-who) >> 63) // all ones where it is
		at := uint32(m) ^ (uint32(m)^next)&fresh
		mark[g] = who<<32 | uint64(at)
		next -= fresh
		ends[who-base-1] = next
		t := &pairs[at]
		t.rows++
		t.sum += values[i]
	}
	k.pairs.endNumbering(int(who-base), next)
}

// makeRoom returns where the pairs of so many rows go, with one to spare.
func (k *slimKernel) makeRoom(rows int) ([]int32, []uint64, []tally) {
	k.tallies = slices.Grow(k.tallies[:0], rows+1)[:rows+1]
	return k.pairs.group[:rows+1], k.pairs.hash[:rows+1], k.tallies
}

// endNumbering ends a numbering of pairs.
func (k *pairTable) endNumbering(people int, pairs uint32) {
	k.ends, k.last = k.ends[:people], k.last+uint64(people)
	k.group, k.hash = k.group[:pairs], k.hash[:pairs]
}

// add clamps the pairs that are kept and adds them to the totals.
func (k *slimKernel) add() {
	kept := k.pairs.kept
	k.out.reserve(len(kept))
	rows, sum := k.clamps()
	group, pairs, totals := k.pairs.group, k.tallies[:len(k.pairs.group)], k.out.sums
	if sum.scale > 0 { // a loop of its own, so that the other one asks nothing of it
		for _, i := range kept {
			t, p := &totals[group[i]], &pairs[i]
			t.rows += min(max(p.rows, rows.low), rows.high)
			t.sum += min(max(scaled64(p.sum, p.rows, sum.scale), sum.low), sum.high)
		}
		k.out.wide.addPeople(group, kept)
		return
	}
	for _, i := range kept {
		t, p := &totals[group[i]], &pairs[i]
		t.rows += min(max(p.rows, rows.low), rows.high)
		t.sum += min(max(p.sum, sum.low), sum.high)
	}
	k.out.wide.addPeople(group, kept)
}

// clamps returns the measures whose sums are in a tally; what none asks for is clamped to 0.
func (k *slimKernel) clamps() (rows, sum field) {
	for _, f := range k.fields {
		switch {
		case f.kind == Rows:
			rows = f
		case f.half >= 0:
			sum = f
		}
	}
	return rows, sum
}

// reserve makes room for so many pairs more.
func (t *slimTotals) reserve(pairs int) {
	if t.added += pairs; t.added > maxSlimPairs {
		t.spill()
		t.added = pairs
	}
}

// spill moves the totals to where there are 128 bits.
func (t *slimTotals) spill() {
	for m, f := range t.wide.fields {
		for g, own := range t.sums {
			x := own.sum
			if f.kind == Rows {
				x = own.rows
			}
			if f.kind != People {
				t.wide.sums[m][g].add(x>>63, uint64(x))
			}
		}
	}
	clear(t.sums)
	t.added = 0
}
