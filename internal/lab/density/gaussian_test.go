package density

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/test/daily"
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
	if daily.Full() {
		return 30, []float64{1, 100}
	}
	return 4, []float64{10}
}

func gaussianBends(t *testing.T) []Bend {
	t.Helper()
	if daily.Full() {
		return bends
	}
	return daily.Sample(t, []Bend{Logistic(), Huber(0.5), Squares(1)}, 1)
}

// The delta of Gaussian objective perturbation, by integration, is never above the claim, in either
// direction.
func TestApproximateObjective(t *testing.T) {
	starts, radii := searchEffort()
	deltas := []float64{1e-6}
	if daily.Full() {
		deltas = []float64{1e-3, 1e-6, 1e-9}
	}
	for _, b := range gaussianBends(t) {
		closest := 0.0
		for _, w := range worlds(1, []Bend{b}, radii) {
			for _, price := range []float64{0.1, 3} {
				for _, delta := range deltas {
					regularisers := regularisers(t, w.problem(), amount(price))
					regularisers[1] *= 30 // with next to no Jacobian, noise alone is at its bound
					for _, lambda := range regularisers {
						o := must(w.problem().Approximate(amount(price), amount(delta), lambda))
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
	for _, b := range gaussianBends(t) {
		closest := 0.0
		at := map[float64]float64{}
		for _, w := range worlds(1, []Bend{b}, radii) {
			for _, rho := range []float64{0.005, 2} {
				least := leastConcentrated(t, w.problem(), amount(rho))
				for _, lambda := range []float64{0, 1.05 * least, 100 * least} { // with much, noise alone is at its bound
					if lambda == 0 && !daily.Full() {
						continue
					}
					o := must(w.problem().Concentrated(amount(rho), lambda))
					m := w.mechanism(o)
					mu := w.problem().Gradient() / o.Scale
					for g, group := range orders {
						if g > 0 && !daily.Full() && (w.rows > 1 || rho > 1) {
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
func leastConcentrated(t *testing.T, p learn.Problem, rho dp.Amount) float64 {
	t.Helper()
	o := must(p.Concentrated(rho, 0))
	least := o.Lambda
	for {
		if _, err := p.Concentrated(rho, least/1.1); err != nil {
			return least
		}
		least /= 1.1
	}
}

// composedDelta is the delta at epsilon of several models whose noise is independent. Losses are
// rounded down to steps, so it is a lower bound.
func composedDelta(curves []*Curve, back bool, epsilon, step float64) float64 {
	sum := map[int]float64{0: 1}
	for _, c := range curves {
		if back {
			c = &Curve{c.weight, c.second, c.first}
		}
		loss, mass := c.Losses()
		one := map[int]float64{}
		for i, l := range loss {
			one[int(math.Floor(l/step))] += mass[i]
		}
		next := map[int]float64{}
		for a, p := range sum {
			for b, q := range one {
				next[a+b] += p * q
			}
		}
		sum = next
	}
	delta := 0.0
	for l, p := range sum {
		if x := float64(l) * step; x > epsilon {
			delta -= p * math.Expm1(epsilon-x)
		}
	}
	return delta
}

// pairOfModel are the pairs of K models, one against the rest: a row's target is whether it is of
// the model's class.
func pairOfModel(p *Pair, classes [][]int, model int) *Pair {
	out := &Pair{}
	for i, rows := range [][]Row{p.Both, p.First, p.Second} {
		own := slices.Clone(rows)
		for j := range own {
			own[j].Y = -1
			if classes[i][j] == model {
				own[j].Y = 1
			}
		}
		*[]*[]Row{&out.Both, &out.First, &out.Second}[i] = own
	}
	return out
}

// With three classes the delta of all models together is never above the claim.
func TestSeveralModels(t *testing.T) {
	const models = 3
	tries := 8
	if daily.Full() {
		tries = 200
	}
	closest := 0.0
	for _, b := range []Bend{Logistic(), Huber(0.5)} {
		for _, rows := range []int{1, 2} {
			for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
				w := world{b, 10, 1, rows, n}
				problem := w.problem()
				problem.Models = models
				for _, price := range []float64{0.5, 3} {
					const delta = 1e-5
					o, err := problem.Approximate(amount(price), amount(delta), 0)
					if err == nil && rows == 1 { // with next to no Jacobian, noise alone is at its bound
						o, err = problem.Approximate(amount(price), amount(delta), 50*o.Lambda)
					}
					if err != nil {
						t.Fatal(err)
					}
					m, dice := w.mechanism(o), detrand.New("several "+w.String(), 1)
					for range tries {
						p := newHillClimb(m, w.searchSpace(), dice).pair()
						for i := range p.Both {
							p.Both[i].A = math.Min(p.Both[i].A, 100)
						}
						var classes [][]int
						for _, rows := range [][]Row{p.Both, p.First, p.Second} {
							var own []int
							for range rows {
								own = append(own, dice.Below(models))
							}
							classes = append(classes, own)
						}
						var curves []*Curve
						for k := range models {
							curves = append(curves, integrate(t, m, pairOfModel(&p, classes, k), 40, 10))
						}
						for _, back := range []bool{false, true} {
							share := composedDelta(curves, back, price, price/100) / delta
							closest = math.Max(closest, share)
							if share > 1+integrationError {
								t.Errorf("%v, %d models at (%g, %g): %v of delta; %+v %v", w, models, price, delta, share, p, classes)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("the worst delta of %d models is %.4g of the claim", models, closest)
}

// Two weights, by integration over the plane.
func TestGaussianPlane(t *testing.T) {
	tries, seed := daily.Rounds(1, 60), uint64(1)
	if !daily.Full() {
		seed = uint64(daily.Choices(t).Below(1 << 30))
	}
	var deltas, renyis float64
	for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		for _, rows := range []int{1, 2} {
			w := world{Logistic(), 3, 2, rows, n} // smooth, so that a grid integrates it
			const price, delta, rho = 1.0, 1e-4, 0.3
			o := must(w.problem().Approximate(amount(price), amount(delta), 0))
			z := must(w.problem().Concentrated(amount(rho), 0))
			dice := detrand.New("plane "+w.String(), seed)
			for range tries {
				m := w.mechanism(o)
				p := newHillClimb(m, w.searchSpace(), dice).pair()
				for i := range p.Both {
					p.Both[i].A = math.Min(p.Both[i].A, 1)
				}
				if d := integrate(t, m, &p, 50, 9).Delta(price) / delta; d > 1+integrationError {
					t.Errorf("%v: %v of delta; %+v", w, d, p)
				} else {
					deltas = math.Max(deltas, d)
				}
				m = w.mechanism(z)
				c := integrate(t, m, &p, 50, 16)
				for _, a := range []float64{1.1, 2, 4, 8} {
					if d := c.Renyi(a) / (a * rho); d > 1+integrationError {
						t.Errorf("%v: %v of rho at order %g; %+v", w, d, a, p)
					} else {
						renyis = math.Max(renyis, d)
					}
				}
			}
		}
	}
	t.Logf("in the plane the worst delta is %.3g of the claim, and the worst divergence %.3g", deltas, renyis)
}

// Errors that are made with Gaussian noise are found by integration.
func TestPlantedGaussian(t *testing.T) {
	const price, delta, rho = 3.0, 1e-6, 0.5
	attack := func(w world, m *Mechanism, score func(c *Curve) float64) float64 {
		mu := w.problem().Gradient() / m.Scale
		return SearchPairs(m, w.searchSpace(), 10, detrand.New("planted "+w.String(), 1), func(p *Pair) float64 {
			return score(integrate(t, m, p, 40+int(10*mu), 10+10*mu))
		}).Loss
	}
	hockey := func(c *Curve) float64 { return c.Delta(price) / delta }
	divergence := func(c *Curve) (worst float64) {
		for _, a := range orders[0] {
			worst = math.Max(worst, c.Renyi(a)/(a*rho))
		}
		return worst
	}
	for _, b := range []Bend{Huber(0.5), Squares(1)} {
		for _, bug := range []string{"none", "add-remove for substitute", "kappa with R", "one row of three", "sigma of small epsilons"} {
			w := world{b, 100, 1, 1, dp.Substitute}
			if bug == "one row of three" {
				w.rows = 3
			}
			p := w.problem()
			switch bug {
			case "add-remove for substitute":
				p.Neighbours = dp.AddRemove
			case "kappa with R":
				p.Curvature /= w.radius
			case "one row of three":
				p.Rows = 1
			}
			o := must(p.Approximate(amount(price), amount(delta), 0))
			z := must(p.Concentrated(amount(rho), 0))
			if bug == "sigma of small epsilons" { // sqrt(2 ln(1.25/delta)) S/epsilon holds below 1, and was taken for all
				o.Scale = p.Gradient() * math.Sqrt(2*math.Log(1.25/0.01)) / 10
				o.Lambda *= 1e6
				c := attack(w, w.mechanism(o), func(c *Curve) float64 { return c.Delta(10) / 0.01 })
				t.Logf("%s, %s: %.3g of delta", bug, b.Name, c)
				if c <= 1 {
					t.Errorf("%s, %s: not found: %v of delta", bug, b.Name, c)
				}
				continue
			}
			d, r := attack(w, w.mechanism(o), hockey), attack(w, w.mechanism(z), divergence)
			t.Logf("%s, %s: %.3g of delta, %.3g of rho", bug, b.Name, d, r)
			if found := d > 1+integrationError && r > 1+integrationError; found != (bug != "none") {
				t.Errorf("%s, %s: %v of delta and %v of rho", bug, b.Name, d, r)
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
