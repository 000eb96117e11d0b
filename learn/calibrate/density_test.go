package calibrate

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/learn/loss"
)

// row is one of one weight.
type row struct{ x, y float64 }

// line is a training of one weight on a few rows: the density of what is released can be written down.
type line struct {
	loss   loss.Loss
	lambda float64
	rows   []row
}

// at returns b at which w is the minimiser, and the second derivative there.
func (l line) at(w float64) (b, second float64) {
	b, second = -l.lambda*w, l.lambda
	for _, r := range l.rows {
		b -= l.loss.First(w*r.x, r.y) * r.x
		second += l.loss.Second(w*r.x, r.y) * r.x * r.x
	}
	return b, second
}

// log is the logarithm of the density of w.
func (l line) log(o *Objective, w float64) float64 {
	b, second := l.at(w)
	if o.Gaussian {
		return math.Log(second) - b*b/(2*o.Scale*o.Scale) - math.Log(o.Scale) - math.Log(2*math.Pi)/2
	}
	return math.Log(second) - math.Abs(b)/o.Scale - math.Log(2*o.Scale)
}

// grid is where densities are looked at: everywhere that matters.
func grid(o *Objective, p Problem, n int) (from, step float64) {
	far := (30*o.Scale + 2*p.Gradient()) / o.Lambda
	return -far, 2 * far / float64(n)
}

// worst is the largest privacy loss of one of two databases against the other.
func worst(o *Objective, p Problem, a, b line) float64 {
	from, step := grid(o, p, 2_000)
	most := 0.0
	for i := range 2_001 {
		w := from + float64(i)*step
		near := float64(i-1_000) / 1_000 * 4 / p.Radius // where losses bend
		most = math.Max(most, math.Max(math.Abs(a.log(o, w)-b.log(o, w)), math.Abs(a.log(o, near)-b.log(o, near))))
	}
	return most
}

// delta is what is left of a against b at epsilon, by integration, for so many independent models.
func delta(o *Objective, p Problem, a, b line, epsilon float64) float64 {
	const n = 3_000
	from, step := grid(o, p, n)
	// The privacy loss of one model: how likely each is.
	const bins, width = 1001, 0.02
	one := make([]float64, bins)
	for i := range n + 1 {
		w := from + float64(i)*step
		la := a.log(o, w)
		l := la - b.log(o, w)
		mass := math.Exp(la) * step
		if p.Models == 1 {
			one[0] += mass * math.Max(0, 1-math.Exp(epsilon-l))
			continue
		}
		at := int(math.Floor(l/width)) + bins/2 // rounded down: what is found is too little
		one[max(0, min(bins-1, at))] += mass
	}
	if p.Models == 1 {
		return one[0]
	}
	total := 0.0
	for i, x := range one {
		for j, y := range one {
			if l := float64(i+j-2*(bins/2)) * width; l > epsilon {
				total += x * y * (1 - math.Exp(epsilon-l))
			}
		}
	}
	return total
}

// renyi is the divergence of an order. Densities are made to have a mass of 1 on the grid, or else errors there would be divided by alpha - 1.
func renyi(o *Objective, p Problem, a, b line, alpha float64) float64 {
	const n = 3_000
	from, step := grid(o, p, n)
	far := (30*o.Scale + alpha*p.Gradient()) / (30 * o.Scale) // exponents move the mass away
	from, step = from*far, step*far
	var la, lb, mixed [n + 1]float64
	for i := range n + 1 {
		w := from + float64(i)*step
		la[i], lb[i] = a.log(o, w), b.log(o, w)
		mixed[i] = alpha*la[i] + (1-alpha)*lb[i]
	}
	return (total(mixed[:]) - alpha*total(la[:]) - (1-alpha)*total(lb[:])) / (alpha - 1)
}

// total is the logarithm of a sum of exponentials.
func total(logs []float64) float64 {
	most, sum := math.Inf(-1), 0.0
	for _, x := range logs {
		most = math.Max(most, x)
	}
	for _, x := range logs {
		sum += math.Exp(x - most)
	}
	return most + math.Log(sum)
}

func losses(t testing.TB) []loss.Loss {
	huber, err := loss.Huber(0.5)
	if err != nil {
		t.Fatal(err)
	}
	squares, err := loss.Squares(1)
	if err != nil {
		t.Fatal(err)
	}
	return []loss.Loss{loss.Logistic(), huber, squares}
}

func problem(l loss.Loss, radius float64, m int, n dp.Neighbours) Problem {
	return Problem{Slope: l.Slope(), Curvature: l.Curvature(), OneSided: l.OneSided(), Tapered: l.Name() == "logistic", Radius: radius, Weights: 1, Models: 1, Rows: m, Neighbours: n}
}

// pairs are neighbours of one weight: a few common rows, and rows that differ as much as they can.
func pairs(l loss.Loss, lambda, radius float64, m int, n dp.Neighbours) [][2]line {
	var out [][2]line
	for _, common := range [][]row{nil, {{radius, -1}, {radius / 2, 1}}} {
		for _, size := range []float64{1, 0.5} {
			for _, y := range []float64{1, 0.2} {
				a, b := line{l, lambda, append([]row(nil), common...)}, line{l, lambda, append([]row(nil), common...)}
				for range m {
					a.rows = append(a.rows, row{radius * size, y})
					if n == dp.Substitute {
						b.rows = append(b.rows, row{radius, -y})
					}
				}
				out = append(out, [2]line{a, b}, [2]line{b, a})
			}
		}
	}
	return out
}

