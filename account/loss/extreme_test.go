package loss

import (
	"math"
	"strings"
	"testing"
)

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
		return times(t, poisson(t, l, rate, Remove), 3).plus(t, poisson(t, l, rate, Add), 2)
	}
	for name, s := range map[string]Sum{
		"Laplace 1e-9, 1e9 times":        times(t, lap(t, 1e-9), 1e9),
		"Laplace 0.1, 1e9 times":         times(t, lap(t, 0.1), 1e9),
		"Laplace, as often as can be":    times(t, lap(t, 1), MaxTimes),
		"Laplace 700":                    times(t, lap(t, 700), 3),
		"Laplace 1e6":                    times(t, lap(t, 1e6), 2),
		"Laplace 1e-9 and 50":            times(t, lap(t, 1e-9), 2).plus(t, lap(t, 50), 1),
		"exponential 1e-9":               times(t, ex(1e-9), 2),
		"exponential 700":                times(t, ex(700), 2),
		"exponential, 1e6 times":         times(t, ex(0.01), 1e6),
		"response 1e-9, 1e9 times":       times(t, rr(t, 1e-9, 0), 1e9),
		"response, as often as can be":   times(t, rr(t, 1, 1e-9), MaxTimes),
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
		"sampled Gaussian, 1e6 times":    times(t, poisson(t, gauss(t, 1), 1e-3, Remove), 1e6),
		"sampled Gaussian, 1e9 times":    times(t, poisson(t, gauss(t, 1), 1e-4, Add), 1e9),
		"sampled Laplace 300":            both(lap(t, 300), 0.5),
		"sampled Laplace 1e-9":           both(lap(t, 1e-9), 0.5),
		"sampled Laplace, rate 1e-6":     both(lap(t, 1), 1e-6),
		"sampled Laplace, nearly whole":  both(lap(t, 1), 0.999999),
		"sampled Laplace, 1e9 times":     times(t, poisson(t, lap(t, 1), 1e-3, Remove), 1e9),
		"sampled Laplace, small, often":  times(t, poisson(t, lap(t, 0.01), 0.5, Remove), 1e7),
	} {
		t.Run(name, func(t *testing.T) {
			deltas := []float64{0.9, 1e-6, 1e-100}
			slow := !*full && !strings.HasPrefix(name, "discrete Gaussian")
			if slow {
				deltas = deltas[1:2]
			}
			if strings.HasPrefix(name, "sampled") && !*full && !strings.Contains(name, "1e9") {
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
