package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

func domain(t testing.TB, sizes ...int) *linear.Domain {
	t.Helper()
	var attributes []linear.Attribute
	for i, n := range sizes {
		a := linear.Attribute{Name: fmt.Sprint("a", i)}
		for v := range n {
			a.Values = append(a.Values, fmt.Sprint(v))
		}
		attributes = append(attributes, a)
	}
	d, err := linear.NewDomain(attributes...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// truth sums a histogram by the definition.
func truth(q *linear.Query, counts []float64) float64 {
	sum := 0.0
	q.Runs(func(from, to int, weight int64) {
		for _, c := range counts[from:to] {
			sum += float64(weight) * c
		}
	})
	return sum
}

// random is a query with a product of random sets, and sometimes other weights.
func random(r *rand.Rand, d *linear.Domain, steps int64) *linear.Query {
	var factors []linear.Factor
	for a, x := range d.Attributes() {
		if r.IntN(2) == 0 {
			f := linear.Factor{Attributes: []int{a}, Weights: make([]int64, len(x.Values))}
			for i := range f.Weights {
				f.Weights[i] = r.Int64N(2)
			}
			factors = append(factors, f)
		}
	}
	if steps > 1 && r.IntN(2) == 0 {
		f := linear.Factor{Attributes: []int{r.IntN(len(d.Attributes()))}}
		for range d.Size(f.Attributes) {
			f.Weights = append(f.Weights, r.Int64N(steps+1))
		}
		factors = append(factors, f)
	}
	q, err := d.Query(steps, factors...)
	if err != nil {
		panic(err)
	}
	return q
}

func TestExp(t *testing.T) {
	for x := -40.0; x < 40; x += 0.0137 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 1e-15*want*4 {
			t.Errorf("exp %v is %v, not %v", x, got, want)
		}
	}
}

// What was learned with little noise is predicted, also after other things were learned, and the
// histogram says the same as the predictions.
func TestLearn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	d := domain(t, 2, 3, 4)
	for round := range 20 {
		counts := make([]float64, d.Cells())
		n := 0.0
		for i := range counts {
			counts[i] = 100 + math.Floor(1000*r.ExpFloat64()*r.ExpFloat64())
			n += counts[i]
		}
		single, err := NewWeights(d, n)
		if err != nil {
			t.Fatal(err)
		}
		several, err := NewEnsemble(d, n, 8)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range []Predictor{single, several} {
			name := []string{"weights", "ensemble"}[i]
			var past []Released
			for range 12 {
				q := random(r, d, []int64{1, 10}[round%2])
				past = append(past, Released{q, int64(truth(q, counts)), 0.004 * n * float64(q.Steps())})
				p.Learn(past[len(past)-1])
			}
			h := p.Histogram()
			for _, x := range past {
				v, spread := p.Predict(x.Query)
				if math.Abs(v-float64(x.Answer)) > 3*x.Scale || spread < 0 {
					t.Errorf("%s: learned %d and predicts %v, in round %d", name, x.Answer, v, round)
				}
				if got := truth(x.Query, h); math.Abs(got-v) > 2*x.Scale || name == "weights" && math.Abs(got-v) > 1e-6*n {
					t.Errorf("%s: the histogram says %v, and the prediction %v", name, got, v)
				}
			}
		}
	}
}

// Where the number of people is only about known, an answer about everything says it.
func TestTotal(t *testing.T) {
	d := domain(t, 2, 3)
	all, _ := d.Query(10)
	half, _ := d.Query(10, linear.Factor{Attributes: []int{0}, Weights: []int64{0, 1}})
	p, _ := NewWeights(d, 1000)
	p.Learn(Released{half, 2000, 1})
	p.Learn(Released{all, 20000, 1})
	if v, _ := p.Predict(all); v != 20000 {
		t.Error(v)
	}
	if v, _ := p.Predict(half); math.Abs(v-2000) > 5 {
		t.Error(v)
	}
	none, _ := d.Query(10, linear.Factor{Weights: []int64{0}})
	p.Learn(Released{none, 77, 1})
	if v, _ := p.Predict(none); v != 0 {
		t.Error(v)
	}
}

