package density

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Curve is the two densities of a pair with Gaussian noise, at points with weights for integration.
type Curve struct {
	weight []float64 // logarithms
	first  []float64
	second []float64
}

// NewCurve evaluates both densities of one or two weights on about so many panels along each, out
// to where the noise is so many deviations.
func NewCurve(m *Mechanism, p *Pair, panels int, deviations float64) *Curve {
	c := &Curve{}
	if m.Weights == 1 {
		constant := -math.Log(m.Scale) - math.Log(2*math.Pi)/2
		for _, x := range m.points(p, 0, panels, deviations) {
			c.add(m, p, [2]float64{x.at}, math.Log(x.weight), constant)
		}
		return c
	}
	constant := -2*math.Log(m.Scale) - math.Log(2*math.Pi)
	second := m.points(p, 1, panels, deviations)
	for _, x := range m.points(p, 0, panels, deviations) {
		for _, y := range second {
			c.add(m, p, [2]float64{x.at, y.at}, math.Log(x.weight*y.weight), constant)
		}
	}
	return c
}

func (c *Curve) add(m *Mechanism, p *Pair, w [2]float64, weight, constant float64) {
	a, b := m.logs(p, w)
	c.weight, c.first, c.second = append(c.weight, weight), append(c.first, a+constant), append(c.second, b+constant)
}

// logisticNodes are scores between which the logistic loss is nearly a polynomial.
var logisticNodes = []float64{-30, -24, -20, -16, -13, -10, -8, -6, -4.5, -3, -1.5, 0, 1.5, 3, 4.5, 6, 8, 10, 13, 16, 20, 24, 30}

type quadraturePoint struct{ at, weight float64 }

// points are the abscissas along one weight. The gradient of F in it is Lambda w give or take what
// the rows add, so beyond the ends noise is larger than so many deviations on both databases.
func (m *Mechanism) points(p *Pair, axis, panels int, deviations float64) (out []quadraturePoint) {
	pull := 0.0
	var jumps []float64
	seen := map[float64]bool{}
	for _, rows := range [][]Row{p.Both, p.First, p.Second} {
		for _, r := range rows {
			pull += r.A * m.Bend.Slope * math.Abs(r.X[axis])
			if m.Weights == 1 && r.X[0] != 0 && !seen[r.X[0]*r.Y] {
				seen[r.X[0]*r.Y] = true
				turns := m.Bend.Jumps(r.Y)
				if turns == nil { // where a smooth loss turns
					turns = logisticNodes
				}
				for _, z := range turns {
					jumps = append(jumps, z/r.X[0])
				}
			}
		}
	}
	end := (deviations*m.Scale + pull) / m.Lambda[axis]
	ends := []float64{-end}
	for i := range panels - 1 {
		at := float64(i+1)/float64(panels)*2 - 1
		if m.Weights == 1 {
			ends = append(ends, m.weight(p, at*deviations*m.Scale, end))
		} else {
			ends = append(ends, at*end)
		}
	}
	ends = append(ends, end)
	for _, j := range jumps {
		if math.Abs(j) < end {
			ends = append(ends, j)
		}
	}
	slices.Sort(ends)
	for i, a := range ends[:len(ends)-1] {
		middle, half := (a+ends[i+1])/2, (ends[i+1]-a)/2
		if half == 0 {
			continue
		}
		for j, x := range legendre {
			out = append(out, quadraturePoint{middle - half*x, half * legendreWeight[j]},
				quadraturePoint{middle + half*x, half * legendreWeight[j]})
		}
	}
	return out
}

// weight is where the gradient of the first database is g: panels are as wide as the noise,
// wherever rows press the weights together.
func (m *Mechanism) weight(p *Pair, g, end float64) float64 {
	low, high := numeric.Bisect(-end, end, 40, func(x float64) bool {
		w := [2]float64{x}
		return m.add(m.add(m.start(w), p.Both, w), p.First, w).g[0] < g
	})
	return (low + high) / 2
}

// Gauss-Legendre with six points on [-1, 1] (Abramowitz, Stegun 1964, table 25.4).
var (
	legendre       = [3]float64{0.238619186083196908630501721681, 0.661209386466264513661399595020, 0.932469514203152027812301554494}
	legendreWeight = [3]float64{0.467913934572691047389870343990, 0.360761573048138607569833513838, 0.171324492379170345040296142173}
)

// Mass is the integral of each density, which is 1 or the integration is too coarse.
func (c *Curve) Mass() (first, second float64) {
	for i, w := range c.weight {
		first += math.Exp(w + c.first[i])
		second += math.Exp(w + c.second[i])
	}
	return first, second
}

// Delta is the hockey-stick divergence at epsilon, in the direction in which it is larger.
func (c *Curve) Delta(epsilon float64) float64 {
	var there, back float64
	for i, w := range c.weight {
		loss := c.first[i] - c.second[i]
		if loss > epsilon {
			there -= math.Exp(w+c.first[i]) * math.Expm1(epsilon-loss)
		}
		if -loss > epsilon {
			back -= math.Exp(w+c.second[i]) * math.Expm1(epsilon+loss)
		}
	}
	return math.Max(there, back)
}

// Epsilon is the least epsilon at which delta is at most this.
func (c *Curve) Epsilon(delta float64) float64 {
	_, high := numeric.Bisect(0, 100, 60, func(e float64) bool { return c.Delta(e) > delta })
	return high
}

// Renyi is the Renyi divergence of an order above 1, in the direction in which it is larger.
func (c *Curve) Renyi(order float64) float64 {
	return math.Max(renyi(c.weight, c.first, c.second, order), renyi(c.weight, c.second, c.first, order))
}

func renyi(weight, p, q []float64, order float64) float64 {
	top := math.Inf(-1)
	for i, w := range weight {
		top = math.Max(top, w+order*p[i]-(order-1)*q[i])
	}
	sum := 0.0
	for i, w := range weight {
		sum += math.Exp(w + order*p[i] - (order-1)*q[i] - top)
	}
	return (top + math.Log(sum)) / (order - 1)
}

// Losses are the privacy losses of the first database against the second with their probabilities,
// for several models.
func (c *Curve) Losses() (loss, mass []float64) {
	for i, w := range c.weight {
		if pm := math.Exp(w + c.first[i]); pm > 1e-30 {
			loss, mass = append(loss, c.first[i]-c.second[i]), append(mass, pm)
		}
	}
	return loss, mass
}
