package density

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/enumerate"
	"github.com/discreet-dp/discreet/internal/audit/stat"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/learn/lossfn"
	"github.com/discreet-dp/discreet/internal/learn/rows"
	"github.com/discreet-dp/discreet/internal/learn/solve"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// production is the code of package learn for a bend.
func production(b Bend) lossfn.Loss {
	var l lossfn.Loss
	var err error
	switch b.Name {
	case "logistic":
		l = lossfn.Logistic()
	case "huber":
		l, err = lossfn.Huber(1 / (2 * b.Curvature))
	case "squares":
		l, err = lossfn.Squares(b.Slope)
	}
	if err != nil {
		panic(err)
	}
	return l
}

// drawWeights runs the production code: real noise, the exact minimiser, rounded.
func drawWeights(t *testing.T, m *Mechanism, data []Row, radius, step float64, n int) stat.Samples {
	t.Helper()
	b := rows.NewBuilder(1, radius)
	for _, r := range data {
		b.Add([]float64{r.X[0]}, float32(r.Y))
	}
	p := &solve.Problem{Loss: production(m.Bend), Rows: b.Rows(), Weight: func(i int) float64 { return data[i].A }, Lambda: m.Lambda[0]}
	s, err := stat.Draw(context.Background(), n, func(part int) *noise.Source {
		return detrand.Noise("solve "+m.Bend.Name, uint64(part))
	}, func(src *noise.Source) func() int64 {
		r := mech.NewReleaser(src)
		return func() int64 {
			z, err := solve.Exactly(context.Background(), p, r.Reals(1, m.Gaussian, m.Scale), step, nil)
			if err != nil {
				panic(err)
			}
			return z[0]
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the production code draws has the density that all of this is about, and with it the loss.
// Planted differences are seen: another scale, another regulariser, a row that is left out, a loss
// that bends elsewhere.
func TestProductionHasTheDensity(t *testing.T) {
	n := 2000
	if *full {
		n = 300_000
	}
	const radius = 2.0
	data := []Row{{[2]float64{2}, 1, 1}, {[2]float64{-1}, -1, 0.5}, {[2]float64{1.5}, -1, 1}}
	for _, b := range []Bend{Logistic(), Huber(0.5), Squares(1)} {
		for _, gaussian := range []bool{false, true} {
			m := &Mechanism{Bend: b, Weights: 1, Lambda: [2]float64{3, 3}, Scale: 2, Gaussian: gaussian}
			step := math.Exp2(math.Round(math.Log2(m.Scale / m.Lambda[0] / 4)))
			s := drawWeights(t, m, data, radius, step, n).All()
			law := Law(m, data, step)
			if sum := law.Sum(); math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%s: the law has a mass of %v", b.Name, sum)
			}
			if err := stat.Fit(s, law, 1e-6); err != nil {
				t.Errorf("%s, Gaussian %v: %v", b.Name, gaussian, err)
			}
			short, bent, fewer := *m, *m, data[:2]
			short.Scale *= 0.6
			bent.Lambda[0] *= 1.5
			for name, other := range map[string]enumerate.Law{"scale": Law(&short, data, step), "regulariser": Law(&bent, data, step),
				"row": Law(m, fewer, step)} {
				if stat.Fit(s, other, 1e-6) == nil {
					t.Errorf("%s, Gaussian %v: another %s is not seen", b.Name, gaussian, name)
				}
			}
		}
	}
}
