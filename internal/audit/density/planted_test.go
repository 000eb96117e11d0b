package density

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/learn/calibrate"
)

// pureObjective is noise for epsilon by somebody's own arithmetic, at a Lambda.
func pureObjective(p calibrate.Problem, epsilon, lambda, jacobian float64) *calibrate.Objective {
	return &calibrate.Objective{Lambda: lambda, Scale: p.Gradient() / (epsilon - jacobian)}
}

// curvatureRatio is c R^2/Lambda.
func curvatureRatio(w world, lambda float64) float64 {
	return w.bend.Curvature * w.radius * w.radius / lambda
}

// planted are errors of calibration that were made somewhere. Each is given the regulariser that it
// believes to be right, by the same share as ours, and must lose more than epsilon, for the radii
// from a least one on.
var planted = []struct {
	name    string
	from    float64 // radius
	weights int
	rows    int
	of      []dp.Neighbours
	make    func(w world, epsilon float64) (*Mechanism, SearchSpace)
}{
	{"kappa with R in the place of its square", 5, 1, 1, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		lambda := w.bend.Curvature * w.radius / math.Expm1(0.1*epsilon)
		return w.mechanism(pureObjective(w.problem(), epsilon, lambda, math.Log1p(curvatureRatio(w, lambda)/w.radius))), w.searchSpace()
	}},
	{"2 ln(1 + c R/Lambda), of a library", 10, 1, 1, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		lambda := w.bend.Curvature * w.radius / math.Expm1(epsilon/4)
		return w.mechanism(pureObjective(w.problem(), epsilon, lambda, epsilon/2)), w.searchSpace()
	}},
	{"no Jacobian", 0, 1, 1, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		lambda := w.bend.Curvature * w.radius * w.radius / math.Expm1(0.1*epsilon)
		return w.mechanism(pureObjective(w.problem(), epsilon, lambda, 0)), w.searchSpace()
	}},
	{"half of the Jacobian", 0, 1, 1, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		lambda := w.bend.Curvature * w.radius * w.radius / math.Expm1(0.1*epsilon)
		return w.mechanism(pureObjective(w.problem(), epsilon, lambda, math.Log1p(curvatureRatio(w, lambda))/2)), w.searchSpace()
	}},
	{"the Jacobian of one row for three", 0, 1, 3, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		lambda := w.bend.Curvature * w.radius * w.radius / math.Expm1(0.1*epsilon)
		return w.mechanism(pureObjective(w.problem(), epsilon, lambda, math.Log1p(curvatureRatio(w, lambda)))), w.searchSpace()
	}},
	{"the noise of one row for three", 0, 1, 3, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		p := w.problem()
		p.Rows = 1
		o, err := p.Pure(amount(epsilon), 0)
		if err != nil {
			panic(err)
		}
		return w.mechanism(o), w.searchSpace()
	}},
	{"the noise of add-remove for substitute", 0, 1, 1, []dp.Neighbours{dp.Substitute}, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		p := w.problem()
		p.Neighbours = dp.AddRemove
		o, err := p.Pure(amount(epsilon), 0)
		if err != nil {
			panic(err)
		}
		return w.mechanism(o), w.searchSpace()
	}},
	{"an intercept without a regulariser", 0, 2, 1, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		o, err := w.problem().Pure(amount(epsilon), 0)
		if err != nil {
			panic(err)
		}
		m := w.mechanism(o)
		m.Lambda[1] = 0
		return m, w.searchSpace()
	}},
	{"an intercept that is appended after clipping", 0, 2, 1, nil, func(w world, epsilon float64) (*Mechanism, SearchSpace) {
		o, err := w.problem().Pure(amount(epsilon), 0)
		if err != nil {
			panic(err)
		}
		r := w.searchSpace()
		r.Constant = 1
		return w.mechanism(o), r
	}},
}

// The same search finds every planted error at every radius and price with the Huber loss, whose
// slope and curvature are largest at the same score. With the other two it says how many: the
// logistic loss is straight where it is steep, and forgives a little.
func TestPlantedErrorsAreFound(t *testing.T) {
	for _, bug := range planted {
		neighbours := bug.of
		if neighbours == nil {
			neighbours = []dp.Neighbours{dp.AddRemove, dp.Substitute}
		}
		for _, b := range []Bend{Huber(0.5), Squares(1), Logistic()} {
			least, most, found, tried := math.Inf(1), 0.0, 0, 0
			for _, radius := range radii {
				if radius < bug.from {
					continue
				}
				for _, n := range neighbours {
					for _, price := range prices {
						w := world{b, radius, bug.weights, bug.rows, n}
						m, r := bug.make(w, price)
						f := Search(m, r, 24*m.Weights, detrand.New(w.String(), 1))
						share := f.Loss / price
						least, most = math.Min(least, share), math.Max(most, share)
						tried++
						if share > 1+rounding {
							found++
						} else if b.Name == "huber" {
							t.Errorf("%s, %v at epsilon %g: not found, %v of it", bug.name, w, price, share)
						}
					}
				}
			}
			t.Logf("%s, %s: found in %d of %d, from %.4f to %.4g of epsilon", bug.name, b.Name, found, tried, least, most)
		}
	}
}
