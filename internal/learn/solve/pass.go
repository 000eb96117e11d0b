package solve

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Sizes of a pass over the rows. Which rows are added up with which depends on these and on the
// number of rows, and not on the machine.
const (
	segments = 64  // each is one worker's at a time
	block    = 512 // rows that are added up by themselves
	near     = 64  // rows that are read twice while they are in the nearest cache
)

// depth is the largest number of roundings that a row's share of the result of a pass meets: its
// product, two sums with three other rows, sums within its block, of blocks within its segment, and
// of segments.
func depth(n int) int {
	const inBlock = block/4 + 3 + block/near*3 // by fours, and what does not divide by four
	return 3 + inBlock + (n/segments/block + 2) + segments
}

// parallel does work 0..n-1 on all processors.
func parallel(n int, work func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	all.Wait()
}

// few is up to how many rows it is faster not to share the work.
const few = 4096

// segments does work for every segment that has rows.
func (f *sum) segments(work func(s, lo, hi int)) {
	one := func(s int) {
		if lo, hi := segment(s, len(f.x)); lo < hi {
			work(s, lo, hi)
		}
	}
	if len(f.x) > few {
		parallel(segments, one)
		return
	}
	for s := range min(segments, len(f.x)) { // the first ones are the longest
		one(s)
	}
}

// segment is the rows of segment s of n.
func segment(s, n int) (lo, hi int) {
	return s*(n/segments) + min(s, n%segments), (s+1)*(n/segments) + min(s+1, n%segments)
}

// pass returns the sum of t_i x_i over all rows, where t is what coefficients makes of the products
// w.x_i of rows lo and following.
func (f *sum) pass(w []float64, coefficients func(lo int, products, t []float64)) []float64 {
	parts := make([][]float64, segments)
	f.segments(func(s, lo, hi int) {
		part, acc := make([]float64, f.dim), make([]float64, f.dim)
		var products, t [near]float64
		for from := lo; from < hi; from += block {
			clear(acc)
			for at := from; at < min(from+block, hi); at += near {
				end := min(at+near, from+block, hi)
				x := f.x[at:end]
				dots(products[:], w, x)
				coefficients(at, products[:len(x)], t[:len(x)])
				combine(acc, t[:], x)
			}
			for j, v := range acc {
				part[j] += v
			}
		}
		parts[s] = part
	})
	out := make([]float64, f.dim)
	for _, part := range parts {
		for j, v := range part {
			out[j] += v
		}
	}
	return out
}

// dots sets out to the products of w with rows.
func dots(out, w []float64, x [][]float32) {
	k := 0
	for ; k+4 <= len(x); k += 4 {
		x0, x1, x2, x3 := x[k][:len(w)], x[k+1][:len(w)], x[k+2][:len(w)], x[k+3][:len(w)]
		var s0, s1, s2, s3 float64
		for j, v := range w {
			s0 += v * float64(x0[j])
			s1 += v * float64(x1[j])
			s2 += v * float64(x2[j])
			s3 += v * float64(x3[j])
		}
		out[k], out[k+1], out[k+2], out[k+3] = s0, s1, s2, s3
	}
	for ; k < len(x); k++ {
		x0 := x[k][:len(w)]
		s0 := 0.0
		for j, v := range w {
			s0 += v * float64(x0[j])
		}
		out[k] = s0
	}
}

// combine adds the sum of t_k x_k to acc.
func combine(acc, t []float64, x [][]float32) {
	k := 0
	for ; k+4 <= len(x); k += 4 {
		x0, x1, x2, x3 := x[k][:len(acc)], x[k+1][:len(acc)], x[k+2][:len(acc)], x[k+3][:len(acc)]
		t0, t1, t2, t3 := t[k], t[k+1], t[k+2], t[k+3]
		for j := range acc {
			acc[j] += (t0*float64(x0[j]) + t1*float64(x1[j])) + (t2*float64(x2[j]) + t3*float64(x3[j]))
		}
	}
	for ; k < len(x); k++ {
		x0, t0 := x[k][:len(acc)], t[k]
		for j := range acc {
			acc[j] += t0 * float64(x0[j])
		}
	}
}
