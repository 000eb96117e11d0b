package chain

import (
	"bytes"
	"slices"
	"sort"
)

// index finds the record that a digest stands for. What a checkpoint knows is in order, which takes
// no time to read and little memory; what came since is in a map.
type index struct {
	digests []digest // sorted
	records []uint32 // by digest
	since   map[digest]uint64
}

func newIndex(records int64) index { return index{since: make(map[digest]uint64, records)} }

func (x *index) find(d digest) (uint64, bool) {
	if n, ok := x.since[d]; ok {
		return n, true
	}
	i := sort.Search(len(x.digests), func(i int) bool { return bytes.Compare(x.digests[i][:], d[:]) >= 0 })
	if i < len(x.digests) && x.digests[i] == d {
		return uint64(x.records[i]), true
	}
	return 0, false
}

// add takes in a digest that is not there yet.
func (x *index) add(d digest, record uint64) { x.since[d] = record }

// sorted returns the same index with everything in order, in memory of its own where it is not that
// of this one.
func (x *index) sorted() index {
	if len(x.since) == 0 {
		return index{x.digests, x.records, map[digest]uint64{}}
	}
	fresh := make([]digest, 0, len(x.since))
	for d := range x.since {
		fresh = append(fresh, d)
	}
	slices.SortFunc(fresh, func(a, b digest) int { return bytes.Compare(a[:], b[:]) })
	all := index{
		make([]digest, 0, len(x.digests)+len(fresh)), make([]uint32, 0, len(x.digests)+len(fresh)), map[digest]uint64{},
	}
	old := 0
	for _, d := range fresh {
		for ; old < len(x.digests) && bytes.Compare(x.digests[old][:], d[:]) < 0; old++ {
			all.digests, all.records = append(all.digests, x.digests[old]), append(all.records, x.records[old])
		}
		all.digests, all.records = append(all.digests, d), append(all.records, uint32(x.since[d]))
	}
	all.digests, all.records = append(all.digests, x.digests[old:]...), append(all.records, x.records[old:]...)
	return all
}

// settle takes over another index, which knows all records up to the last one, in order.
func (x *index) settle(other index, last uint64) {
	sorted := other.sorted() // or a request would be forgotten that is not in order there
	x.digests, x.records = sorted.digests, sorted.records
	left := map[digest]uint64{}
	for d, n := range x.since {
		if n > last {
			left[d] = n
		}
	}
	x.since = left
}
