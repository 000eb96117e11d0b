package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// A stream of products of sets over 128 cells of 2x2x4x8, with data that no independence describes,
// and a session that pays where candidates are apart and where a prediction is off by more than
// 0.03 of all. It pays for a few dozen of thousands, nearly all of them early, and most without
// having tested.
func TestFewAreLearned(t *testing.T) {
	d := domain(t, 2, 2, 4, 8)
	for kind := range 2 {
		for seed := range uint64(3) {
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
		q, err := d.Query(1, f)
		if err != nil {
			t.Fatal(err)
		}
		return q
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
