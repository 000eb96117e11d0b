package solve

import (
	"context"
	"flag"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/optimize"

	"github.com/discreet-dp/discreet/internal/learn/lossfn"
)

var benchRows = flag.Int("rows", 100_000, "rows of the benchmarks")

// plain is a logistic fit without privacy and without proofs: L-BFGS of a library, on float64 rows,
// with the library's products.
func plain(f *sum, tolerance float64) (*optimize.Result, error) {
	n, d := len(f.x), f.dim
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i, row := range f.x {
		for j, v := range row {
			x.Data[i*d+j] = float64(v)
		}
	}
	z := blas64.Vector{N: n, Data: make([]float64, n), Inc: 1}
	s := blas64.Vector{N: n, Data: make([]float64, n), Inc: 1}
	score := func(w []float64) {
		blas64.Gemv('N', 1, x, blas64.Vector{N: d, Data: w, Inc: 1}, 0, z)
	}
	problem := optimize.Problem{
		Func: func(w []float64) float64 {
			score(w)
			sum := f.lambda / 2 * dot(w, w)
			for i, v := range z.Data {
				m := v * f.y[i]
				sum += math.Log1p(math.Exp(-math.Abs(m))) + max(0, -m)
			}
			return sum
		},
		Grad: func(g, w []float64) {
			score(w)
			for i, v := range z.Data {
				s.Data[i] = -f.y[i] / (1 + math.Exp(v*f.y[i]))
			}
			copy(g, w)
			blas64.Gemv('T', 1, x, s, f.lambda, blas64.Vector{N: d, Data: g, Inc: 1})
		},
	}
	return optimize.Minimize(problem, make([]float64, d), &optimize.Settings{GradientThreshold: tolerance}, &optimize.LBFGS{})
}

// quick is the same with our own products, on all processors.
func quick(f *sum, tolerance float64) (*optimize.Result, error) {
	var z []float64
	problem := optimize.Problem{
		Func: func(w []float64) float64 {
			p := f.at(w)
			z = p.z
			sum := f.lambda / 2 * dot(w, w)
			for i, v := range z {
				sum += f.loss.Value(v, f.y[i])
			}
			return sum
		},
		Grad: func(g, w []float64) { copy(g, f.at(w).g) },
	}
	return optimize.Minimize(problem, make([]float64, f.dim), &optimize.Settings{GradientThreshold: tolerance}, &optimize.LBFGS{})
}

// BenchmarkFitAgainstPlain is a fit with its certificate, in times of a plain one of the same data.
func BenchmarkFitAgainstPlain(b *testing.B) {
	l := lossfn.Logistic()
	b.Run("dense", func(b *testing.B) { against(b, &Problem{Loss: l, Rows: made(l, *benchRows, 100, 10, 1), Lambda: 40}) })
	b.Run("census", func(b *testing.B) { against(b, &Problem{Loss: l, Rows: onehot(*benchRows), Lambda: 40}) })
}

func against(b *testing.B, p *Problem) {
	f := p.sum()
	tolerance := 1e-6 * float64(*benchRows)
	var ours, exactly, theirs, parallel time.Duration
	for b.Loop() {
		since := time.Now()
		if _, err := Minimise(context.Background(), p, nil, tolerance, nil); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(since)
		since = time.Now()
		if _, err := Exactly(context.Background(), p, nil, 0x1p-12, nil); err != nil {
			b.Fatal(err)
		}
		exactly += time.Since(since)
		since = time.Now()
		if _, err := plain(f, tolerance); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(since)
		since = time.Now()
		if _, err := quick(f, tolerance); err != nil {
			b.Fatal(err)
		}
		parallel += time.Since(since)
	}
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "minimise/plain")
	b.ReportMetric(exactly.Seconds()/theirs.Seconds(), "exactly/plain")
	b.ReportMetric(ours.Seconds()/parallel.Seconds(), "minimise/quick")
	b.ReportMetric(exactly.Seconds()/parallel.Seconds(), "exactly/quick")
	b.ReportMetric(ours.Seconds()/float64(b.N), "s/minimise")
	b.ReportMetric(exactly.Seconds()/float64(b.N), "s/exactly")
}
