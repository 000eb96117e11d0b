package privacyloss

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/test/daily"
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
		{"Poisson, removed", deltaOf(t, times(t, sampledLaw(t, gauss(t, 1), 0.8, Remove), 1), 1), about(0.0816951786585, 1e-11)},
		{"Poisson, added", deltaOf(t, times(t, sampledLaw(t, gauss(t, 1), 0.8, Add), 1), 1), about(0.0231362104091, 1e-11)},
		{"Poisson, three times", deltaOf(t, times(t, sampledLaw(t, gauss(t, 2), 0.2, Remove), 3), 1),
			dp.Bracket{Lower: 0.155930, Upper: 0.155936}},
		{"sampled Laplace, delta 0", epsilonOf(t, times(t, sampledLaw(t, lap(t, 2), 0.2, Remove), 3), 0), about(2.469645, 1e-6)},
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
		{"1,000 sampled Gaussian, removed", times(t, sampledLaw(t, gauss(t, 1), 0.01, Remove), 1000), 1e-3},
		{"1,000 sampled Gaussian, added", times(t, sampledLaw(t, gauss(t, 1), 0.01, Add), 1000), 1e-3},
		{"10,000 sampled Gaussian", times(t, sampledLaw(t, gauss(t, 1), 0.01, Remove), 10000), 1e-3},
		{"1,000 sampled Laplace", times(t, sampledLaw(t, lap(t, 1), 0.01, Remove), 1000), 1e-3},
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
				want, got := curve.curve(epsilon), checkBracket(t, s.delta(epsilon))
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
			if got := checkBracket(t, s.epsilon(delta)); !overlap(got, e) || width(got) > 1e-7 {
				t.Errorf("mu %v, delta %v: %v, want %v", mu, delta, got, e)
			}
		}
	}
}

// TestNarrowUnderSampling: with a small rate and little noise nearly all of the mass lies between
// two points of the lattice. Both ends of the bracket are of use all the same, alone and beside
// another law; the wider direction is the guarantee.
func TestNarrowUnderSampling(t *testing.T) {
	type sampled struct {
		sigma, rate float64
		times       int
		delta       float64
		least       float64 // of the lower end, as a share of the upper
	}
	for _, c := range daily.Sample(t, []sampled{
		{0.5, 1e-4, 1000, 1e-4, 0.999}, {0.5, 1e-4, 1000, 1e-5, 0.999}, {0.4, 1e-4, 1000, 1e-4, 0.9999}, {0.3, 1e-4, 1000, 1e-3, 0.9999},
		{0.25, 1e-4, 100, 1e-3, 0.9999}, {0.6, 1e-4, 1000, 1e-4, 0.99}, {0.5, 1e-5, 100_000, 1e-5, 0.98}, {1, 1e-3, 10_000, 1e-5, 0.999},
	}, 1) {
		gaussian := must(Gaussian(1 / c.sigma))
		law := must(Sampled(gaussian, c.rate, Remove))
		other := must(Sampled(gaussian, c.rate*2, Remove))
		alone := must(Sum{}.Plus(law, c.times))
		beside := must(alone.Plus(other, c.times/2))
		for name, s := range map[string]Sum{"alone": alone, "beside another": beside} {
			e, err := s.Epsilon(c.delta)
			if err != nil || e.Lower < c.least*e.Upper {
				t.Errorf("%+v %s: %v to %v, %v", c, name, e.Lower, e.Upper, err)
			}
			// The two ends are of delta too, at the epsilon between them.
			d, err := s.Delta(e.Upper)
			if err != nil || d.Lower > c.delta*(1+1e-9) || d.Upper < c.delta*0.9 {
				t.Errorf("%+v %s: delta is %v to %v at epsilon %v, %v", c, name, d.Lower, d.Upper, e.Upper, err)
			}
		}
	}
}

