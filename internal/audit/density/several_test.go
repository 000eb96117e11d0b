package density

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
)

// composedDelta is the delta at epsilon of several models whose noise is independent. Losses are rounded
// down to steps, so it is a lower bound.
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

// pairOfModel are the pairs of K models, one against the rest: a row's target is whether it is of the
// model's class.
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
	if *full {
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
	tries := 3
	if *full {
		tries = 60
	}
	var deltas, renyis float64
	for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		for _, rows := range []int{1, 2} {
			w := world{Logistic(), 3, 2, rows, n} // smooth, so that a grid integrates it
			const price, delta, rho = 1.0, 1e-4, 0.3
			o, err := w.problem().Approximate(amount(price), amount(delta), 0)
			if err != nil {
				t.Fatal(err)
			}
			z, err := w.problem().Concentrated(amount(rho), 0)
			if err != nil {
				t.Fatal(err)
			}
			dice := detrand.New("plane "+w.String(), 1)
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
			o, err := p.Approximate(amount(price), amount(delta), 0)
			if err != nil {
				t.Fatal(err)
			}
			z, err := p.Concentrated(amount(rho), 0)
			if err != nil {
				t.Fatal(err)
			}
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
