package mech

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// The gap is kept as often as it says, where all but one candidate lie just beyond
// it, which is the worst case; a gap of half the size is not.
func TestGap(t *testing.T) {
	const runs, n, beta = 20_000, 50, 0.1
	half, err := dp.Parse("0.5")
	if err != nil {
		t.Fatal(err)
	}
	scoring := Scoring{Sensitivity: 1}
	for _, make := range []func() (Selector, error){
		func() (Selector, error) { return NewExponential(scoring, half) },
		func() (Selector, error) { return NewPermuteAndFlip(scoring, half) },
		func() (Selector, error) { return NewNoisyMax(LaplaceNoise, scoring, half) },
		func() (Selector, error) { return NewNoisyMax(GeometricNoise, scoring, half) },
		func() (Selector, error) { return NewNoisyMax(GumbelNoise, scoring, half) },
	} {
		m, err := make()
		if err != nil {
			t.Fatal(err)
		}
		missed := func(beyond int64) float64 {
			scores := []int64{beyond}
			for range n - 1 {
				scores = append(scores, 0)
			}
			r, bad := seeded(3), 0
			for range runs {
				if i, err := r.Select(Exactly(scores...), m); err != nil {
					t.Fatal(err)
				} else if i != 0 {
					bad++
				}
			}
			return float64(bad) / runs
		}
		g := m.Gap(n, beta)
		// Three standard deviations above what is promised.
		if p := missed(g + 1); p > beta+3*math.Sqrt(beta/runs) {
			t.Errorf("%s: more than %d below the best with probability %v, not %v", m.Name(), g, p, beta)
		}
		if p := missed(g / 3); p < beta {
			t.Errorf("%s: a third of the gap is kept with probability %v: the bound says little", m.Name(), 1-p)
		}
		for _, none := range []float64{0, -1, math.NaN()} {
			if got := m.Gap(n, none); got != math.MaxInt64 {
				t.Errorf("%s: a gap of %d is never missed", m.Name(), got)
			}
		}
		if m.Gap(0, beta) != math.MaxInt64 || m.Gap(1, 1) != 0 && m.Name() != "noisy max, laplace" {
			t.Errorf("%s: %d, %d", m.Name(), m.Gap(0, beta), m.Gap(1, 1))
		}
	}
}
