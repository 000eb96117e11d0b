package bound

import (
	"math"
	"slices"
)

// Where a person keeps a handful of groups, slim rows need no table of pairs: a person's rows are
// hashed, and the smallest hashes are looked for. For one person an equal hash is an equal group.
// Most people have one row in each group they keep, which shows in that no two of the smallest
// hashes are equal, and these rows are added as they are. Other people's are added up by the place
// of their hash among those that are kept; see merge.
type hand struct {
	rows, sum tallyClamp
	ints      []int64 // of keys
}

// tallyClamp is what a part of a tally is clamped to.
type tallyClamp struct{ low, high int64 }

func (c tallyClamp) of(x int64) int64 { return min(max(x, c.low), c.high) }

func newHand(l *layout) hand {
	var h hand
	for _, f := range l.fields {
		switch {
		case f.kind == Rows:
			h.rows = tallyClamp{f.low, f.high}
		case f.half >= 0:
			h.sum = tallyClamp{f.low, f.high}
		}
	}
	return h
}

const (
	// palm is how many groups a handful is, at most.
	palm = 5
	// which is the bits of a hash that are replaced by which row of a person it is of, and so
	// how many rows can be told apart.
	whichBits = 6
	which     = 1<<whichBits - 1
	// enough is how many groups are so many that few people have several rows in one of theirs.
	enough = 64
)

// isHandful reports whether a question is of that kind. It depends on the question alone.
func (l *layout) isHandful() bool { return l.slim && l.MaxGroups <= palm && l.Groups >= enough }

// pickKeys takes sorted keys that have the group in their lowest bits.
func (k *kernel) pickKeys(keys []uint64, values []uint32, top uint64) {
	n := len(keys)
	k.hand.ints, k.group = slices.Grow(k.hand.ints[:0], n)[:n], slices.Grow(k.group[:0], n)[:n]
	ints, groups := k.hand.ints[:n], k.group[:n]
	for i, key := range keys {
		ints[i], groups[i] = int64(key>>partBits|top), int32(key&(parts-1))
	}
	pick(k, ints, groups, values, true)
}

