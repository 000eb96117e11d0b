package contribution

import (
	"math"
	"slices"
)

// Where a person keeps a handful of groups, slim rows need no table of pairs: a person's rows are
// hashed, and the smallest hashes are looked for. For one person an equal hash is an equal group.
// Most people have one row in each group they keep, which shows in that no two of the smallest
// hashes are equal, and these rows are added as they are. Other people's are added up by the place
// of their hash among those that are kept; see merge.
type fewKernel struct {
	*layout
	out       *slimTotals
	rows, sum tallyClamp
	ints      []int64  // of keys
	group     []int32  // of keys
	kept      []uint32 // rows
	hash      []uint64 // of one person's rows
	pair      []uint32 // of these, those that are kept
}

// tallyClamp is what a part of a tally is clamped to.
type tallyClamp struct{ low, high, scale int64 }

func (c tallyClamp) of(x int64) int64 { return min(max(x, c.low), c.high) }

// ofRows scales down what so many rows came to, where that is asked for.
func (c tallyClamp) ofRows(x, rows int64) int64 {
	if c.scale > 0 {
		x = scaled64(x, rows, c.scale)
	}
	return c.of(x)
}

func newFewKernel(l *layout, out *slimTotals) fewKernel {
	h := fewKernel{layout: l, out: out}
	for _, f := range l.fields {
		switch {
		case f.kind == Rows:
			h.rows = tallyClamp{low: f.low, high: f.high}
		case f.half >= 0:
			h.sum = tallyClamp{f.low, f.high, f.scale}
		}
	}
	return h
}

const (
	// maxFewGroups is how many groups a handful is, at most.
	maxFewGroups = 5
	// rowMask is the bits of a hash that are replaced by which row of a person it is of, and so
	// how many rows can be told apart.
	rowBits = 6
	rowMask = 1<<rowBits - 1
	// minManyGroups is how many groups are so many that few people have several rows in one of
	// theirs.
	minManyGroups = 64
)

// keepsFewGroups reports whether a question is of that kind. It depends on the question alone.
func (l *layout) keepsFewGroups() bool {
	return l.slim && l.MaxGroups <= maxFewGroups && l.Groups >= minManyGroups
}

// pickKeys takes sorted keys that have the group in their lowest bits.
func (k *fewKernel) pickKeys(keys []uint64, values []uint32, top uint64) {
	n := len(keys)
	k.ints, k.group = slices.Grow(k.ints[:0], n)[:n], slices.Grow(k.group[:0], n)[:n]
	ints, groups := k.ints[:n], k.group[:n]
	for i, key := range keys {
		ints[i], groups[i] = int64(key>>partBits|top), int32(key&(partCount-1))
	}
	pick(k, ints, groups, values, true)
}

// pick adds what people keep, who are all here and follow each other, and may be hashed already.
func pick[V int64 | uint32](k *fewKernel, ints []int64, groups []int32, values []V, hashed bool) {
	k.out.reserve(len(groups))
	k.kept = slices.Grow(k.kept[:0], len(ints)+maxFewGroups)
	for i := 0; i < len(ints); {
		seed := k.seedOf(ints[i], hashed) + k.s1
		end, ok := i, false
		if i+maxFewGroups < len(ints) {
			end, ok = k.keepSingle(ints, groups, i, seed)
		}
		if !ok {
			for end < len(ints) && ints[end] == ints[i] {
				end++
			}
			if values == nil {
				merge[V](k, seed, groups[i:end], nil)
			} else {
				merge(k, seed, groups[i:end], values[i:end])
			}
		}
		i = end
	}
	addSingles(k, groups, values)
}

// seedOf is the hash of a person, who may be one already, or a number that stands for a name.
func (k *fewKernel) seedOf(person int64, hashed bool) uint64 {
	switch {
	case hashed:
		return uint64(person)
	case k.Names != nil:
		return k.seedText(k.Names(person))
	}
	return k.seedInt(person)
}

