package density

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/learn/calibrate"
)

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
				a, b := steepest(w.mechanism(&calibrate.Objective{Lambda: lambda, Scale: scale(lambda)}), w.radius)
				with, without = append(with, a), append(without, b)
			}
			return math.Max(with[0]+without[1], with[1]+without[0])
		}
		calibrated := func(weights int, lambda float64) float64 {
			q := p
			q.Weights = weights
			o, err := q.Pure(amount(price), lambda)
			if err != nil {
				t.Fatal(err)
			}
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
