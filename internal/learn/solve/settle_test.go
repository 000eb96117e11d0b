package solve

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

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
			f := p.sum()
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
				want, err := Exactly(context.Background(), p, linear(b...), step, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, away := range []float64{0, 0x1p-30, 1, 1000} {
					// As a descent that ended early has it: somewhere, and the gradient there.
					w := random(r, f.dim, away*p.Rows.Radius()*p.Loss.Slope()/f.lambda)
					at := f.at(w)
					start, ok := at.exactly()
					if !ok {
						t.Fatal("no number")
					}
					got, ok := at.settles(&grid{step: step, lambda: f.lambda}, start)
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
