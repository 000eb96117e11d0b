package solve

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/optimize"
)

// losses is one loss of each kind, and some at the ends of their widths.
func losses(t testing.TB) []Loss {
	t.Helper()
	out := []Loss{Logistic()}
	for _, make := range []func(float64) (Loss, error){Huber, Squares} {
		for _, width := range []float64{0.5, MinWidth, 3} {
			l := must(make(width))
			out = append(out, l)
		}
	}
	return out
}

// madeUpRows is n rows with targets that follow a line, with noise.
func madeUpRows(l Loss, n, dim int, radius float64, seed uint64) *Rows {
	r := rand.New(rand.NewPCG(seed, 1))
	truth := make([]float64, dim)
	for j := range truth {
		truth[j] = r.NormFloat64() / math.Sqrt(float64(dim)) * 2
	}
	b := NewBuilder(dim, radius)
	x := make([]float64, dim)
	for range n {
		score := 0.0
		for j := range x {
			x[j] = r.NormFloat64() * radius / math.Sqrt(float64(dim))
			score += x[j] * truth[j] / radius
		}
		x[dim-1] = radius / math.Sqrt(float64(dim))
		y := score + 0.3*r.NormFloat64()
		if l.OneSided() {
			y = math.Copysign(1, y)
		}
		b.Add(x, float32(y))
	}
	return b.Rows()
}

// onehot is rows like those of a census: six numbers, eight categories of which some are rare, and
// the intercept.
func onehot(n int) *Rows {
	r := rand.New(rand.NewPCG(9, 9))
	sizes := []int{7, 16, 7, 14, 6, 5, 2, 41}
	b := NewBuilder(105, math.Sqrt(15))
	truth := make([]float64, 105)
	for j := range truth {
		truth[j] = r.NormFloat64()
	}
	for range n {
		x := make([]float64, 105)
		for j := range 6 {
			x[j] = 2*math.Pow(r.Float64(), float64(j+1)) - 1
		}
		at := 6
		for _, s := range sizes {
			k := int(float64(s) * math.Pow(r.Float64(), 3))
			x[at+k] = 1
			at += s
		}
		x[104] = 1
		z := -2 * truth[104]
		for j := range x {
			z += truth[j] * x[j]
		}
		y := float32(-1)
		if r.Float64() < 1/(1+math.Exp(-z)) {
			y = 1
		}
		b.Add(x, y)
	}
	return b.Rows()
}

var benchRows = flag.Int("rows", 100_000, "rows of the benchmarks")

// descendPlain is a logistic fit without privacy and without proofs: L-BFGS of a library, on
// float64 rows, with the library's products.
func descendPlain(f *objective, tolerance float64) (*optimize.Result, error) {
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

// descendQuick is the same with our own products, on all processors.
func descendQuick(f *objective, tolerance float64) (*optimize.Result, error) {
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
	l := Logistic()
	b.Run("dense", func(b *testing.B) {
		against(b, &Problem{Loss: l, Rows: madeUpRows(l, *benchRows, 100, 10, 1), Lambda: 40})
	})
	b.Run("census", func(b *testing.B) { against(b, &Problem{Loss: l, Rows: onehot(*benchRows), Lambda: 40}) })
}

func against(b *testing.B, p *Problem) {
	f := p.objective()
	tolerance := 1e-6 * float64(*benchRows)
	var ours, exactly, theirs, parallel time.Duration
	for b.Loop() {
		since := time.Now()
		if _, err := Minimise(context.Background(), p, nil, tolerance, nil); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(since)
		since = time.Now()
		if _, err := MinimiseExactly(context.Background(), p, nil, 0x1p-12, nil); err != nil {
			b.Fatal(err)
		}
		exactly += time.Since(since)
		since = time.Now()
		if _, err := descendPlain(f, tolerance); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(since)
		since = time.Now()
		if _, err := descendQuick(f, tolerance); err != nil {
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

// scales is rows whose features are of many sizes, with hardly a regulariser, and a linear term
// that sends the minimiser far.
func scales(t testing.TB, n, dim int, pull float64, seed uint64) (*Problem, []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 78))
	l := must(Huber(0.5))
	b := NewBuilder(dim, 1)
	for range n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = math.Exp2(-float64(r.IntN(30)))
		}
		b.Add(x, float32(r.Float64()*2-1))
	}
	return &Problem{Loss: l, Rows: b.Rows(), Lambda: l.Curvature() / maxRatio}, random(r, dim, pull)
}

// A training that fails says something about its rows, and nobody paid for that. These are
// minimisers that float64 ends far from, and that steps of Newton's without a look at the slope
// along them never reach.
func TestExactlyConverges(t *testing.T) {
	for _, seed := range []uint64{33, 136, 170} {
		r := rand.New(rand.NewPCG(seed, 9))
		n, dim := []int{300, 1000, 3000}[r.IntN(3)], 4+r.IntN(9)
		pull := float64(n) * (0.02 + 0.3*r.Float64())
		p, b := scales(t, n, dim, pull, seed)
		_, e := math.Frexp(pull / float64(n))
		if _, err := MinimiseExactly(context.Background(), p, linear(b...), math.Ldexp(1, e-12), nil); err != nil {
			t.Errorf("%d rows of %d features: %v", n, dim, err)
		}
	}
}

// What a place settles is what the minimiser rounds to, also where it is far from the minimum: then
// it settles nothing, or steps are large. A proof that takes the error of the gradient and leaves
// out its length is caught here, and by no descent that goes well, because those end where the
// length is less than the error.
func TestSettlesOnlyWhatFollows(t *testing.T) {
	names, all := problems(t)
	for i, p := range all {
		t.Run(names[i], func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			b := random(r, p.Rows.Dim(), p.Rows.Radius()*p.Loss.Slope())
			f := p.objective()
			copy(f.b, b)
			settled, not := 0, 0
			for _, e := range []int{at64(f) - 40, at64(f) - 4, 400} {
				step := 1.0
				for range max(e, -e) {
					if e > 0 {
						step *= 2
					} else {
						step /= 2
					}
				}
				want := must(MinimiseExactly(context.Background(), p, linear(b...), step, nil))
				for _, away := range []float64{0, 0x1p-30, 1, 1000} {
					// As a descent that ended early has it: somewhere, and the gradient there.
					w := random(r, f.dim, away*p.Rows.Radius()*p.Loss.Slope()/f.lambda)
					at := f.at(w)
					start, ok := at.bigPoint()
					if !ok {
						t.Fatal("no number")
					}
					got, ok := at.roundIfCertain(&grid{step: step, lambda: f.lambda}, start)
					if !ok {
						not++
						continue
					}
					settled++
					if !slices.Equal(got, want) {
						t.Fatalf("step %g, %g away: %v, and the minimiser is at %v", step, away, got, want)
					}
				}
			}
			if settled == 0 || not == 0 {
				t.Fatalf("%d settled and %d not: this tests nothing", settled, not)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
