package mech

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/exact"
)

// Members are the groups that each unit is in, sealed.
type Members = exact.Members

// MembersOf seals a copy of the groups that each unit is in. The order of units must be such that
// any two of them stand the same way whoever else is there: that of their names, say.
func MembersOf(units ...[]int32) Members {
	var groups []int32
	var ends []int
	for _, own := range units {
		groups = append(groups, own...)
		ends = append(ends, len(groups))
	}
	return exact.SealMembers(groups, ends)
}

// weigh adds up the weights of so many groups, as KeyWeights says. Whatever it is
// given, a unit counts in a group once, and one that is in more groups than it
// may be counts nowhere: what the proof rests on holds here.
func (k *KeyWeights) weigh(m Members, groups int) Exact {
	weights, taken := make([]int64, groups), make([]int64, groups)
	var own []int32
	m.Each(func(all []int32) {
		own = append(own[:0], all...)
		slices.Sort(own)
		own = slices.Compact(own)
		d := len(own)
		if d == 0 || d >= len(k.tokens) || own[0] < 0 || int(own[d-1]) >= groups {
			return
		}
		a, back := k.tokens[d], int64(0)
		for _, g := range own {
			fit := min(a, k.room-taken[g])
			taken[g] += fit
			back += a - fit
		}
		for _, g := range own {
			weights[g] = min(weights[g]+k.beside[d]+back, mostWeight)
		}
	})
	for g := range weights {
		weights[g] = min(weights[g]+taken[g]*k.each, mostWeight)
	}
	return exact.Seal(weights)
}

// mostWeight is where a weight is cut off, which moves no two apart. One unit adds less than 2^31,
// and room for a group is less than 2^61 steps, so no sum overflows before.
const mostWeight = 1 << 61

// ReleaseWeighed returns the groups that may be released, out of so many, of which units are in
// those that members says. What is said at ReleaseKeys of indices and of time
// holds here too. Units of a Key is the noisy weight, of which 2^22 steps
// are one unit that is in no other group.
func (r *Releaser) ReleaseWeighed(members Members, groups int, k *KeyWeights) []Key {
	weights := k.weigh(members, groups)
	noise := make([]int64, groups)
	r.draw(weights, k.noise, noise)
	var kept []Key
	for i, n := range weights.Open() {
		if n > 0 && k.passes(n, noise[i]) {
			kept = append(kept, Key{i, addClamped(n, noise[i])})
		}
	}
	return kept
}
