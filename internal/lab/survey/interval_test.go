package survey

import (
	"fmt"
	"math"
	"testing"
)

// checkCoverage computes, exactly, how often an interval covers m of n, when the count is
// that of a Fixed population.
func checkCoverage(interval func(count, n int64) [2]float64, r rates, n, m int64, confidence float64) error {
	own, rest := newBinomialLaw(m, r.p), newBinomialLaw(n-m, r.q)
	f := float64(m) / float64(n)
	covered := 0.0
	for count := range n + 1 {
		p := own.plusTo(rest, count) - own.plusTo(rest, count-1)
		if i := interval(count, n); i[0] <= f+1e-12 && f <= i[1]+1e-12 {
			covered += p
		}
	}
	if covered < confidence-1e-9 {
		return fmt.Errorf("%d of %d is covered with probability %.4f, below %v", m, n, covered, confidence)
	}
	return nil
}

// TestFixedCoverage: for every true number of holders the coverage, summed exactly over all
// counts, is the confidence or more; and not much more, where n is not small.
func TestFixedCoverage(t *testing.T) {
	for _, name := range names {
		for _, epsilon := range []string{"0.2", "1", "4"} {
			r := oracle(name, 4, epsilon).ownRates()
			for _, n := range []int64{1, 2, 7, 30} {
				for _, confidence := range []float64{0.5, 0.95} {
					known := map[int64][2]float64{}
					for count := range n + 1 {
						known[count] = r.interval(count, n, 1-confidence, Fixed)
					}
					for m := range n + 1 {
						if err := checkCoverage(func(c, _ int64) [2]float64 { return known[c] }, r, n, m, confidence); err != nil {
							t.Errorf("%s at %s: %v", name, epsilon, err)
						}
					}
					for count := range n + 1 {
						known[count] = r.wider(count, n, 1-confidence)
					}
					for m := range n + 1 {
						if err := checkCoverage(func(c, _ int64) [2]float64 { return known[c] }, r, n, m, confidence); err != nil {
							t.Errorf("wider, %s at %s: %v", name, epsilon, err)
						}
					}
				}
			}
		}
	}
}

// TestSampleCoverage is the same for a random sample, where the count is binomial.
func TestSampleCoverage(t *testing.T) {
	for _, name := range names {
		r := oracle(name, 4, "1").ownRates()
		for _, n := range []int64{1, 5, 40} {
			intervals := make([][2]float64, n+1)
			for count := range intervals {
				intervals[count] = r.interval(int64(count), n, 0.05, Sample)
			}
			for f := 0.0; f <= 1; f += 0.01 {
				l, covered := newBinomialLaw(n, r.q+f*r.gap), 0.0
				for count, i := range intervals {
					if i[0] <= f && f <= i[1] {
						covered += l.to(int64(count)) - l.to(int64(count)-1)
					}
				}
				if covered < 0.95-1e-9 {
					t.Errorf("%s: %v of %d is covered with probability %v", name, f, n, covered)
				}
			}
		}
	}
}

// TestIntervalIsTight: with many people the interval is that of the normal approximation with
// the exact variance.
func TestIntervalIsTight(t *testing.T) {
	for _, name := range names {
		o := oracle(name, 8, "1")
		r := o.ownRates()
		for _, of := range []Population{Fixed, Sample} {
			const n, f = 1_000_000, 0.3
			count := int64(math.Round(n * (r.q + f*r.gap)))
			i := r.interval(count, n, 0.05, of)
			want := 1.959964 * math.Sqrt(o.Variance(f, n, of))
			if got := (i[1] - i[0]) / 2; math.Abs(got/want-1) > 0.01 {
				t.Errorf("%s, %v: half width %v, want %v", name, of, got, want)
			}
			if math.Abs((i[0]+i[1])/2-f) > 0.02*want {
				t.Errorf("%s, %v: [%v, %v] is not around %v", name, of, i[0], i[1], f)
			}
		}
	}
	// Nothing but the ends: all or none of the reports.
	r := oracle("oue", 8, "1").ownRates()
	for _, of := range []Population{Fixed, Sample} {
		if i := r.interval(0, 1000, 0.05, of); i[0] != 0 || i[1] != 0 && i[1] > 1e-9 {
			t.Errorf("%v: none of 1000 reports gives %v", of, i)
		}
		if i := r.interval(1000, 1000, 0.05, of); i[1] != 1 {
			t.Errorf("%v: all of 1000 reports give %v", of, i)
		}
	}
}

// TestLaw compares with the definition.
func TestLaw(t *testing.T) {
	for _, c := range []struct {
		n int64
		p float64
	}{{0, 0.5}, {1, 0.3}, {10, 0.01}, {50, 0.5}, {50, 0.999}, {3, 1}, {3, 0}} {
		l, sum := newBinomialLaw(c.n, c.p), 0.0
		for k := range c.n + 1 {
			lc, _ := math.Lgamma(float64(c.n + 1))
			la, _ := math.Lgamma(float64(k + 1))
			lb, _ := math.Lgamma(float64(c.n - k + 1))
			sum += math.Exp(lc-la-lb) * math.Pow(c.p, float64(k)) * math.Pow(1-c.p, float64(c.n-k))
			if got := l.to(k); math.Abs(got-sum) > 1e-12 {
				t.Errorf("P(Bin(%d, %v) <= %d) = %v, want %v", c.n, c.p, k, got, sum)
			}
			if got := l.from(k) + l.to(k-1); math.Abs(got-1) > 1e-12 {
				t.Errorf("Bin(%d, %v) at %d: the two sides add up to %v", c.n, c.p, k, got)
			}
		}
	}
}
