package mech

import "slices"

// rankLoss returns how far the rank q n = (a/b) n is from the ranks of a point that
// has so many values below it, at it and above it, times b: the distance of a n
// from the interval [b below, b (below + at)]. It is zero for a quantile.
//
// With n = below + at + above it is the largest of 0 and
//
//	(b-a) below - a (at + above)    the point is too high,
//	a above - (b-a) (below + at)    the point is too low.
//
// Adding a value changes the first by b-a or by -a, and the second by a or by
// -(b-a), so none by more than max(a, b-a), and the largest of them by no more either.
// Replacing a value changes each of them by at most b, because what one value adds
// and another takes away is b in all. n is not used in any other way, so this holds
// whether n is public or not. These are the bounds of scoring: max(q, 1-q) of a rank
// under add-remove and one rank under substitution. Where the smallest or the
// largest value is asked for, a is 0 or b, the loss is the number of values below
// the point, or above it. Adding a value lowers no such number, and replacing one
// value by another moves none of them or all the same way: these scores are monotone.
func rankLoss(a, b, below, at, above uint64) uint64 {
	rank, left, right := a*(below+at+above), b*below, b*(below+at)
	switch {
	case rank < left:
		return left - rank
	case rank > right:
		return rank - right
	}
	return 0
}

// group is a run of lattice points with the same number of values below and at
// each of them: one point that has values, or all points between two such.
type group struct {
	from      int64
	count     uint64 // at least 1
	below, at uint64
}

// groups returns the runs of low..high for values that are clamped to it, from low
// to high.
func groups(values []int64, low, high int64) []group {
	sorted := make([]int64, len(values))
	for i, v := range values {
		sorted[i] = max(low, min(v, high))
	}
	slices.Sort(sorted)
	var out []group
	next := low // the first point that is in no group yet
	for i := 0; i < len(sorted); {
		v, end := sorted[i], i+1
		for end < len(sorted) && sorted[end] == v {
			end++
		}
		if v > next {
			out = append(out, group{next, uint64(v) - uint64(next), uint64(i), 0})
		}
		out = append(out, group{v, 1, uint64(i), uint64(end - i)})
		if v == high {
			return out // v + 1 may not exist
		}
		next, i = v+1, end
	}
	return append(out, group{next, uint64(high) - uint64(next) + 1, uint64(len(sorted)), 0})
}
