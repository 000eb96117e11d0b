package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// secrets are the packages whose types have to do with data or noise.
var secrets = []string{"/internal/sealed", "/stream/histogram", "/mech", "/noise", "/session", "/engine", "/curator", "/internal/entropy"}

// reach collects all types that can be reached from a type by fields, elements, keys, arguments,
// results and methods.
func reach(t reflect.Type, seen map[reflect.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		reach(t.Elem(), seen)
	case reflect.Map:
		reach(t.Key(), seen)
		reach(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			reach(t.Field(i).Type, seen)
		}
	case reflect.Func:
		for i := range t.NumIn() {
			reach(t.In(i), seen)
		}
		for i := range t.NumOut() {
			reach(t.Out(i), seen)
		}
	}
	for i := range t.NumMethod() {
		reach(t.Method(i).Type, seen)
	}
	// The methods of a pointer are not those of what it points to. Only types with names have any.
	if t.Name() != "" && t.Kind() != reflect.Interface {
		reach(reflect.PointerTo(t), seen)
	}
}

// leaks names the types in reach that a predictor must not know, and the ones that could hide them:
// an interface without methods can hold anything, and so can a function's closure.
func leaks(roots ...reflect.Type) (out []string, all map[reflect.Type]bool) {
	all = map[reflect.Type]bool{}
	for _, r := range roots {
		reach(r, all)
	}
	for t := range all {
		for _, s := range secrets {
			if strings.HasSuffix(t.PkgPath(), s) || strings.Contains(t.PkgPath(), s+"/") {
				out = append(out, t.String())
			}
		}
		if t.Kind() == reflect.Interface && t.NumMethod() == 0 {
			out = append(out, "an interface that can hold anything")
		}
	}
	return out, all
}

// No value that reaches a predictor can hold an exact value or noise: not by an argument, not by a
// field, however deep.
func TestPredictorsAreBlind(t *testing.T) {
	found, all := leaks(reflect.TypeFor[Predictor](), reflect.TypeFor[*weights](), reflect.TypeFor[*ensemble](),
		reflect.TypeFor[*halving]())
	for _, f := range found {
		t.Errorf("a predictor can reach %s", f)
	}
	for _, want := range []string{"predict.Released", "linear.Query", "linear.Domain", "linear.group", "predict.marginal"} {
		ok := false
		for a := range all {
			ok = ok || a.String() == want
		}
		if !ok {
			t.Errorf("%s was not looked at", want)
		}
	}
	// What implements Predictor is what was looked at.
	for _, p := range []Predictor{&weights{}, &ensemble{}, &halving{}} {
		if !all[reflect.TypeOf(p)] {
			t.Errorf("%T was not looked at", p)
		}
	}
}

// TestLeaksAreSeen plants some.
func TestLeaksAreSeen(t *testing.T) {
	type deep struct{ list []map[string]*sealed.Vector }
	type taught interface{ Learn(*histogram.Table) }
	type anything struct{ x any }
	for _, planted := range []reflect.Type{
		reflect.TypeOf(deep{list: nil}), reflect.TypeFor[taught](), reflect.TypeOf(anything{x: nil}),
		reflect.TypeFor[func() *noise.Source](),
	} {
		if found, _ := leaks(planted); len(found) == 0 {
			t.Errorf("not seen: %v", planted)
		}
	}
}

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
			p := must(NewWeights(d, 1e6))
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
