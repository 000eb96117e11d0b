package bound

import (
	"math"
	"math/bits"
	"slices"
)

// few is how many groups are ranked by comparing each with each, which has no branch to guess
// wrong.
const few = 24

// choose keeps the pairs of one person, from up to to, whose hashes are smallest.
func (k *kernel) choose(from, to uint32) {
	switch n := int(to - from); {
	case n > few:
		k.chooseOfMany(from, to)
	case k.MaxGroups <= handful:
		k.chooseFew(from, to)
	default:
		k.rank(from, to)
	}
}

// rank counts for each pair how many hashes are smaller.
func (k *kernel) rank(from, to uint32) {
	hash := k.hash[from:to]
	var rank [few]uint64
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

// handful is the largest number of groups to keep whose hashes are held in registers.
const handful = 6

// chooseFew inserts every hash into the list of the smallest, without a branch either. The list is
// always as long, and starts with as many numbers below all as there are places too many, which
// stay in front. The lowest bits of a hash are replaced by which pair it is of; where that leaves
// no order between the last that is kept and the first that is not, all bits are looked at. Numbers
// have a sign, because processors compare these faster.
func (k *kernel) chooseFew(from, to uint32) {
	const which = 1<<5 - 1 // few pairs have numbers below it
	hash, none := k.hash[from:to], handful-k.MaxGroups
	var list [handful]int64
	for i := range list {
		list[i] = -1
		if i >= none {
			list[i] = int64(hash[i-none]>>1&^which) | int64(i-none)
		}
	}
	a, b, c, d, e, last := sortSix(list[0], list[1], list[2], list[3], list[4], list[5])
	next := int64(math.MaxInt64)
	for i := k.MaxGroups; i < len(hash); i++ {
		h := int64(hash[i]>>1&^which) | int64(i)
		a, h = min(a, h), max(a, h)
		b, h = min(b, h), max(b, h)
		c, h = min(c, h), max(c, h)
		d, h = min(d, h), max(d, h)
		e, h = min(e, h), max(e, h)
		last, h = min(last, h), max(last, h)
		next = min(next, h)
	}
	if (last^next)&^which == 0 {
		k.chooseOfMany(from, to)
		return
	}
	end := len(k.kept)
	kept := slices.Grow(k.kept, handful)[:end+handful]
	for i, x := range [handful]int64{last, e, d, c, b, a} { // those too many are the last, and cut off
		kept[end+i] = from + uint32(x&which)
	}
	k.kept = kept[:end+k.MaxGroups]
}

// sortSix sorts by a network of comparisons.
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

func (k *kernel) chooseOfMany(from, to uint32) {
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
