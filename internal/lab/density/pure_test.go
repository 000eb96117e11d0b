package density

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// rounding is what float64 and the calibration's own slack may take.
const rounding = 1e-9

// world is a problem that is calibrated and attacked.
type world struct {
	bend       Bend
	radius     float64
	weights    int
	rows       int
	neighbours dp.Neighbours
}

func (w world) problem() learn.Problem {
	return learn.Problem{
		Slope: w.bend.Slope, Curvature: w.bend.Curvature, OneSided: w.bend.OneSided, Tapered: w.bend.Tapered, Radius: w.radius,
		Weights: w.weights, Models: 1, Rows: w.rows, Neighbours: w.neighbours,
	}
}

func (w world) searchSpace() SearchSpace {
	return SearchSpace{Radius: w.radius, Rows: w.rows, Substitute: w.neighbours == dp.Substitute}
}

func (w world) String() string {
	return fmt.Sprintf("%s, c %g, R %g, %d weights, m %d, %v", w.bend.Name, w.bend.Curvature, w.radius, w.weights, w.rows, w.neighbours)
}

func (w world) mechanism(o *learn.ObjectiveNoise) *Mechanism {
	return &Mechanism{Bend: w.bend, Weights: w.weights, Lambda: [2]float64{o.Lambda, o.Lambda}, Scale: o.Scale, Gaussian: o.Gaussian}
}

func (w world) search(m *Mechanism, r SearchSpace) Worst {
	starts := 7
	if daily.Full() {
		starts *= 10
	}
	return Search(m, r, starts*m.Weights, detrand.New(w.String(), 1))
}

// radii and prices are those of the issue.
var (
	radii  = []float64{1, 5, 10, 30, 100}
	prices = []float64{0.1, 1, 3}
	bends  = []Bend{Logistic(), Huber(0.5), Huber(0.1), Huber(2), Squares(1), Squares(0.5)}
)

func amount(x float64) dp.Amount {
	a, err := dp.FloorFloat(x)
	if err != nil {
		panic(err)
	}
	return a
}

func worlds(weights int, bends []Bend, radii []float64) (out []world) {
	for _, b := range bends {
		for _, r := range radii {
			for _, rows := range []int{1, 3} {
				for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
					out = append(out, world{b, r, weights, rows, n})
				}
			}
		}
	}
	return out
}

// regularisers are the one that is chosen, and one that leaves half to the Jacobian, and nearly
// all.
func regularisers(t *testing.T, p learn.Problem, epsilon dp.Amount) []float64 {
	_, err := p.Pure(epsilon, 0x1p-59)
	var small *learn.RegulariserError
	if !errors.As(err, &small) {
		t.Fatal(err)
	}
	return []float64{0, small.Least * 3, small.Least * 1.05}
}

// No weights and no neighbours lose more than epsilon, and some lose nearly all of it.
func TestPureObjective(t *testing.T) {
	count := 0
	least, closest := map[string]float64{}, map[string]float64{}
	for _, weights := range []int{1, 2} {
		bends, radii := bends, radii
		if weights == 2 && !daily.Full() {
			bends, radii = []Bend{bends[0], bends[1], bends[4]}, []float64{1, 10}
		}
		for _, w := range worlds(weights, daily.Sample(t, bends, 1), radii) {
			for _, price := range prices {
				for i, lambda := range regularisers(t, w.problem(), amount(price)) {
					o := must(w.problem().Pure(amount(price), lambda))
					f := w.search(w.mechanism(o), w.searchSpace())
					count++
					share := f.Loss / amount(price).Float()
					if share > 1+rounding {
						t.Errorf("%v at epsilon %g, Lambda %g: loses %v, at %+v", w, price, o.Lambda, f.Loss, f)
					}
					key := fmt.Sprintf("%s, %d weights, regulariser %d", w.bend.Name, weights, i)
					closest[key] = math.Max(closest[key], share)
					if _, ok := least[key]; !ok || share < least[key] {
						least[key] = share
					}
				}
			}
		}
	}
	for key, share := range closest {
		t.Logf("%s: found from %.6f to %.6f of epsilon", key, least[key], share)
		if share < 0.65 {
			t.Errorf("%s: the closest that was found is %v of epsilon, which endangers nothing", key, share)
		}
	}
	t.Logf("%d calibrations", count)
}

// pureObjective is noise for epsilon by somebody's own arithmetic, at a Lambda.
func pureObjective(p learn.Problem, epsilon, lambda, jacobian float64) *learn.ObjectiveNoise {
	return &learn.ObjectiveNoise{Lambda: lambda, Scale: p.Gradient() / (epsilon - jacobian)}
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
	{"the noise of add-remove for substitute", 0, 1, 1, []dp.Neighbours{dp.Substitute}, func(
		w world, epsilon float64) (*Mechanism, SearchSpace) {
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
		bends := []Bend{Huber(0.5)}
		if daily.Full() { // of which nothing has to be found
			bends = append(bends, Squares(1), Logistic())
		}
		for _, b := range bends {
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

// steepest are the largest losses of a single weight with a row against without it, and the other
// way round, by looking everywhere.
func steepest(m *Mechanism, radius float64) (with, without float64) {
	row := Row{[2]float64{radius}, 1, 1}
	for _, pull := range []float64{0, 1, 100} { // others, who bring the gradient to where it counts
		for _, y := range []float64{-1, 1} {
			p := &Pair{Both: []Row{{[2]float64{radius}, y, pull}}, First: []Row{row}}
			for i := range 8001 {
				a, b := m.logs(p, [2]float64{float64(i-4000) / 1000 / radius})
				with, without = math.Max(with, a-b), math.Max(without, b-a)
			}
		}
	}
	return with, without
}

// Two regularisers are tried on two parts of the rows, and a person who is substituted leaves one
// part and enters the other: then both models lose. Calibrated together, as one problem, they keep
// epsilon; one by one they do not.
func TestCandidates(t *testing.T) {
	for _, price := range prices {
		w := world{Huber(0.5), 10, 1, 1, dp.Substitute}
		p := w.problem()
		least := regularisers(t, p, amount(price))[1] / 3
		candidates := []float64{1.1 * least, 30 * least}
		loss := func(scale func(lambda float64) float64) (worst float64) {
			var with, without []float64
			for _, lambda := range candidates {
				a, b := steepest(w.mechanism(&learn.ObjectiveNoise{Lambda: lambda, Scale: scale(lambda)}), w.radius)
				with, without = append(with, a), append(without, b)
			}
			return math.Max(with[0]+without[1], with[1]+without[0])
		}
		calibrated := func(weights int, lambda float64) float64 {
			q := p
			q.Weights = weights
			o := must(q.Pure(amount(price), lambda))
			return o.Scale
		}
		together := calibrated(len(candidates), candidates[0])
		honest := loss(func(float64) float64 { return together }) / price
		apart := loss(func(lambda float64) float64 { return calibrated(1, lambda) }) / price
		t.Logf("epsilon %g: together %.4f of it, one by one %.4f", price, honest, apart)
		if honest > 1+rounding || apart < 1.3 {
			t.Errorf("epsilon %g: together %v of it, one by one %v", price, honest, apart)
		}
	}
}
