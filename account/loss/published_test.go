package loss

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// TestPublished: figures of papers and of other accountants.
func TestPublished(t *testing.T) {
	three := times(t, rr(t, 0.1, 0), 1).plus(t, rr(t, 0.2, 0), 1).plus(t, rr(t, 0.3, 0), 1)
	for _, c := range []struct {
		name  string
		got   dp.Bracket
		value dp.Bracket // holds the truth, as published
	}{
		{"Gaussian", deltaOf(t, times(t, gauss(t, 0.25), 40), 10), about(3.33762759e-9, 1e-8)},
		{"Poisson, removed", deltaOf(t, times(t, poisson(t, gauss(t, 1), 0.8, Remove), 1), 1), about(0.0816951786585, 1e-11)},
		{"Poisson, added", deltaOf(t, times(t, poisson(t, gauss(t, 1), 0.8, Add), 1), 1), about(0.0231362104091, 1e-11)},
		{"Poisson, three times", deltaOf(t, times(t, poisson(t, gauss(t, 2), 0.2, Remove), 3), 1),
			dp.Bracket{Lower: 0.155930, Upper: 0.155936}},
		{"sampled Laplace, delta 0", epsilonOf(t, times(t, poisson(t, lap(t, 2), 0.2, Remove), 3), 0), about(2.469645, 1e-6)},
		{"Laplace", deltaOf(t, times(t, lap(t, 1./3), 40), 10), dp.Bracket{Lower: 1.78459e-6, Upper: 1.78672e-6}},
		{"three responses", epsilonOf(t, three, 0.01), about(0.537796170502, 1e-12)},
		{"ten responses", epsilonOf(t, times(t, rr(t, 0.1, 0), 10), 1e-6), about(0.99937090572175872, 1e-15)},
		{"1,000 responses", epsilonOf(t, times(t, rr(t, 0.01, 1e-9), 1000), 1e-5), about(1.2060948264664169, 1e-15)},
	} {
		// Ours must be inside what is published, or overlap it where that is narrow.
		if !overlap(c.got, c.value) {
			t.Errorf("%s: %v, published %v", c.name, c.got, c.value)
		}
		if width(c.got) > 3e-5 {
			t.Errorf("%s: %v is wide", c.name, c.got)
		}
	}
}

func about(x, relative float64) dp.Bracket {
	return dp.Bracket{Lower: x * (1 - relative), Upper: x * (1 + relative)}
}

// TestNarrow: what is promised about widths.
func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		name string
		sum  Sum
		most float64
	}{
		{"1,000 Laplace", times(t, lap(t, 0.1), 1000), 1e-9},
		{"1,000 sampled Gaussian, removed", times(t, poisson(t, gauss(t, 1), 0.01, Remove), 1000), 1e-3},
		{"1,000 sampled Gaussian, added", times(t, poisson(t, gauss(t, 1), 0.01, Add), 1000), 1e-3},
		{"10,000 sampled Gaussian", times(t, poisson(t, gauss(t, 1), 0.01, Remove), 10000), 1e-3},
		{"1,000 sampled Laplace", times(t, poisson(t, lap(t, 1), 0.01, Remove), 1000), 1e-3},
		{"a million responses", times(t, rr(t, 0.001, 0), 1e6), 1e-6},
		{"10,000 discrete Gaussian", times(t, discreteGaussian{100, 1}, 10000), 1e-6},
		{"fine discrete Laplace", times(t, discreteLaplace{1e6, 100000}, 1000), 1e-6},
		{"one discrete Gaussian, fine", times(t, discreteGaussian{1e14, 1e7}, 1), 1e-6},
	} {
		if b := epsilonOf(t, c.sum, 1e-6); width(b) > c.most || math.IsInf(b.Upper, 1) {
			t.Errorf("%s: %v is of relative width %.2g", c.name, b, width(b))
		}
	}
}

// TestGaussianByInversion: the inversion, where the answer is known.
func TestGaussianByInversion(t *testing.T) {
	for _, mu := range []float64{1e-9, 0.01, 0.3, 1, 5, 40, 1000} {
		s := times(t, gauss(t, mu), 1)
		curve, _ := s.single()
		for _, delta := range []float64{0.999, 0.9, 0.3, 1e-2, 1e-6, 1e-15, 1e-30, 1e-100} {
			// Where the closed form says that delta is.
			e := epsilonOf(t, s, delta)
			for _, epsilon := range []float64{e.Lower, e.Upper * 1.1} {
				want, got := curve.curve(epsilon), proper(t, s.delta(epsilon))
				if !overlap(want, got) {
					t.Errorf("mu %v, epsilon %v: %v, want %v", mu, epsilon, got, want)
				}
				if width(got) > 1e-7 && want.Upper > 1e-280 {
					t.Errorf("mu %v, epsilon %v: %v is of relative width %.2g", mu, epsilon, got, width(got))
				}
			}
			if e.Upper == 0 {
				continue
			}
			if got := proper(t, s.epsilon(delta)); !overlap(got, e) || width(got) > 1e-7 {
				t.Errorf("mu %v, delta %v: %v, want %v", mu, delta, got, e)
			}
		}
	}
}
