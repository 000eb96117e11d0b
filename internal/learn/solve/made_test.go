package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/learn/lossfn"
	"github.com/discreet-dp/discreet/internal/learn/rows"
)

// losses is one loss of each kind, and some at the ends of their widths.
func losses(t testing.TB) []lossfn.Loss {
	t.Helper()
	out := []lossfn.Loss{lossfn.Logistic()}
	for _, make := range []func(float64) (lossfn.Loss, error){lossfn.Huber, lossfn.Squares} {
		for _, width := range []float64{0.5, lossfn.MinWidth, 3} {
			l, err := make(width)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, l)
		}
	}
	return out
}

// made is n rows with targets that follow a line, with noise.
func made(l lossfn.Loss, n, dim int, radius float64, seed uint64) *rows.Rows {
	r := rand.New(rand.NewPCG(seed, 1))
	truth := make([]float64, dim)
	for j := range truth {
		truth[j] = r.NormFloat64() / math.Sqrt(float64(dim)) * 2
	}
	b := rows.NewBuilder(dim, radius)
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
func onehot(n int) *rows.Rows {
	r := rand.New(rand.NewPCG(9, 9))
	sizes := []int{7, 16, 7, 14, 6, 5, 2, 41}
	b := rows.NewBuilder(105, math.Sqrt(15))
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
