package density

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

const bigDigits = 600 // binary

func bigNumber(x float64) *big.Float { return new(big.Float).SetPrec(bigDigits).SetFloat64(x) }

// bigExp is e^x by its series, of a number that was halved until it is small.
func bigExp(x *big.Float) *big.Float {
	halved := 0
	small := new(big.Float).Copy(x)
	for small.MantExp(nil) > -8 && small.Sign() != 0 {
		small.Quo(small, bigNumber(2))
		halved++
	}
	sum, term := bigNumber(1), bigNumber(1)
	for i := range 80 {
		term.Mul(term, small)
		term.Quo(term, bigNumber(float64(i+1)))
		sum.Add(sum, term)
	}
	for range halved {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigSlope is the first derivative of a loss, in many digits.
func bigSlope(b Bend, z *big.Float, y float64) *big.Float {
	clamp := func(x *big.Float, lo, hi float64) *big.Float {
		if x.Cmp(bigNumber(lo)) < 0 {
			return bigNumber(lo)
		}
		if x.Cmp(bigNumber(hi)) > 0 {
			return bigNumber(hi)
		}
		return x
	}
	out := bigNumber(0)
	yz := bigNumber(0).Mul(z, bigNumber(y))
	switch b.Name {
	case "logistic":
		out.Quo(bigNumber(1), bigNumber(0).Add(bigNumber(1), bigExp(yz)))
	case "huber":
		h := 1 / (2 * b.Curvature)
		out.Sub(bigNumber(0).Add(bigNumber(1), bigNumber(h)), yz)
		out = clamp(out.Quo(out, bigNumber(2*h)), 0, 1)
	default:
		return clamp(out.Sub(z, bigNumber(y)), -b.Slope, b.Slope)
	}
	return out.Mul(out, bigNumber(-y))
}

// What solve.MinimiseExactly returns is the exact minimiser, rounded: half a step below it the
// gradient is negative and half a step above it is positive, in 600 digits. Steps are so fine that
// float64 does not do. A weight that is one step off is seen.
func TestExactly(t *testing.T) {
	runs := 20
	if daily.Full() {
		runs = 2000
	}
	d := detrand.New("exactly", 1)
	releaser := mech.NewReleaser(detrand.Noise("exactly", 1))
	for _, b := range []Bend{Logistic(), Huber(0.5), Huber(1.0 / 1024), Squares(1)} {
		for run := range runs {
			lambda, radius := math.Exp2(float64(d.Below(8)-2)), 4.0
			builder := solve.NewBuilder(1, radius)
			n := d.Below(12)
			weight := make([]float64, n)
			for i := range n {
				y := float64(2*d.Below(2) - 1)
				if b.Between {
					y = float64(d.Below(201)-100) / 100
				}
				builder.Add([]float64{float64(d.Below(801)-400) / 100}, float32(y))
				weight[i] = float64(1+d.Below(8)) / 8
			}
			data := builder.Rows()
			p := &solve.Problem{Loss: production(b), Rows: data, Weight: func(i int) float64 { return weight[i] }, Lambda: lambda}
			step := math.Exp2(-float64(20 + d.Below(36)))
			noise := releaser.DrawReals(1, run%2 == 0, 1+float64(d.Below(3)))
			z := must(solve.MinimiseExactly(context.Background(), p, noise, step, nil))
			linear := noise.Approximate(bigDigits)[0]
			// gradient at (z + halves/2) steps
			gradient := func(z int64, halves int64) int {
				w := bigNumber(0).SetInt64(z)
				w.Add(w, bigNumber(float64(halves)/2))
				w.Mul(w, bigNumber(step))
				g := bigNumber(0).Mul(w, bigNumber(lambda))
				g.Add(g, linear)
				for i := range n {
					x := bigNumber(float64(data.Row(i)[0]))
					s := bigSlope(b, bigNumber(0).Mul(w, x), float64(data.Target(i)))
					g.Add(g, s.Mul(s, bigNumber(0).Mul(x, bigNumber(weight[i]))))
				}
				return g.Sign()
			}
			if gradient(z[0], -1) > 0 || gradient(z[0], 1) < 0 {
				t.Errorf("%s, run %d: %d steps of %g is not the minimiser", b.Name, run, z[0], step)
			}
			if gradient(z[0]+1, -1) <= 0 || gradient(z[0]-1, 1) >= 0 {
				t.Errorf("%s, run %d: one step further is the minimiser too", b.Name, run)
			}
		}
	}
}

// production is the code of package learn for a bend.
func production(b Bend) solve.Loss {
	var l solve.Loss
	var err error
	switch b.Name {
	case "logistic":
		l = solve.Logistic()
	case "huber":
		l, err = solve.Huber(1 / (2 * b.Curvature))
	case "squares":
		l, err = solve.Squares(b.Slope)
	}
	if err != nil {
		panic(err)
	}
	return l
}

// drawWeights runs the production code: real noise, the exact minimiser, rounded.
func drawWeights(t *testing.T, m *Mechanism, data []Row, radius, step float64, n int) stat.Samples {
	t.Helper()
	b := solve.NewBuilder(1, radius)
	for _, r := range data {
		b.Add([]float64{r.X[0]}, float32(r.Y))
	}
	p := &solve.Problem{Loss: production(m.Bend), Rows: b.Rows(), Weight: func(i int) float64 { return data[i].A }, Lambda: m.Lambda[0]}
	s, err := stat.Draw(context.Background(), n, func(part int) *noise.Source {
		return detrand.Noise("solve "+m.Bend.Name, uint64(part))
	}, func(src *noise.Source) func() int64 {
		r := mech.NewReleaser(src)
		return func() int64 {
			z, err := solve.MinimiseExactly(context.Background(), p, r.DrawReals(1, m.Gaussian, m.Scale), step, nil)
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
	if daily.Full() {
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
