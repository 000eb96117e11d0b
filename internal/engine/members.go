package engine

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// SealMembers seals which combinations of private keys each person is in: the places of them in
// keys, of one person after the other, and where those of each end. It takes ownership of both. The
// keys are sorted, so two of them stand the same way whichever others there are.
//
// The order of people is that of mech.KeyWeights: any two stand the same way whoever else is there.
// It follows from what they are in and from nothing else, so whom they are is not looked at, and
// people who are in the same combinations are alike. Those in few come first, because what a
// popular key has no need of is of use to those who are in others too; among equals a hash decides,
// which is another for every question, and then the combinations themselves.
func SealMembers(q *tree.Query, keys [][]policy.Value, places []int32, ends []int) exact.Members {
	// How many keys there are is private, so the question, whose length an analyst chooses, is
	// spelt once and not for each.
	names, salt := make([]uint64, len(keys)), q.Hash()
	for i, k := range keys {
		names[i] = nameOf(salt, k)
	}
	type person struct {
		from, to int
		name     uint64
	}
	people := make([]person, 0, len(ends))
	from := 0
	for _, to := range ends {
		p := person{from: from, to: to}
		slices.Sort(places[from:to])
		for _, place := range places[from:to] {
			p.name += names[place]
		}
		people, from = append(people, p), to
	}
	slices.SortFunc(people, func(a, b person) int {
		return cmp.Or(cmp.Compare(a.to-a.from, b.to-b.from), cmp.Compare(a.name, b.name),
			slices.Compare(places[a.from:a.to], places[b.from:b.to]))
	})
	sorted := make([]int32, 0, len(places))
	for i, p := range people {
		sorted = append(sorted, places[p.from:p.to]...)
		ends[i] = len(sorted)
	}
	return exact.SealMembers(sorted, ends)
}

// nameOf is a hash of a combination.
func nameOf(salt string, keys []policy.Value) uint64 {
	h := fnv.New64a()
	text := []byte(salt)
	for _, k := range keys {
		text = strconv.AppendBool(text, k.Null)
		text = strconv.AppendInt(append(text, ' '), k.Int, 10)
		text = strconv.AppendQuote(append(text, ' '), k.Text)
	}
	h.Write(text)
	// FNV alone leaves the last byte in the lowest bits.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
