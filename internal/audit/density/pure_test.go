package density

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/learn/calibrate"
)

var full = flag.Bool("full", false, "search ten times as long")

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

func (w world) problem() calibrate.Problem {
	return calibrate.Problem{
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

func (w world) mechanism(o *calibrate.Objective) *Mechanism {
	return &Mechanism{Bend: w.bend, Weights: w.weights, Lambda: [2]float64{o.Lambda, o.Lambda}, Scale: o.Scale, Gaussian: o.Gaussian}
}

func (w world) search(m *Mechanism, r SearchSpace) Worst {
	starts := 7
	if *full {
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
func regularisers(t *testing.T, p calibrate.Problem, epsilon dp.Amount) []float64 {
	_, err := p.Pure(epsilon, 0x1p-59)
	var small *calibrate.RegulariserError
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
		if weights == 2 && !*full {
			bends, radii = []Bend{bends[0], bends[1], bends[4]}, []float64{1, 10}
		}
		for _, w := range worlds(weights, bends, radii) {
			for _, price := range prices {
				for i, lambda := range regularisers(t, w.problem(), amount(price)) {
					o, err := w.problem().Pure(amount(price), lambda)
					if err != nil {
						t.Fatal(err)
					}
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