// Questions in between change nothing, and neither does how sums were kept: predictions are equal
// to the last bit.
func TestDeterministic(t *testing.T) {
	d := domain(t, 2, 3, 4)
	make := func(kind int) Predictor {
		var p Predictor
		var err error
		switch kind {
		case 0:
			p, err = NewWeights(d, 1000)
		case 1:
			p, err = NewEnsemble(d, 1000, 9)
		default:
			d = domain(t, 2, 3)
			p, err = NewHalving(d, 8, 0.1)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for kind := range 3 {
		r := rand.New(rand.NewPCG(1, 1))
		a, b := make(kind), make(kind)
		for range 40 {
			q := random(r, d, 5)
			x := Released{q, r.Int64N(5000), 10}
			b.Predict(random(r, d, 5))
			if w, ok := b.(*weights); ok {
				w.sums.room = 0
			}
			a.Learn(x)
			b.Learn(x)
			for range 10 {
				q := random(r, d, 5)
				v, s := a.Predict(q)
				u, z := b.Predict(q)
				if u != v || s != z {
					t.Fatalf("%d: %v and %v", kind, u, v)
				}
				a.Predict(random(r, d, 5))
			}
		}
	}
}

// Noise that nobody expects, and answers that contradict each other, leave finite predictions.
func TestAbsurd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	d := domain(t, 2, 3, 4)
	single, _ := NewWeights(d, 10)
	several, _ := NewEnsemble(d, 10, 8)
	small := domain(t, 2, 3)
	exact, _ := NewHalving(small, 5, 0.01)
	for _, p := range []Predictor{single, several, exact} {
		d := d
		if p == exact {
			d = small
		}
		for range 60 {
			q := random(r, d, 3)
			p.Learn(Released{q, []int64{math.MinInt64, -5, 0, 3, 30, 1000, math.MaxInt64}[r.IntN(7)],
				[]float64{0, 1e-300, 1, 1e300, math.Inf(1), math.NaN(), -1}[r.IntN(7)]})
			v, s := p.Predict(random(r, d, 3))
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || math.IsNaN(s) || s < 0 {
				t.Fatalf("%T predicts %v, %v", p, v, s)
			}
		}
		for _, h := range p.Histogram() {
			if !(h >= 0) || math.IsInf(h, 0) {
				t.Fatalf("%T has %v people in a cell", p, h)
			}
		}
	}
}

func TestBadPredictors(t *testing.T) {
	small, large := domain(t, 2, 3), domain(t, 100, 100, 200)
	for _, c := range []struct {
		make func() (Predictor, error)
		want string
	}{
		{func() (Predictor, error) { return NewWeights(small, 0) }, "there must be people"},
		{func() (Predictor, error) { return NewWeights(small, math.NaN()) }, "there must be people"},
		{func() (Predictor, error) { return NewWeights(small, math.Inf(1)) }, "there must be people"},
		{func() (Predictor, error) { return NewEnsemble(small, 5, 7) }, "8 to 32 members, not 7"},
		{func() (Predictor, error) { return NewEnsemble(small, 5, 33) }, "8 to 32 members, not 33"},
		{func() (Predictor, error) { return NewEnsemble(large, 5, 32) }, "32 histograms of 2000000 cells are too large"},
		{func() (Predictor, error) { return NewHalving(small, 0, 0.1) }, "alpha between 0 and 1"},
		{func() (Predictor, error) { return NewHalving(small, 5, 0) }, "alpha between 0 and 1"},
		{func() (Predictor, error) { return NewHalving(small, 5, math.NaN()) }, "alpha between 0 and 1"},
		{func() (Predictor, error) {
			return NewHalving(small, 100, 0.1)
		}, "there are 96560646 databases of 100 people in 6 cells, and halving can keep 1048576"},
		{func() (Predictor, error) { return NewHalving(large, 1000000, 0.1) }, "there are about 10^829"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