// pick adds what people keep, who are all here and follow each other, and may be hashed already.
func pick[V int64 | uint32](k *kernel, ints []int64, groups []int32, values []V, hashed bool) {
	if k.slim.added += len(groups); k.slim.added > mostPairs {
		k.spill()
		k.slim.added = len(groups)
	}
	k.kept = slices.Grow(k.kept[:0], len(ints)+palm)
	for i := 0; i < len(ints); {
		seed := k.seedOf(ints[i], hashed) + k.s1
		end, ok := i, false
		if i+palm < len(ints) {
			end, ok = k.single(ints, groups, i, seed)
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
func (k *kernel) seedOf(person int64, hashed bool) uint64 {
	switch {
	case hashed:
		return uint64(person)
	case k.Names != nil:
		return k.seedText(k.Names(person))
	}
	return k.seedInt(person)
}

// single keeps rows of the person whose first one is given, behind which there are as many as a
// handful, and returns where theirs end. It reports false where two of the smallest hashes are
// equal, or nearly.
func (k *kernel) single(ints []int64, groups []int32, from int, seed uint64) (int, bool) {
	x, g := ints[from:from+palm+1], groups[from:from+palm+1]
	person := x[0]
	a := place(seed, g[0], 0)
	b, n1 := placeOf(seed, g[1], 1, x[1]^person)
	c, n2 := placeOf(seed, g[2], 2, x[2]^person)
	d, n3 := placeOf(seed, g[3], 3, x[3]^person)
	e, n4 := placeOf(seed, g[4], 4, x[4]^person)
	next, n5 := placeOf(seed, g[5], 5, x[5]^person)
	n := int(palm + 1 + n1 + n2 + n3 + n4 + n5)
	a, b, c, d, e, next = sortSix(a, b, c, d, e, next)
	at := from + n
	if n > palm {
		people := ints[at:min(len(ints), from+which)]
		g := groups[at:][:len(people)]
		i := 0
		for ; i < len(people) && people[i] == person; i++ {
			h := place(seed, g[i], palm+1+i)
			a, h = min(a, h), max(a, h)
			b, h = min(b, h), max(b, h)
			c, h = min(c, h), max(c, h)
			d, h = min(d, h), max(d, h)
			e, h = min(e, h), max(e, h)
			next = min(next, h)
		}
		at += i
	}
	list := [palm]int64{a, b, c, d, e}
	if at-from == which || min(a^b, b^c, c^d, d^e, e^next) <= which || list[min(n, palm)-1] >= nobody {
		return at, false
	}
	end := len(k.kept)
	kept := k.kept[:end+palm]
	for i, x := range list {
		kept[end+i] = uint32(from) + uint32(x&which)
	}
	k.kept = kept[:end+min(n, k.MaxGroups)]
	return at, true
}

// nobody and what is above it is no row's place, or that of a row with which there is no telling.
const nobody = math.MaxInt64&^which - (palm+1)<<whichBits

// place is a group's place in the order of the person who has this seed, with s1 in it, and number
// is which row it is of.
func place(seed uint64, group int32, number int) int64 {
	return int64(mix(seed+uint64(group)*phi)>>1&^which) | int64(number)
}

// placeOf returns nobody's place and -1 where the row is another person's.
func placeOf(seed uint64, group int32, number int, other int64) (at, less int64) {
	none := (other | -other) >> 63
	return place(seed, group, number)&^none | (nobody+int64(number)<<whichBits)&none, none
}

// addSingles adds rows that are all that a person has in their groups.
func addSingles[V int64 | uint32](k *kernel, groups []int32, values []V) {
	one, sum, totals := k.hand.rows.of(1), k.hand.sum, k.slim.totals
	if k.valued < 0 {
		for _, i := range k.kept {
			totals[groups[i]].rows += one
		}
	} else {
		values = values[:len(groups)]
		for _, i := range k.kept {
			t, v := &totals[groups[i]], signed(values[i])
			t.rows += one
			t.sum += min(max(v, sum.low), sum.high)
		}
	}
	for m, f := range k.fields {
		if f.kind != People {
			continue
		}
		for _, i := range k.kept {
			k.totals[m][groups[i]].add(0, 1)
		}
	}
}

// signed reads a value, which has a sign in 32 bits too.
func signed[V int64 | uint32](v V) int64 {
	if minus := ^V(0); minus < 0 {
		return int64(v)
	}
	return int64(int32(v))
}

// merge adds up the rows of one person in each of the groups that are kept.
func merge[V int64 | uint32](k *kernel, seed uint64, groups []int32, values []V) {
	n := len(groups)
	k.hash, k.pair = slices.Grow(k.hash[:0], n)[:n], slices.Grow(k.pair[:0], n+1)[:n+1]
	hash, pair := k.hash[:n], k.pair
	for i, g := range groups {
		hash[i] = mix(seed+uint64(g)*phi) ^ 1<<63
	}
	list := least(hash)
	last, end := list[k.MaxGroups-1], 0
	for i, h := range hash {
		pair[end] = uint32(i)
		if int64(h) <= last {
			end++
		}
	}
	var slots [palm]tally
	var group [palm]int32
	for _, i := range pair[:end] {
		at, x := 0, int64(hash[i])
		for _, l := range list[:palm-1] {
			if l < x {
				at++
			}
		}
		group[at] = groups[i]
		slots[at].rows++
		if values != nil {
			slots[at].sum += signed(values[i])
		}
	}
	for i := range slots {
		s, t := &slots[i], &k.slim.totals[group[i]]
		t.rows += k.hand.rows.of(s.rows)
		t.sum += k.hand.sum.of(s.sum)
		if s.rows > 0 {
			k.countPerson(group[i])
		}
	}
}

// countPerson counts somebody who keeps a group.
func (k *kernel) countPerson(group int32) {
	for m, f := range k.fields {
		if f.kind == People {
			k.totals[m][group].add(0, 1)
		}
	}
}

// least returns the smallest hashes that differ, which have a sign here. Where there are fewer, the
// largest number stands for none, which may be a hash as well: then it is kept, and counts as one.
func least(hash []uint64) [palm]int64 {
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
	return [palm]int64{a, b, c, d, e}
}

// insert returns the smaller one, and the larger one where it is another.
func insert(a, x int64) (int64, int64) {
	lo, hi := min(a, x), max(a, x)
	if a == x {
		hi = math.MaxInt64
	}
	return lo, hi
}
