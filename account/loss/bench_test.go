package loss

import (
	"math"
	"testing"
)

func benchmarkEpsilon(b *testing.B, s Sum) {
	b.ReportAllocs()
	var width float64
	for b.Loop() {
		e, err := s.Epsilon(1e-6)
		if err != nil {
			b.Fatal(err)
		}
		width = (e.Upper - e.Lower) / e.Upper
	}
	b.ReportMetric(width*1e12, "width-1e-12")
}

// The same mechanism 1,000 times.
func BenchmarkLaplace(b *testing.B)  { benchmarkEpsilon(b, times(b, lap(b, 0.1), 1000)) }
func BenchmarkResponse(b *testing.B) { benchmarkEpsilon(b, times(b, rr(b, 0.1, 0), 1000)) }
func BenchmarkDiscreteGaussian(b *testing.B) {
	benchmarkEpsilon(b, times(b, discreteGaussian{100, 1}, 1000))
}
func BenchmarkSampledGaussian(b *testing.B) {
	benchmarkEpsilon(b, times(b, poisson(b, gauss(b, 1), 0.01, Remove), 1000))
}

// A thousand different mechanisms.
func thousand(b *testing.B, make func(part float64, i int) Law) Sum {
	var s Sum
	for i := range 1000 {
		s = s.plus(b, make(float64(i)/999, i), 1)
	}
	return s
}

func BenchmarkDifferentLaplace(b *testing.B) {
	benchmarkEpsilon(b, thousand(b, func(x float64, _ int) Law { return lap(b, 0.01+0.2*x) }))
}

func BenchmarkDifferentGaussianAndLaplace(b *testing.B) {
	benchmarkEpsilon(b, thousand(b, func(x float64, i int) Law {
		if i%2 == 0 {
			return gauss(b, 0.01+0.1*x)
		}
		return lap(b, 0.01+0.1*x)
	}))
}

func BenchmarkDifferentResponse(b *testing.B) {
	benchmarkEpsilon(b, thousand(b, func(x float64, _ int) Law { return rr(b, 0.01+0.2*x, 0) }))
}

func BenchmarkDifferentSampledGaussian(b *testing.B) {
	benchmarkEpsilon(b, thousand(b, func(x float64, i int) Law {
		rate := 0.0125 + 0.0075*math.Sin(float64(i))
		return poisson(b, gauss(b, 1/(0.8+1.2*x)), rate, Remove)
	}))
}
