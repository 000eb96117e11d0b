package chart

import (
	"cmp"
	"math"
	"slices"
)

// moveApart moves places apart until any two are a gap from each other, all of them between lo and
// hi, and the sum of the squared moves is the smallest possible. If there is no room, the gap
// shrinks. It returns the places, in the order given, and the gap.
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

// thinLine leaves out the points of a line without which it looks the same: those
// nearer than a tolerance to the line through the rest (Douglas and Peucker 1973).
// A thousand points of a smooth curve become fifty.
func thinLine(line []Point, tolerance float64) []Point {
	if len(line) < 3 {
		return line
	}
	keep := make([]bool, len(line))
	keep[0], keep[len(line)-1] = true, true
	todo := [][2]int{{0, len(line) - 1}}
	for len(todo) > 0 {
		from, to := todo[len(todo)-1][0], todo[len(todo)-1][1]
		todo = todo[:len(todo)-1]
		far, at := tolerance, -1
		for i := from + 1; i < to; i++ {
			if d := segmentDistance(line[i], line[from], line[to]); d > far {
				far, at = d, i
			}
		}
		if at >= 0 {
			keep[at] = true
			todo = append(todo, [2]int{from, at}, [2]int{at, to})
		}
	}
	var out []Point
	for i, k := range keep {
		if k {
			out = append(out, line[i])
		}
	}
	return out
}

// segmentDistance returns how far a point is from the segment between two others.
func segmentDistance(p, a, b Point) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	length := dx*dx + dy*dy
	if length == 0 {
		return math.Hypot(p.X-a.X, p.Y-a.Y)
	}
	t := max(0, min(1, ((p.X-a.X)*dx+(p.Y-a.Y)*dy)/length))
	return math.Hypot(p.X-a.X-t*dx, p.Y-a.Y-t*dy)
}
