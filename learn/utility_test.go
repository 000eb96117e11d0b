package learn

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/learn/solve"
)

// TestExcess compares what the theorems promise with what happens.
func TestExcess(t *testing.T) {
	for _, classes := range []int{0, 2} {
		for _, s := range []Spec{
			{Method: Output, Budget: Budget{Epsilon: dp.One}}, {Method: Output, Budget: Budget{Rho: dp.One}},
			{Method: Objective, Budget: Budget{Epsilon: dp.One}},
			{Method: Objective, Budget: Budget{Rho: dp.One}}, {Method: Minima, Budget: Budget{Rho: dp.One}},
		} {
			const n = 500
			p := prepared(t, made(classes), s, one)
			table := madeTable(p, n, 1)
			sum := p.sum(table.open(), 0, 0)
			value := func(w []float64) float64 {
				total := 0.0
				for _, x := range w {
					total += sum.Lambda / 2 * x * x
				}
				for i := range n {
					y := float64(sum.Rows.Target(i))
					if sum.Target != nil {
						y = sum.Target(i)
					}
					total += p.loss.Value(dot(w, sum.Rows.Row(i)), y)
				}
				return total / n
			}
			best, err := solve.Minimise(context.Background(), sum, nil, 1e-6, nil)
			if err != nil {
				t.Fatal(err)
			}
			promised := p.Excess(n, 0.05)
			for seed := range uint64(10) {
				m := fitted(t, p, table, seed)
				got := value(weights(m.Weights, m.Step)[0]) - value(best.W)
				if got < -1e-9 || got > promised {
					t.Errorf("%d classes, %s: %.4f more than the least, and %.4f is promised", classes, s.Method, got, promised)
				}
			}
		}
	}
}
