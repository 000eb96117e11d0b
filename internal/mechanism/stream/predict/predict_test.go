package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/test/daily"
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
	return must(linear.NewDomain(attributes...))
}

func truth(q *linear.Query, counts []float64) float64 {
	sum := 0.0
	q.Runs(func(from, to int, weight int64) {
		for _, c := range counts[from:to] {
			sum += float64(weight) * c
		}
	})
	return sum
}

// randomQuery is a query with a product of random sets, and sometimes other weights.
func randomQuery(r *rand.Rand, d *linear.Domain, steps int64) *linear.Query {
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
		single := must(NewWeights(d, n))
		several := must(NewEnsemble(d, n, 8))
		for i, p := range []Predictor{single, several} {
			name := []string{"weights", "ensemble"}[i]
			var past []Released
			for range 12 {
				q := randomQuery(r, d, []int64{1, 10}[round%2])
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
		for range daily.Rounds(25, 40) { // what was learned is gone through again with each
			q := randomQuery(r, d, 5)
			x := Released{q, r.Int64N(5000), 10}
			b.Predict(randomQuery(r, d, 5))
			if w, ok := b.(*weights); ok {
				w.sums.room = 0
			}
			a.Learn(x)
			b.Learn(x)
			for range 10 {
				q := randomQuery(r, d, 5)
				v, s := a.Predict(q)
				u, z := b.Predict(q)
				if u != v || s != z {
					t.Fatalf("%d: %v and %v", kind, u, v)
				}
				a.Predict(randomQuery(r, d, 5))
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
		for range daily.Rounds(35, 60) { // what was learned is gone through again with each
			q := randomQuery(r, d, 3)
			p.Learn(Released{q, []int64{math.MinInt64, -5, 0, 3, 30, 1000, math.MaxInt64}[r.IntN(7)],
				[]float64{0, 1e-300, 1, 1e300, math.Inf(1), math.NaN(), -1}[r.IntN(7)]})
			v, s := p.Predict(randomQuery(r, d, 3))
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
		{func() (Predictor, error) { return NewWeights(small, 0) }, "the number of people must be above 0"},
		{func() (Predictor, error) { return NewWeights(small, math.NaN()) }, "the number of people must be above 0"},
		{func() (Predictor, error) { return NewWeights(small, math.Inf(1)) }, "the number of people must be above 0"},
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

// Over many random streams no more is paid for than log2 of the number of candidates, half of them
// go each time, and the true database stays. The session here pays where the prediction is off by
// more than alpha, and has noise up to half of alpha, of the worst kind: at the bound, or against
// halving.
func TestHalving(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	if !daily.Full() {
		r = rand.New(rand.NewPCG(uint64(daily.Choices(t).Below(1_000_000)), 8))
	}
	for stream := range daily.Rounds(100, 1000) {
		shapes := [][]int{{2, 2}, {2, 3}, {5}, {2, 1, 4}, {3, 3}, {30}}
		d := domain(t, shapes[r.IntN(len(shapes))]...)
		size := int64(1 + r.IntN(10))
		if d.Cells() == 30 {
			size = 1 + size%3
		}
		alpha := []float64{0.05, 0.1, 0.3, 0.5}[r.IntN(4)]
		p := must(NewHalving(d, size, alpha))
		h := p.(*halving)
		counts := make([]float64, d.Cells())
		for range size {
			counts[r.IntN(len(counts))]++
		}
		steps := []int64{1, 100}[r.IntN(2)]
		first := h.number()
		paid := 0
		for range 200 {
			q := randomQuery(r, d, steps)
			v, _ := p.Predict(q)
			exact := truth(q, counts)
			bound := alpha * float64(size) * float64(steps)
			if math.Abs(v-exact) <= bound {
				continue
			}
			var noise float64
			switch r.IntN(3) {
			case 0:
				noise = (2*r.Float64() - 1) * bound / 2
			case 1:
				noise = math.Copysign(bound/2, v-exact) // towards the prediction
			default:
				noise = math.Copysign(bound/2, exact-v)
			}
			before := h.number()
			p.Learn(Released{q, int64(exact + math.Trunc(noise)), 0})
			paid++
			if h.number()*2 > before {
				t.Fatalf("stream %d: %d candidates, and %d afterwards", stream, before, h.number())
			}
			if !h.has(counts) {
				t.Fatalf("stream %d: the true database is gone", stream)
			}
		}
		if float64(paid) > math.Log2(float64(first)) {
			t.Fatalf("stream %d: %d paid, with %d candidates", stream, paid, first)
		}
	}
}

func (h *halving) number() int { return len(h.candidates) / h.width }

func (h *halving) has(counts []float64) bool {
	for i := 0; i < len(h.candidates); i += h.width {
		rest := append([]float64{}, counts...)
		for k, c := range h.candidates[i : i+h.width] {
			if h.counts {
				rest[k] -= float64(c)
			} else {
				rest[c]--
			}
		}
		same := true
		for _, c := range rest {
			same = same && c == 0
		}
		if same {
			return true
		}
	}
	return false
}

// A stream of products of sets over 128 cells of 2x2x4x8, with data that no independence describes,
// and a session that pays where candidates are apart and where a prediction is off by more than
// 0.03 of all. It pays for a few dozen of thousands, nearly all of them early, and most without
// having tested.
func TestFewAreLearned(t *testing.T) {
	d := domain(t, 2, 2, 4, 8)
	for kind := range 2 {
		for _, seed := range daily.Sample(t, []uint64{0, 1, 2}, 1) {
			r := rand.New(rand.NewPCG(seed, 3))
			people := newClasses(r, d, 4)
			p, err := NewWeights(d, 1e6)
			if kind == 1 {
				p, err = NewEnsemble(d, 1e6, 16)
			}
			if err != nil {
				t.Fatal(err)
			}
			missed, plain, late := 0, 0, 0
			for i := range 6000 {
				q := conjunction(r, d)
				v, spread := p.Predict(q)
				x := people.share(q)
				switch {
				case spread > 0.05e6:
					plain++
				case math.Abs(v/1e6-x) > 0.03:
					missed++
				default:
					continue
				}
				if i > 1000 {
					late++
				}
				if missed+plain > 300 {
					t.Fatal("nothing is learned")
				}
				p.Learn(Released{q, int64(1e6 * (x + 0.006*r.NormFloat64())), 6000})
			}
			t.Logf("kind %d, seed %d: %d missed, %d plain, %d of them late", kind, seed, missed, plain, late)
			if missed > 16 || missed+plain > 80 || late > 16 {
				t.Errorf("kind %d, seed %d: %d missed, %d plain, %d of them late", kind, seed, missed, plain, late)
			}
		}
	}
}

// Where nothing was asked the spread is large, and it is small for what was answered and for what
// follows from it.
func TestSpread(t *testing.T) {
	d := domain(t, 4, 5, 6)
	all := func(attribute int, values ...int) *linear.Query {
		f := linear.Factor{Attributes: []int{attribute}, Weights: make([]int64, d.Size([]int{attribute}))}
		for _, v := range values {
			f.Weights[v] = 1
		}
		return must(d.Query(1, f))
	}
	single, _ := NewWeights(d, 1000)
	several, _ := NewEnsemble(d, 1000, 32)
	for i, p := range []Predictor{single, several} {
		for v := range 4 {
			p.Learn(Released{all(0, v), 250, 2})
		}
		_, known := p.Predict(all(0, 1, 3))
		_, unknown := p.Predict(all(1, 0, 3))
		if !(known < unknown/2) {
			t.Errorf("%d: the spread is %v of what is known and %v of what is not", i, known, unknown)
		}
	}
}