// keepSingle keeps rows of the person whose first one is given, behind which there are as many as a
// handful, and returns where theirs end. It reports false where two of the smallest hashes are
// equal, or nearly.
func (k *fewKernel) keepSingle(ints []int64, groups []int32, from int, seed uint64) (int, bool) {
	x, g := ints[from:from+maxFewGroups+1], groups[from:from+maxFewGroups+1]
	person := x[0]
	a := groupRank(seed, g[0], 0)
	b, n1 := groupRankOrNone(seed, g[1], 1, x[1]^person)
	c, n2 := groupRankOrNone(seed, g[2], 2, x[2]^person)
	d, n3 := groupRankOrNone(seed, g[3], 3, x[3]^person)
	e, n4 := groupRankOrNone(seed, g[4], 4, x[4]^person)
	next, n5 := groupRankOrNone(seed, g[5], 5, x[5]^person)
	n := int(maxFewGroups + 1 + n1 + n2 + n3 + n4 + n5)
	a, b, c, d, e, next = sortSix(a, b, c, d, e, next)
	at := from + n
	if n > maxFewGroups {
		people := ints[at:min(len(ints), from+rowMask)]
		g := groups[at:][:len(people)]
		i := 0
		for ; i < len(people) && people[i] == person; i++ {
			h := groupRank(seed, g[i], maxFewGroups+1+i)
			a, h = min(a, h), max(a, h)
			b, h = min(b, h), max(b, h)
			c, h = min(c, h), max(c, h)
			d, h = min(d, h), max(d, h)
			e, h = min(e, h), max(e, h)
			next = min(next, h)
		}
		at += i
	}
	list := [maxFewGroups]int64{a, b, c, d, e}
	if at-from == rowMask || min(a^b, b^c, c^d, d^e, e^next) <= rowMask || list[min(n, maxFewGroups)-1] >= noRank {
		return at, false
	}
	end := len(k.kept)
	kept := k.kept[:end+maxFewGroups]
	for i, x := range list {
		kept[end+i] = uint32(from) + uint32(x&rowMask)
	}
	k.kept = kept[:end+min(n, k.MaxGroups)]
	return at, true
}

// noRank and what is above it is no row's place, or that of a row with which there is no telling.
const noRank = math.MaxInt64&^rowMask - (maxFewGroups+1)<<rowBits

// groupRank is a group's place in the order of the person who has this seed, with s1 in it, and
// number is which row it is of.
func groupRank(seed uint64, group int32, number int) int64 {
	return int64(mix(seed+uint64(group)*phi)>>1&^rowMask) | int64(number)
}

// groupRankOrNone returns noRank and -1 where the row is another person's.
func groupRankOrNone(seed uint64, group int32, number int, other int64) (at, less int64) {
	none := (other | -other) >> 63
	return groupRank(seed, group, number)&^none | (noRank+int64(number)<<rowBits)&none, none
}

// addSingles adds rows that are all that a person has in their groups.
func addSingles[V int64 | uint32](k *fewKernel, groups []int32, values []V) {
	one, sum, totals := k.rows.of(1), k.sum, k.out.sums
	if k.valued < 0 {
		for _, i := range k.kept {
			totals[groups[i]].rows += one
		}
	} else {
		values = values[:len(groups)]
		for _, i := range k.kept {
			t, v := &totals[groups[i]], toSigned(values[i])
			t.rows += one
			t.sum += min(max(v, sum.low), sum.high)
		}
	}
	k.out.wide.addPeople(groups, k.kept)
}

// toSigned reads a value, which has a sign in 32 bits too.
func toSigned[V int64 | uint32](v V) int64 {
	if minus := ^V(0); minus < 0 {
		return int64(v)
	}
	return int64(int32(v))
}

// merge adds up the rows of one person in each of the groups that are kept.
func merge[V int64 | uint32](k *fewKernel, seed uint64, groups []int32, values []V) {
	n := len(groups)
	k.hash, k.pair = slices.Grow(k.hash[:0], n)[:n], slices.Grow(k.pair[:0], n+1)[:n+1]
	hash, pair := k.hash[:n], k.pair
	for i, g := range groups {
		hash[i] = mix(seed+uint64(g)*phi) ^ 1<<63
	}
	list := smallestHashes(hash)
	last, end := list[k.MaxGroups-1], 0
	for i, h := range hash {
		pair[end] = uint32(i)
		if int64(h) <= last {
			end++
		}
	}
	var slots [maxFewGroups]tally
	var group [maxFewGroups]int32
	for _, i := range pair[:end] {
		at, x := 0, int64(hash[i])
		for _, l := range list[:maxFewGroups-1] {
			if l < x {
				at++
			}
		}
		group[at] = groups[i]
		slots[at].rows++
		if values != nil {
			slots[at].sum += toSigned(values[i])
		}
	}
	for i := range slots {
		s, t := &slots[i], &k.out.sums[group[i]]
		t.rows += k.rows.of(s.rows)
		t.sum += k.sum.ofRows(s.sum, s.rows)
		if s.rows > 0 {
			k.out.wide.addPerson(group[i])
		}
	}
}

// smallestHashes returns the smallest hashes that differ, which have a sign here. Where there are
// fewer, the largest number stands for none, which may be a hash as well: then it is kept, and
// counts as one.
func smallestHashes(hash []uint64) [maxFewGroups]int64 {
	const none = math.MaxInt64
	a, b, c, d, e := int64(none), int64(none), int64(none), int64(none), int64(none)
	for _, h := range hash {
		x := int64(h)
		if x >= e {
			continue
		}
		a, x = insert(a, x)
		b, x = insert(b, x)
		c, x = insert(c, x)
		d, x = insert(d, x)
		e, _ = insert(e, x)
	}
	return [maxFewGroups]int64{a, b, c, d, e}
}

// insert returns the smaller one, and the larger one where it is another.
func insert(a, x int64) (int64, int64) {
	lo, hi := min(a, x), max(a, x)
	if a == x {
		hi = math.MaxInt64
	}
	return lo, hi
}
