package density

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/learn/calibrate"
)

// integrationError is the relative error of integrals.
const integrationError = 1e-6

// integrate integrates, and fails where the densities do not have a mass of 1.
func integrate(t *testing.T, m *Mechanism, p *Pair, panels int, deviations float64) *Curve {
	t.Helper()
	c := NewCurve(m, p, panels, deviations)
	if a, b := c.Mass(); math.Abs(a-1) > integrationError || math.Abs(b-1) > integrationError {
		t.Fatalf("%s, Lambda %g, scale %g: masses %v and %v; %+v", m.Bend.Name, m.Lambda[0], m.Scale, a, b, *p)
	}
	return c
}

// searchEffort are how many random pairs, and at what radii.
func searchEffort() (int, []float64) {
	if *full {
		return 30, []float64{1, 100}
	}
	return 4, []float64{10}
}

func gaussianBends() []Bend {
	if *full {
		return bends
	}
	return []Bend{Logistic(), Huber(0.5), Squares(1)}
}

// The delta of Gaussian objective perturbation, by integration, is never above the claim, in either
// direction.
func TestApproximateObjective(t *testing.T) {
	starts, radii := searchEffort()
	deltas := []float64{1e-6}
	if *full {
		deltas = []float64{1e-3, 1e-6, 1e-9}
	}
	for _, b := range gaussianBends() {
		closest := 0.0
		for _, w := range worlds(1, []Bend{b}, radii) {
			for _, price := range []float64{0.1, 3} {
				for _, delta := range deltas {
					regularisers := regularisers(t, w.problem(), amount(price))
					regularisers[1] *= 30 // with next to no Jacobian, noise alone is at its bound
					for _, lambda := range regularisers {
						o, err := w.problem().Approximate(amount(price), amount(delta), lambda)
						if err != nil {
							t.Fatal(err)
						}
						m := w.mechanism(o)
						f := SearchPairs(m, w.searchSpace(), starts, detrand.New("approximate "+w.String(), 1), func(p *Pair) float64 {
							return integrate(t, m, p, 40, 10).Delta(price)
						})
						closest = math.Max(closest, integrate(t, m, &f.Pair, 40, 10).Epsilon(delta)/price)
						if f.Loss > delta*(1+integrationError) {
							t.Errorf("%v at (%g, %g), Lambda %g: delta is %v; %+v", w, price, delta, o.Lambda, f.Loss, f.Pair)
						}
					}
				}
			}
		}
		t.Logf("%s, c %g: at the claimed delta the worst epsilon is %.4f of the claim", b.Name, b.Curvature, closest)
		if closest < 0.85 {
			t.Errorf("%s: the closest that was found is %v of epsilon, which endangers nothing", b.Name, closest)
		}
	}
}

// orders are those of Renyi divergences, in groups that are integrated together.
var orders = [][]float64{{1.01, 1.1, 1.5, 2, 3, 5, 10}, {20, 50, 100, 200}}

// No Renyi divergence is above rho times its order.
func TestConcentratedObjective(t *testing.T) {
	starts, radii := searchEffort()
	for _, b := range gaussianBends() {
		closest := 0.0
		at := map[float64]float64{}
		for _, w := range worlds(1, []Bend{b}, radii) {
			for _, rho := range []float64{0.005, 2} {
				least := leastConcentrated(t, w.problem(), amount(rho))
				for _, lambda := range []float64{0, 1.05 * least, 100 * least} { // with much, noise alone is at its bound
					if lambda == 0 && !*full {
						continue
					}
					o, err := w.problem().Concentrated(amount(rho), lambda)
					if err != nil {
						t.Fatal(err)
					}
					m := w.mechanism(o)
					mu := w.problem().Gradient() / o.Scale
					for g, group := range orders {
						if g > 0 && !*full && (w.rows > 1 || rho > 1) {
							continue // wide integrals take long
						}
						last := group[len(group)-1]
						f := SearchPairs(m, w.searchSpace(), starts, detrand.New("concentrated "+w.String(), 1), func(p *Pair) float64 {
							c := integrate(t, m, p, 40+int(last*mu), 8+last*mu)
							worst := 0.0
							for _, a := range group {
								share := c.Renyi(a) / (a * rho)
								worst, at[a] = math.Max(worst, share), math.Max(at[a], share)
							}
							return worst
						})
						closest = math.Max(closest, f.Loss)
						if f.Loss > 1+integrationError {
							t.Errorf("%v at rho %g, Lambda %g: %v of the claim; %+v", w, rho, o.Lambda, f.Loss, f.Pair)
						}
					}
				}
			}
		}
		text := ""
		for _, group := range orders {
			for _, a := range group {
				text += fmt.Sprintf(" %g: %.3f", a, at[a])
			}
		}
		t.Logf("%s, c %g: the worst divergence is %.4f of the claim; by order%s", b.Name, b.Curvature, closest, text)
		if closest < 0.99 {
			t.Errorf("%s: the closest that was found is %v of rho, which endangers nothing", b.Name, closest)
		}
	}
}

// leastConcentrated is, within a part in ten, the least regulariser that is not refused.
func leastConcentrated(t *testing.T, p calibrate.Problem, rho dp.Amount) float64 {
	t.Helper()
	o, err := p.Concentrated(rho, 0)
	if err != nil {
		t.Fatal(err)
	}
	least := o.Lambda
	for {
		if _, err := p.Concentrated(rho, least/1.1); err != nil {
			return least
		}
		least /= 1.1
	}
}
