package noise

import (
	"math/big"
	"testing"
)

// The scales of the benchmarks: narrow (no offsets), middling, wide.
var benchScales = []string{"1", "100", "1e6"}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func square(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }

var sink int64

// BenchmarkSource is the cost of 8 random bytes, to compare the others with.
func BenchmarkSource(b *testing.B) {
	src := NewSource()
	b.SetBytes(8)
	for b.Loop() {
		sink += int64(src.Uint64())
	}
}

func BenchmarkLaplace(b *testing.B) {
	for _, s := range benchScales {
		b.Run("scale="+s, func(b *testing.B) {
			d, _ := NewLaplace(rat(s))
			src := NewSource()
			for b.Loop() {
				sink += d.Draw(src)
			}
		})
	}
}

func BenchmarkGaussian(b *testing.B) {
	for _, s := range benchScales {
		b.Run("sigma="+s, func(b *testing.B) {
			d, _ := NewGaussian(square(rat(s)))
			src := NewSource()
			for b.Loop() {
				sink += d.Draw(src)
			}
		})
	}
}

// BenchmarkFill is the cost of a million draws; the metric is per draw.
func BenchmarkFill(b *testing.B) {
	dst := make([]int64, 1_000_000)
	src := NewSource()
	run := func(name string, fill func(*Source, []int64)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				fill(src, dst)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)), "ns/draw")
		})
	}
	for _, s := range benchScales {
		l, _ := NewLaplace(rat(s))
		run("laplace/scale="+s, l.Fill)
		g, _ := NewGaussian(square(rat(s)))
		run("gaussian/sigma="+s, g.Fill)
	}
}

func BenchmarkNewLaplace(b *testing.B) {
	for _, s := range benchScales {
		b.Run("scale="+s, func(b *testing.B) {
			b.ReportAllocs()
			scale := rat(s)
			for b.Loop() {
				NewLaplace(scale)
			}
		})
	}
}

func BenchmarkNewGaussian(b *testing.B) {
	for _, s := range benchScales {
		b.Run("sigma="+s, func(b *testing.B) {
			b.ReportAllocs()
			sigma2 := square(rat(s))
			for b.Loop() {
				NewGaussian(sigma2)
			}
		})
	}
}

func BenchmarkBernoulliExp(b *testing.B) {
	src := NewSource()
	x := rat("0.7")
	for b.Loop() {
		BernoulliExp(src, x)
	}
}

// BenchmarkRefine is the cost of the exact arithmetic, which a draw needs about
// once in ten million times.
func BenchmarkRefine(b *testing.B) {
	run := func(name string, l *lattice) {
		v := uint64(l.table.bound[5])<<32 + 1<<32 - 1
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink += int64(random{digits(v)}.block(l))
			}
		})
	}
	l, _ := NewLaplace(rat("1e6"))
	run("laplace", l.l)
	g, _ := NewGaussian(rat("1e12"))
	run("gaussian", g.l)
}
