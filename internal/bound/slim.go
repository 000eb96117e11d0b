package bound

import "slices"

// tally is what the rows of a pair of person and group add up to, or all that is kept in a group.
type tally struct{ rows, sum int64 }

// slim is the kernel's way for the questions that are asked most: rows that have at most one value,
// which needs no more than 32 bits. Pairs are numbered, hashed and added up in one go over the
// rows, a part of them at a time that stays in the cache.
type slim struct {
	pairs  []tally
	totals []tally // of each group
	added  int     // how many pairs the totals have
}

const (
	// slimReach is how far the clamp of a slim measure reaches, and mostPairs how many of them are
	// added up before their sum is moved to where there are 128 bits.
	slimReach = 1 << 31
	mostPairs = 1 << 31
	// slice is about how many rows are taken at once.
	slice = 1 << 11
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
func (k *kernel) runKeys(keys []uint64, values []uint32, p int) {
	top := uint64(p) << (64 - partBits)
	for len(keys) > 0 {
		n := min(slice, len(keys))
		for n < len(keys) && keys[n]>>partBits == keys[n-1]>>partBits {
			n++
		}
		if k.isHandful() {
			if k.valued >= 0 {
				k.pickKeys(keys[:n], values[:n], top)
				values = values[n:]
			} else {
				k.pickKeys(keys[:n], nil, top)
			}
			keys = keys[n:]
			continue
		}
		k.prepare(n, n)
		if k.valued >= 0 {
			k.numberValued(keys[:n], values[:n])
			values = values[n:]
		} else {
			k.numberBare(keys[:n])
		}
		for i, g := range k.group {
			k.hash[i] = k.order(k.hash[i]|top, g)
		}
		k.keep(nil)
		k.addSlim()
		keys = keys[n:]
	}
}

// numberBare numbers, hashes and counts, and finds out where people start on its way: without a
// branch that depends on the data.
func (k *kernel) numberBare(keys []uint64) {
	mark, ends := (*[parts]uint64)(k.mark), k.ends
	group, hash, pairs := k.room(len(keys))
	next, base := uint32(0), k.last
	who, now := base, ^uint64(0) // no key has so high bits when they are shifted
	for _, key := range keys {
		x, g := key>>partBits, uint32(key&(parts-1))
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
	k.numbered(int(who-base), next)
}

// numberValued is numberBare for rows that have a value.
func (k *kernel) numberValued(keys []uint64, values []uint32) {
	mark, ends := (*[parts]uint64)(k.mark), k.ends
	group, hash, pairs := k.room(len(keys))
	values = values[:len(keys)]
	next, base := uint32(0), k.last
	who, now := base, ^uint64(0)
	for i, key := range keys {
		x, g := key>>partBits, uint32(key&(parts-1))
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
	k.numbered(int(who-base), next)
}

// runRows takes the rows of a batch, from up to to, that are in the order of people, of whom all
// rows are among them.
func (k *kernel) runRows(b *Batch, from, to int) {
	if from == to {
		return
	}
	if k.isHandful() {
		var values []int64
		if k.valued >= 0 {
			values = b.Values[k.valued][from:to]
		}
		pick(k, b.Ints[from:to], b.Groups[from:to], values, false)
		return
	}
	k.prepare(to-from, to-from)
	if k.valued >= 0 {
		k.numberRows(b.Ints[from:to], b.Groups[from:to], b.Values[k.valued][from:to])
	} else {
		k.countRows(b.Ints[from:to], b.Groups[from:to])
	}
	for i, g := range k.group {
		k.hash[i] = k.order(mix(k.hash[i]^k.s0), g)
	}
	k.keep(nil)
	k.addSlim()
}

// countRows is numberBare for rows whose people are not hashed yet.
func (k *kernel) countRows(ints []int64, groups []int32) {
	mark, ends := k.mark, k.ends
	group, hash, pairs := k.room(len(ints))
	groups = groups[:len(ints)]
	next, base := uint32(0), k.last
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
	k.numbered(int(who-base), next)
}

// numberRows is countRows for rows that have a value.
func (k *kernel) numberRows(ints []int64, groups []int32, values []int64) {
	mark, ends := k.mark, k.ends
	group, hash, pairs := k.room(len(ints))
	groups, values = groups[:len(ints)], values[:len(ints)]
	next, base := uint32(0), k.last
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
	k.numbered(int(who-base), next)
}

// room returns where the pairs of so many rows go, with one to spare.
func (k *kernel) room(rows int) ([]int32, []uint64, []tally) {
	k.slim.pairs = slices.Grow(k.slim.pairs[:0], rows+1)[:rows+1]
	return k.group[:rows+1], k.hash[:rows+1], k.slim.pairs
}

// numbered ends a numbering of pairs.
func (k *kernel) numbered(people int, pairs uint32) {
	k.ends, k.last = k.ends[:people], k.last+uint64(people)
	k.group, k.hash = k.group[:pairs], k.hash[:pairs]
}

// addSlim clamps the pairs that are kept and adds them to the totals.
func (k *kernel) addSlim() {
	if k.slim.added += len(k.kept); k.slim.added > mostPairs {
		k.spill()
		k.slim.added = len(k.kept)
	}
	rows, sum := k.clamps()
	group, pairs, totals := k.group, k.slim.pairs[:len(k.group)], k.slim.totals
	for _, i := range k.kept {
		t, p := &totals[group[i]], &pairs[i]
		t.rows += min(max(p.rows, rows.low), rows.high)
		t.sum += min(max(p.sum, sum.low), sum.high)
	}
	k.addPeople()
}

// clamps returns the measures whose sums are in a tally; what none asks for is clamped to 0.
func (k *kernel) clamps() (rows, sum field) {
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

// spill moves the totals to where there are 128 bits.
func (k *kernel) spill() {
	for m, f := range k.fields {
		for g, t := range k.slim.totals {
			x := t.sum
			if f.kind == Rows {
				x = t.rows
			}
			if f.kind != People {
				k.totals[m][g].add(x>>63, uint64(x))
			}
		}
	}
	clear(k.slim.totals)
	k.slim.added = 0
}
