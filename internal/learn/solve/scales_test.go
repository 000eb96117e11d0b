package solve

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/learn/lossfn"
	"github.com/discreet-dp/discreet/internal/learn/rows"
)

// scales is rows whose features are of many sizes, with hardly a regulariser, and a linear term
// that sends the minimiser far.
func scales(t testing.TB, n, dim int, pull float64, seed uint64) (*Problem, []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 78))
	l, err := lossfn.Huber(0.5)
	if err != nil {
		t.Fatal(err)
	}
	b := rows.NewBuilder(dim, 1)
	for range n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = math.Exp2(-float64(r.IntN(30)))
		}
		b.Add(x, float32(r.Float64()*2-1))
	}
	return &Problem{Loss: l, Rows: b.Rows(), Lambda: l.Curvature() / MaxRatio}, random(r, dim, pull)
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
		if _, err := Exactly(context.Background(), p, linear(b...), math.Ldexp(1, e-12), nil); err != nil {
			t.Errorf("%d rows of %d features: %v", n, dim, err)
		}
	}
}
