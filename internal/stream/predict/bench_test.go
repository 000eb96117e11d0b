package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// classes are people of a few kinds, in each of which attributes are independent: a database of any
// number of cells of which every conjunction is known at once.
type classes struct {
	domain *linear.Domain
	shares []float64
	values [][][]float64 // by class, attribute and value
}

func newClasses(r *rand.Rand, d *linear.Domain, n int) *classes {
	c := &classes{domain: d}
	shares := func(k int, skew float64) []float64 {
		out := make([]float64, k)
		sum := 0.0
		for i := range out {
			out[i] = math.Pow(r.ExpFloat64(), skew)
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
		return out
	}
	c.shares = shares(n, 1)
	for range n {
		var of [][]float64
		for _, a := range d.Attributes() {
			of = append(of, shares(len(a.Values), 1.5))
		}
		c.values = append(c.values, of)
	}
	return c
}

// share is the share of people that a conjunction selects.
func (c *classes) share(q *linear.Query) float64 {
	sum := 0.0
	for k, p := range c.shares {
		for _, a := range q.Attributes() {
			s := 0.0
			for v, w := range q.Single(a) {
				s += float64(w) * c.values[k][a][v]
			}
			p *= s
		}
		sum += p
	}
	return sum
}

// conjunction is one of 1 to 5 attributes with a random set of values each.
func conjunction(r *rand.Rand, d *linear.Domain) *linear.Query {
	some := r.Perm(len(d.Attributes()))[:1+r.IntN(min(5, len(d.Attributes())))]
	slices.Sort(some)
	var factors []linear.Factor
	for _, a := range some {
		f := linear.Factor{Attributes: []int{a}, Weights: make([]int64, d.Size([]int{a}))}
		for slices.Max(f.Weights) == 0 {
			for i := range f.Weights {
				f.Weights[i] = r.Int64N(2)
			}
		}
		factors = append(factors, f)
	}
	q, err := d.Query(1, factors...)
	if err != nil {
		panic(err)
	}
	return q
}

// BenchmarkStream predicts conjunctions, and learns those where the prediction is off by more than
// 0.03 of all, with noise of 0.005.
func BenchmarkStream(b *testing.B) {
	for _, sizes := range [][]int{{10, 10, 10, 10, 10, 10, 10}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, {10, 16, 7, 5, 2, 10, 2}, {2, 2, 4, 8}} {
		d := domain(b, sizes...)
		b.Run(fmt.Sprint(d.Cells(), " cells"), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			people := newClasses(r, d, 4)
			p, err := NewWeights(d, 1e6)
			if err != nil {
				b.Fatal(err)
			}
			paid := 0
			b.ResetTimer()
			for range b.N {
				q := conjunction(r, d)
				v, _ := p.Predict(q)
				x := people.share(q)
				if math.Abs(v/1e6-x) > 0.03 {
					paid++
					p.Learn(Released{q, int64(1e6 * (x + 0.005*r.NormFloat64())), 5000})
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "queries/s")
			b.ReportMetric(float64(paid), "paid")
			b.ReportMetric(float64(m.Sys)/1e6, "MB")
		})
	}
}
