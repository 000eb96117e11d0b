package stream

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/mech"
)

// Exact halving: over 1,000 random streams, alarms are never more than log2 of the candidates.
func TestHalving(t *testing.T) {
	streams := uint64(1000)
	if testing.Short() {
		streams = 50
	}
	alarms, most := 0, 0.0
	for seed := range streams {
		dice := detrand.New("halving", seed)
		d := domain(t, 2+dice.Below(2), 2)
		n := int64(4 + dice.Below(9))
		steps := int64(16)
		c := Config{Domain: d, Size: n, Alpha: 0.3, Beta: 0.001, Queries: 2000, Steps: steps, Currency: mech.Budget(1 + dice.Below(2)),
			Budget: amountOf(t, "100000"), Predictor: Halving}
		weights := make([]float64, d.Cells())
		for range 3 {
			weights[dice.Below(len(weights))] += float64(1 + dice.Below(3))
		}
		s := openDear(t, c, dense(t, d, share(n, weights)), seed)
		for range 60 {
			f := linear.Factor{Attributes: []int{0, 1}, Weights: make([]int64, d.Cells())}
			for i := range f.Weights {
				f.Weights[i] = int64(dice.Below(2)) * int64(dice.Below(int(steps)+1))
			}
			q, err := d.Query(steps, f)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Ask(context.Background(), q); err != nil {
				t.Fatal(err)
			}
		}
		candidates, _ := new(big.Float).SetInt(new(big.Int).Binomial(n+int64(d.Cells())-1, int64(d.Cells())-1)).Float64()
		r := s.Report()
		alarms += r.Paid
		most = max(most, float64(r.Paid)/math.Log2(candidates))
		if float64(r.Paid) > math.Log2(candidates) {
			t.Errorf("seed %d: %d alarms with %v candidates", seed, r.Paid, candidates)
		}
		if r.Plain > 0 {
			t.Errorf("seed %d: %d plain answers", seed, r.Plain)
		}
	}
	t.Logf("%d alarms, at most %.2f of the bound", alarms, most)
}
