package contribution

import (
	"cmp"
	"math/bits"
	"slices"
)

// sorter brings the records of a partition whose people are integers into an order in which those
// of one person follow each other. There is no table of people: a hash of an integer is another for
// every person, so its bits are counted, its records placed, and the few places where that leaves
// two people among each other are put right.
type sorter struct {
	*layout
	ends []uint32 // of each bucket
	seen uint64   // so that what is touched is not left out
	keys []uint64 // the hash without the bits of the partition, and some bits below it
	with []uint32 // what goes with a key: the value, or where the record is
}

// sort orders the rows of some blocks. Where they are slim, a value goes with each key, and
// otherwise the number of its block and its place in it.
func (s *sorter) sort(blocks []block, slim bool) {
	n := 0
	for i := range blocks {
		n += s.records(&blocks[i])
	}
	s.keys, s.with = slices.Grow(s.keys[:0], n)[:n], slices.Grow(s.with[:0], n)[:n]
	shift := s.count(blocks, n)
	for i := range blocks {
		switch b := &blocks[i]; {
		case slim && s.lanes == 0:
			s.placeBare(b, shift)
		case slim:
			s.placeValued(b, shift)
		default:
			s.place(b, uint32(i), shift)
		}
	}
	s.part(shift)
}

func (l *layout) records(b *block) int {
	if b.form == partials {
		return len(b.words) / (1 + l.partial)
	}
	return len(b.words)
}

// key is what a record of a block is sorted by.
func (l *layout) key(b *block, i int) uint64 {
	if b.form == partials {
		return b.words[i*(1+l.partial)] << partBits
	}
	return b.words[i]
}

// maxBucketBits keeps the counts in the cache.
const maxBucketBits = 16

// count finds where each bucket starts. Buckets are the highest bits of the keys that are left when
// what it returns is shifted out; there are about as many as two thirds of the rows.
func (s *sorter) count(blocks []block, n int) (shift uint) {
	width := min(max(bits.Len(uint(n))-1, 1), maxBucketBits)
	shift = uint(64 - width)
	s.ends = slices.Grow(s.ends[:0], 1<<width)[:1<<width]
	clear(s.ends)
	ends := s.ends
	for i := range blocks {
		b := &blocks[i]
		if b.form == partials {
			for k := range s.records(b) {
				ends[s.key(b, k)>>(shift&63)]++
			}
			continue
		}
		s.touch(b)
		for _, key := range b.words {
			ends[key>>(shift&63)]++
		}
	}
	sum := uint32(0)
	for i, k := range ends {
		ends[i] = sum
		sum += k
	}
	return shift
}

// touch asks for all lines of a block at once: they were written long ago, and are waited for one
// by one otherwise.
func (s *sorter) touch(b *block) {
	seen := uint64(0)
	for i := 0; i < len(b.words); i += 8 {
		seen ^= b.words[i]
	}
	for i := 0; i < len(b.lanes); i += 16 {
		seen ^= uint64(b.lanes[i])
	}
	s.seen = seen
}

func (s *sorter) placeBare(b *block, shift uint) {
	keys, ends := s.keys, s.ends
	for _, key := range b.words {
		at := ends[key>>(shift&63)]
		ends[key>>(shift&63)] = at + 1
		keys[at] = key
	}
}

func (s *sorter) placeValued(b *block, shift uint) {
	keys, with, ends := s.keys, s.with[:len(s.keys)], s.ends
	lane := b.lanes[:len(b.words)]
	for i, key := range b.words {
		at := ends[key>>(shift&63)]
		ends[key>>(shift&63)] = at + 1
		keys[at], with[at] = key, lane[i]
	}
}

func (s *sorter) place(b *block, number uint32, shift uint) {
	for i := range s.records(b) {
		key := s.key(b, i)
		at := s.ends[key>>shift]
		s.ends[key>>shift] = at + 1
		s.keys[at], s.with[at] = key, number*blockWords+uint32(i)
	}
}

// maxMove is how far a record is moved by itself before its bucket is sorted as a whole.
const maxMove = 128

// part parts people who share a bucket.
func (s *sorter) part(shift uint) {
	keys, with := s.keys, s.with[:len(s.keys)]
	before := uint64(0)
	for i := 0; i < len(keys); i++ {
		key := keys[i]
		if key>>partBits >= before>>partBits {
			before = key
			continue
		}
		w, at := with[i], i
		for at > 0 && i-at < maxMove && keys[at-1]>>partBits > key>>partBits {
			keys[at], with[at] = keys[at-1], with[at-1]
			at--
		}
		keys[at], with[at] = key, w
		if i-at == maxMove {
			i = s.sortBucket(key>>shift) - 1
			before = keys[i]
		}
	}
}

// sortBucket sorts a bucket of many rows, and returns where it ends.
func (s *sorter) sortBucket(bucket uint64) int {
	from, to := 0, int(s.ends[bucket])
	if bucket > 0 {
		from = int(s.ends[bucket-1])
	}
	type record struct {
		key  uint64
		with uint32
	}
	all := make([]record, to-from)
	for i := range all {
		all[i] = record{s.keys[from+i], s.with[from+i]}
	}
	slices.SortFunc(all, func(a, b record) int { return cmp.Compare(a.key, b.key) })
	for i, r := range all {
		s.keys[from+i], s.with[from+i] = r.key, r.with
	}
	return to
}

// people finds where each person of a sorted partition starts, and who they are.
func (s *sorter) people(c *columns, p int) {
	n := len(s.keys)
	starts, seeds := slices.Grow(c.starts[:0], n+1)[:n+1], slices.Grow(c.seeds[:0], n+1)[:n+1]
	top := uint64(p) << (64 - partBits)
	count, now := 0, ^uint64(0) // no key has so high bits when they are shifted
	for i, key := range s.keys {
		x := key >> partBits
		starts[count], seeds[count] = int32(i), x|top
		d := x ^ now
		count += int((d | -d) >> 63) // 1 where they differ
		now = x
	}
	starts[count] = int32(n)
	c.starts, c.seeds = starts[:count+1], seeds[:count]
}
