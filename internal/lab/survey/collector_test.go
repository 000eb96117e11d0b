package survey

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

func TestSimulate(t *testing.T) {
	people := holders(20_000, 3, 1, 0)
	for _, name := range names {
		o := oracle(name, 3, "2")
		last := 0
		c := must(Simulate(context.Background(), o, people, func(asked int) { last = max(last, asked) }))
		if c.People() != 20_000 || last != 20_000 {
			t.Errorf("%s: %d people, told of %d", name, c.People(), last)
		}
		for x, want := range []float64{0.75, 0.25, 0} {
			if got, sd := proportions(c)[x], math.Sqrt(o.Variance(want, 20_000, Fixed)); math.Abs(got-want) > 7*sd {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		if c, err := Simulate(context.Background(), o, nil, nil); err != nil || c.People() != 0 {
			t.Errorf("%s: %v, %v", name, c, err)
		}
		if c, err := Simulate(context.Background(), o, []int{0, 3}, nil); !errors.Is(err, errValue) || c != nil {
			t.Errorf("%s: %v, %v", name, c, err)
		}
		stopped, stop := context.WithCancel(context.Background())
		stop()
		if c, err := Simulate(stopped, o, people, nil); !errors.Is(err, context.Canceled) || c != nil {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

// BenchmarkBinary is a million randomized responses.
func BenchmarkBinary(b *testing.B) {
	q, _ := NewBinary(dp.One)
	src := noise.NewSource()
	yes := 0
	for b.Loop() {
		for i := range 1_000_000 {
			if q.Randomize(src, i&1 == 0) {
				yes++
			}
		}
	}
}

// BenchmarkRandomize is one report, of a domain of 100 values.
func BenchmarkRandomize(b *testing.B) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			o := oracle(name, 100, "1")
			src := noise.NewSource()
			for b.Loop() {
				if _, err := o.Randomize(src, 42); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCollect is a million reports of a domain of 100 values, counted.
func BenchmarkCollect(b *testing.B) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			o := oracle(name, 100, "1")
			src := noise.NewSource()
			reports := make([]Report, 1000)
			for i := range reports {
				reports[i], _ = o.Randomize(src, i%100)
			}
			for b.Loop() {
				c := NewCollector(o)
				for i := range 1_000_000 {
					if err := c.Add(reports[i%len(reports)]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkEstimates is what 100 estimates with intervals take, of a million people.
func BenchmarkEstimates(b *testing.B) {
	for _, of := range []Population{Fixed, Sample} {
		b.Run(of.String(), func(b *testing.B) {
			o := oracle("oue", 100, "1")
			c := NewCollector(o)
			c.n = 1_000_000
			for x := range c.sums {
				c.sums[x] = int64(268_941 + 37*x)
			}
			for b.Loop() {
				if _, err := c.Estimates(0.95, of); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHeavy finds the heavy hitters of a million people, the reports being there.
func BenchmarkHeavy(b *testing.B) {
	for name, size := range map[string]uint64{"domain=1e6": 1_000_000, "domain=2^48": 1 << 48} {
		b.Run(name, func(b *testing.B) {
			_, c := findHeavy(b, size, "1", 1_000_000, []uint64{1, 77_777, 123_456}, []float64{0.1, 0.05, 0.03})
			for b.Loop() {
				found, err := c.Find(0.95)
				if err != nil || len(found) != 3 {
					b.Fatal(found, err)
				}
			}
		})
	}
}