func amount(t testing.TB, x float64) dp.Amount {
	a, err := dp.FloorFloat(x)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPureDensities computes the privacy loss of pure objective perturbation from its densities. With c R in place of c R^2 it must be above what is claimed.
func TestPureDensities(t *testing.T) {
	for _, l := range losses(t) {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			for _, radius := range []float64{1, 5, 30} {
				for _, epsilon := range []float64{0.1, 2} {
					for _, m := range []int{1, 3} {
						name := fmt.Sprintf("%s, %v, radius %g, epsilon %g, %d rows", l.Name(), n, radius, epsilon, m)
						p := problem(l, radius, m, n)
						seen := func(p Problem, lambda float64) float64 {
							o, err := p.Pure(amount(t, epsilon), lambda)
							if err != nil {
								t.Fatal(name, err)
							}
							most := 0.0
							for _, ab := range pairs(l, o.Lambda, radius, m, n) {
								most = math.Max(most, worst(o, p, ab[0], ab[1]))
							}
							return most
						}
						if got := seen(p, 0); got > epsilon || got < epsilon/4 {
							t.Errorf("%s: the loss is %.4f", name, got)
						}
						// The Jacobian takes most of it.
						if got := seen(p, p.lambdaFor(0.9*epsilon)); got > epsilon {
							t.Errorf("%s: the loss is %.4f with a small regulariser", name, got)
						}
						if radius == 1 || n == dp.Substitute {
							continue // with one weight two rows never move the gradient by twice the most, so there is room
						}
						planted := p
						planted.Curvature /= radius
						if got := seen(planted, planted.lambdaFor(0.9*epsilon)); got <= epsilon {
							t.Errorf("%s: c R in place of c R^2 is not seen: %.4f", name, got)
						}
					}
				}
			}
		}
	}
}

// TestApproximateDensities integrates the delta of Gaussian objective perturbation.
func TestApproximateDensities(t *testing.T) {
	for _, l := range losses(t) {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			for _, c := range []struct {
				epsilon, delta, radius float64
				m, models              int
			}{{1, 1e-5, 2, 1, 1}, {0.3, 1e-3, 1, 1, 1}, {3, 1e-4, 5, 2, 1}, {1, 1e-2, 1, 1, 2}, {1, 1e-3, 2, 6, 1}} {
				p := problem(l, c.radius, c.m, n)
				p.Models = c.models
				for _, share := range []float64{0.1, 0.6} {
					name := fmt.Sprintf("%s, %v, %+v, share %g", l.Name(), n, c, share)
					o, err := p.Approximate(amount(t, c.epsilon), amount(t, c.delta), p.lambdaFor(share*c.epsilon/float64(c.models)))
					if err != nil {
						t.Fatal(name, err)
					}
					most, planted := 0.0, 0.0
					for _, ab := range pairs(l, o.Lambda, c.radius, c.m, n) {
						most = math.Max(most, delta(o, p, ab[0], ab[1], c.epsilon))
						if share == 0.1 {
							half := *o
							half.Scale /= 2 // as if the factor of substitution were left out
							planted = math.Max(planted, delta(&half, p, ab[0], ab[1], c.epsilon))
						}
					}
					if limit := amount(t, c.delta).Float(); most > limit*(1+1e-6) {
						t.Errorf("%s: delta is %.3g", name, most)
					} else if share == 0.1 && c.models == 1 && n == dp.AddRemove && (most < limit/1000 || planted < limit) {
						t.Errorf("%s: delta is %.3g, and %.3g with half the noise: this shows nothing", name, most, planted)
					}
				}
			}
		}
	}
}

// TestConcentratedDensities integrates Renyi divergences of many orders.
func TestConcentratedDensities(t *testing.T) {
	for _, l := range losses(t) {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			for _, c := range []struct {
				rho, radius float64
				m           int
			}{{0.5, 1, 1}, {0.01, 5, 1}, {2, 2, 2}} {
				p := problem(l, c.radius, c.m, n)
				for _, factor := range []float64{1, 0.5} { // of the regulariser that is chosen
					o, err := p.Concentrated(amount(t, c.rho), 0)
					if err == nil && factor != 1 {
						o, err = p.Concentrated(amount(t, c.rho), o.Lambda*factor)
					}
					var small *RegulariserError
					if errors.As(err, &small) {
						o, err = p.Concentrated(amount(t, c.rho), small.Least*1.2)
					}
					if err != nil {
						t.Fatal(err)
					}
					most := 0.0
					for _, alpha := range []float64{1.1, 2, 4, 16} {
						for _, ab := range pairs(l, o.Lambda, c.radius, c.m, n) {
							most = math.Max(most, renyi(o, p, ab[0], ab[1], alpha)/alpha)
						}
					}
					if most > c.rho*(1+1e-6) || factor == 1 && most < c.rho/10 {
						t.Errorf("%s, %v, %+v, factor %g: rho is %.5f", l.Name(), n, c, factor, most)
					}
				}
			}
		}
	}
}
