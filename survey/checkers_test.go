package survey

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/normal"
	"github.com/discreet-dp/discreet/noise"
)

// client is a way of reporting that is looked at from outside.
type client func(src *noise.Source, value int) Report

// events are looked at in reports on v and w: whether the report supports v, w, one and not
// the other, and, for all that is public, the parity of the hash and the row.
func events(o Oracle, v, w int) []func(Report) bool {
	supports := func(r Report, x int) bool {
		sums := make([]int64, o.room())
		o.add(sums, r)
		return o.counts(sums, 1)[x] != 0
	}
	return []func(Report) bool{
		func(r Report) bool { return supports(r, v) },
		func(r Report) bool { return !supports(r, v) },
		func(r Report) bool { return supports(r, v) && !supports(r, w) },
		func(r Report) bool { return r.Hash.A%2 == 0 },
		func(r Report) bool { return r.Hash.A%2 == 0 && supports(r, v) },
		func(r Report) bool { return r.Row%2 == 0 },
		func(r Report) bool { return r.Row%2 == 0 && r.Answer == 0 },
	}
}

// lossError is the probability that checkLoss cries wolf.
const lossError = 1e-6

// lowerBound draws n reports on each of two values, and bounds the privacy loss from below by
// Clopper and Pearson's intervals.
func lowerBound(o Oracle, f client, v, w, n int) float64 {
	count := func(value int, src *noise.Source) []int64 {
		all := events(o, v, w)
		hits := make([]int64, len(all))
		for range n {
			r := f(src, value)
			for i, in := range all {
				if in(r) {
					hits[i]++
				}
			}
		}
		return hits
	}
	a, b := count(v, seeded(1)), count(w, seeded(2))
	plain := rates{p: 1, q: 0, gap: 1}
	worst := 0.0
	for i := range a {
		for _, pair := range [][2]int64{{a[i], b[i]}, {b[i], a[i]}} {
			beta := lossError / float64(2*len(a))
			low := plain.interval(pair[0], int64(n), beta, Sample)[0]
			high := plain.interval(pair[1], int64(n), beta, Sample)[1]
			worst = math.Max(worst, math.Log(low/high))
		}
	}
	return worst
}

func checkLoss(o Oracle, f client, v, w, n int) error {
	if got, claim := lowerBound(o, f, v, w, n), o.Cost().Epsilon.Float(); got > claim {
		return fmt.Errorf("the privacy loss is at least %.4f, above %v", got, claim)
	}
	return nil
}

// checkUnbiased runs a survey and compares the estimates with the truth, in standard errors.
func checkUnbiased(o Oracle, f client, estimate func(*Collector) []float64, weights ...int) error {
	const n = 200_000
	people := holders(n, weights...)
	truth := make([]float64, o.Size())
	c, src := NewCollector(o), seeded(3)
	for _, v := range people {
		truth[v] += 1.0 / n
		if err := c.Add(f(src, v)); err != nil {
			return err
		}
	}
	for x, e := range estimate(c) {
		sd := math.Sqrt(o.Variance(truth[x], n, Fixed))
		// Seven standard errors, once in 10^11.
		if z := (e - truth[x]) / sd; math.Abs(z) > normal.Quantile(1e-11) {
			return fmt.Errorf("value %d: estimate %.4f of %.4f, off by %.1f standard errors", x, e, truth[x], z)
		}
	}
	return nil
}

// proportions are the estimates themselves.
func proportions(c *Collector) []float64 {
	var out []float64
	for _, count := range c.Counts() {
		out = append(out, c.oracle.rated().estimate(count, c.n))
	}
	return out
}

// honest is the client of an oracle.
func honest(o Oracle) client {
	return func(src *noise.Source, v int) Report { return o.report(dice{src}, v) }
}