// TestExtremes: whatever the parameters are, an answer comes, is a bracket, and both
// questions agree.
func TestExtremes(t *testing.T) {
	dl := func(scale float64, steps int) Law { l, err := DiscreteLaplace(scale, steps); return law(t, l, err) }
	dg := func(variance float64, steps int) Law {
		l, err := DiscreteGaussian(variance, steps)
		return law(t, l, err)
	}
	ex := func(e float64) Law { l, err := Exponential(e); return law(t, l, err) }
	both := func(l Law, rate float64) Sum {
		return times(t, sampledLaw(t, l, rate, Remove), 3).plus(t, sampledLaw(t, l, rate, Add), 2)
	}
	sums := map[string]Sum{
		"Laplace 1e-9, 1e9 times":        times(t, lap(t, 1e-9), 1e9),
		"Laplace 0.1, 1e9 times":         times(t, lap(t, 0.1), 1e9),
		"Laplace, as often as can be":    times(t, lap(t, 1), maxTimes),
		"Laplace 700":                    times(t, lap(t, 700), 3),
		"Laplace 1e6":                    times(t, lap(t, 1e6), 2),
		"Laplace 1e-9 and 50":            times(t, lap(t, 1e-9), 2).plus(t, lap(t, 50), 1),
		"exponential 1e-9":               times(t, ex(1e-9), 2),
		"exponential 700":                times(t, ex(700), 2),
		"exponential, 1e6 times":         times(t, ex(0.01), 1e6),
		"response 1e-9, 1e9 times":       times(t, rr(t, 1e-9, 0), 1e9),
		"response, as often as can be":   times(t, rr(t, 1, 1e-9), maxTimes),
		"response 700":                   times(t, rr(t, 700, 0), 2),
		"response 50 and 1e-9":           times(t, rr(t, 50, 0), 1).plus(t, rr(t, 1e-9, 0), 1),
		"response that tells":            times(t, rr(t, 1, 0.999), 3),
		"discrete Laplace, fine":         times(t, dl(1e20, 1e12), 2),
		"discrete Laplace 1e-3":          times(t, dl(1e-3, 1), 2),
		"discrete Laplace, coarse":       times(t, dl(1e-3, 700), 2),
		"discrete Gaussian, tiny":        times(t, dg(1e-4, 1), 2),
		"discrete Gaussian, one":         times(t, dg(1e18, 1e9), 1),
		"discrete Gaussian, fine":        times(t, dg(1e18, 1), 2),
		"discrete Gaussian, far":         times(t, dg(1, 1e4), 2),
		"discrete Gaussian, 1e9 times":   times(t, dg(1e8, 1), 1e9),
		"Gaussian with Laplace":          times(t, gauss(t, 1e6), 2).plus(t, lap(t, 1e-9), 1),
		"small Gaussian with Laplace":    times(t, gauss(t, 1e-9), 2).plus(t, lap(t, 1), 1),
		"sampled Gaussian, sigma 0.1":    both(gauss(t, 10), 0.01),
		"sampled Gaussian, sigma 100":    both(gauss(t, 0.01), 0.01),
		"sampled Gaussian, sigma 1e9":    both(gauss(t, 1e-9), 0.5),
		"sampled Gaussian, rate 1e-6":    both(gauss(t, 1), 1e-6),
		"sampled Gaussian, rate 1e-12":   both(gauss(t, 1), 1e-12),
		"sampled Gaussian, nearly whole": both(gauss(t, 1), 0.999999),
		"sampled Gaussian, 1e6 times":    times(t, sampledLaw(t, gauss(t, 1), 1e-3, Remove), 1e6),
		"sampled Gaussian, 1e9 times":    times(t, sampledLaw(t, gauss(t, 1), 1e-4, Add), 1e9),
		"sampled Laplace 300":            both(lap(t, 300), 0.5),
		"sampled Laplace 1e-9":           both(lap(t, 1e-9), 0.5),
		"sampled Laplace, rate 1e-6":     both(lap(t, 1), 1e-6),
		"sampled Laplace, nearly whole":  both(lap(t, 1), 0.999999),
		"sampled Laplace, 1e9 times":     times(t, sampledLaw(t, lap(t, 1), 1e-3, Remove), 1e9),
		"sampled Laplace, small, often":  times(t, sampledLaw(t, lap(t, 0.01), 0.5, Remove), 1e7),
	}
	for _, name := range daily.Sample(t, slices.Sorted(maps.Keys(sums)), 7) {
		s := sums[name]
		t.Run(name, func(t *testing.T) {
			deltas := []float64{0.9, 1e-6, 1e-100}
			slow := !daily.Full() && !strings.HasPrefix(name, "discrete Gaussian")
			if slow {
				deltas = deltas[1:2]
			}
			if strings.HasPrefix(name, "sampled") && !daily.Full() && !strings.Contains(name, "1e9") {
				t.Skip("takes seconds")
			}
			for _, delta := range deltas {
				e := epsilonOf(t, s, delta)
				if math.IsInf(e.Lower, 1) {
					if never := s.infinite(); never.Upper < delta {
						t.Errorf("at %v: %v, though only %v is never covered", delta, e, never)
					}
					continue
				}
				if math.IsInf(e.Upper, 1) {
					t.Errorf("at %v: %v says nothing", delta, e)
					continue
				}
				if b := deltaOf(t, s, e.Upper); b.Lower > delta*(1+1e-9) {
					t.Errorf("at %v: epsilon is %v, and delta at its upper end %v", delta, e, b)
				}
				if slow || e.Lower == 0 {
					continue
				}
				if b := deltaOf(t, s, e.Lower); b.Upper < delta*(1-1e-9) {
					t.Errorf("at %v: epsilon is %v, and delta at its lower end %v", delta, e, b)
				}
			}
			if slow {
				return
			}
			if b := deltaOf(t, s, 1e300); b.Upper > s.infinite().Upper+1e-9 {
				t.Errorf("beyond everything %v", b)
			}
			zero := deltaOf(t, s, 0)
			if top := s.top(); !math.IsInf(top, 1) {
				if b := deltaOf(t, s, top*(1-1e-9)); b.Lower > zero.Upper {
					t.Errorf("just below the largest loss %v, at zero %v", b, zero)
				}
				if b := deltaOf(t, s, top); b != s.infinite() {
					t.Errorf("at the largest loss %v, want %v", b, s.infinite())
				}
				if b := epsilonOf(t, s, 0); s.infinite().Upper == 0 && (b.Upper != top || width(b) > 1e-12) {
					t.Errorf("at delta 0: %v, want %v", b, top)
				}
			}
		})
	}
}

// TestOnTheLattice: epsilon is itself a possible loss, which adds nothing.
func TestOnTheLattice(t *testing.T) {
	for _, k := range []int{2, 3, 10, 101} {
		s := times(t, rr(t, 0.1, 0), k)
		for j := k % 2; j < k; j += 2 {
			e := float64(j) * 0.1
			at := deltaOf(t, s, e)
			for _, near := range []float64{math.Nextafter(e, 0), math.Nextafter(e, 9), e * (1 - 1e-12), e * (1 + 1e-12)} {
				if b := deltaOf(t, s, near); math.Abs(b.Upper-at.Upper) > 1e-7*at.Upper || !overlap(b, at) && math.Abs(near-e) < 1e-15*e {
					t.Errorf("%d times, %v: %v, next to it %v", k, e, at, b)
				}
			}
		}
	}
}
