package learn

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// TestNoise: without rows a model is nothing but its noise, and that is as long as the plan says.
func TestNoise(t *testing.T) {
	for _, classes := range []int{0, 2, 3} {
		for _, s := range []Spec{
			{Method: Output, Budget: Budget{Epsilon: dp.One}}, {Method: Output, Budget: Budget{Rho: dp.One}},
			{Method: Objective, Budget: Budget{Epsilon: dp.One}},
			{Method: Objective, Budget: Budget{Rho: dp.One}}, {Method: Minima, Budget: Budget{Rho: dp.One}},
		} {
			p := prepared(t, made(classes), s, Group{dp.Substitute, 2})
			const n = 150
			sum := 0.0
			for seed := range uint64(n) {
				m := fitted(t, p, p.NewTable(), seed)
				for _, w := range weights(m.Weights, m.Step) {
					for _, x := range w {
						sum += x * x
					}
				}
			}
			noise, models := p.Noise()[0], float64(p.Encoding.models())
			want := noise.deviation() * math.Sqrt(float64(p.Encoding.dim())*models)
			if noise.On == "gradient" {
				want /= p.Regularisers()[0]
			}
			if got := math.Sqrt(sum / n); math.Abs(got/want-1) > 0.1 {
				t.Errorf("%s: the noise is %.4g long, and %.4g was said", fmt.Sprint(classes, " classes ", s.Method, " ", noise), got, want)
			}
		}
	}
}
