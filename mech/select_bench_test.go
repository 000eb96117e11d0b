package mech

import (
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/noise"
)

// shapes are a million scores that samplers by rejection find easy and hard.
func shapes() map[string][]int64 {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	equal, random, one := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range n {
		random[i] = rng.Int64N(1000)
	}
	one[n/2] = 1 << 40
	return map[string][]int64{"equal": equal, "random": random, "one": one}
}

func BenchmarkSelect(b *testing.B) {
	for _, m := range selectors(b, general, "0.1") {
		for name, x := range shapes() {
			b.Run(m.Name()+"/"+name, func(b *testing.B) {
				r, scores := NewReleaser(noise.NewSource()), Exactly(x...)
				for b.Loop() {
					if _, err := r.Select(scores, m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkQuantiles(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	d := make([]int64, 1_000_000)
	for i := range d {
		d[i] = rng.Int64N(1 << 40)
	}
	values := Exactly(d...)
	for name, at := range map[string][]string{"median": {"0.5"}, "quartiles": {"0.25", "0.5", "0.75"}} {
		q := quantiles(b, QuantileQuery{At: rats(at...), Low: 0, High: 1<<40 - 1, PerUnit: 1}, "1")
		b.Run(name, func(b *testing.B) {
			r := NewReleaser(noise.NewSource())
			for b.Loop() {
				r.Quantiles(values, q)
			}
		})
	}
}
