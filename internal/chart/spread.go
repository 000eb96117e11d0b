package chart

import (
	"cmp"
	"slices"
)

// moveApart moves places apart until any two are a gap from each other, all of them
// between lo and hi, and the sum of the squared moves is the smallest possible. If
// there is no room, the gap shrinks. It returns the places, in the order given, and
// the gap.
//
// Less i gaps for the i-th from below, the places have to be in ascending order, so
// this is isotonic regression, which pooling adjacent violators solves (Barlow et
// al. 1972), and cutting its solution off at bounds solves it with bounds.
func moveApart(want []float64, gap, lo, hi float64) ([]float64, float64) {
	n := len(want)
	if n > 1 {
		gap = min(gap, (hi-lo)/float64(n-1))
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(want[i], want[j]) })

	type pool struct {
		sum float64
		n   int
	}
	mean := func(p pool) float64 { return p.sum / float64(p.n) }
	var pools []pool
	for i, o := range order {
		pools = append(pools, pool{want[o] - float64(i)*gap, 1})
		for k := len(pools) - 1; k > 0 && mean(pools[k-1]) > mean(pools[k]); k-- {
			pools[k-1] = pool{pools[k-1].sum + pools[k].sum, pools[k-1].n + pools[k].n}
			pools = pools[:k]
		}
	}
	out := make([]float64, n)
	i := 0
	for _, p := range pools {
		at := max(lo, min(mean(p), hi-float64(n-1)*gap))
		for range p.n {
			out[order[i]] = at + float64(i)*gap
			i++
		}
	}
	return out, gap
}
