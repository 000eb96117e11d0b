package mech

import (
	"math"
	"testing"
)

// sphereTail is P(b > t) for one coordinate in n dimensions, from the polar form: a length of
// Gamma(n), and a point of the sphere whose first coordinate is above c with probability
// I(1 - c^2; (n-1)/2, 1/2)/2. Simpson's rule over the length.
func sphereTail(n int, t float64) float64 {
	if n == 1 {
		return math.Exp(-t) / 2
	}
	g, _ := math.Lgamma(float64(n))
	const steps = 4000
	to := t + float64(n) + 40 + 12*math.Sqrt(float64(n))
	sum := 0.0
	for i := range steps + 1 {
		// The integrand has a corner at r = t: points lie close to it.
		u := float64(i) / steps
		r, weight := t+(to-t)*u*u, 2*(to-t)*u
		if r == 0 {
			continue
		}
		c := t / r
		p := beta(float64(n-1)/2, 0.5, 1-c*c) / 2
		sum += simpson(i, steps) * weight * math.Exp(-r+(float64(n)-1)*math.Log(r)-g) * p
	}
	return sum / (3 * steps)
}

func TestRadialTail(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 21, 105, 106} {
		for _, s := range []float64{0.3, 1, 10} {
			l := newRadialLaw(rat(s), n)
			for _, u := range []float64{0, 0.3, 1, 2, 4} {
				k := int64(u * s * math.Sqrt(float64(n+1)))
				want, got := 2*sphereTail(n, (float64(k)+0.5)/s), l.tail(k)
				most := want * (1 + 1e-6)
				if n%2 == 0 {
					most = 2*sphereTail(n+1, (float64(k)+0.5)/s)*(1+1e-6) + 1e-9
				}
				if got < want*(1-1e-6) || got > most {
					t.Errorf("n %d, s %v, k %d: tail %v, want %v", n, s, k, got, want)
				}
			}
		}
	}
}

// The noise that is drawn stays within its half width as often as it says.
func TestRadialHalfWidth(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10} {
		m := radial(t, 100, n, "1")
		k := m.HalfWidth(0.1)
		if m.Tail(k) > 0.1 || m.Tail(k-1) <= 0.1 {
			t.Errorf("n %d: tails %v and %v around the half width", n, m.Tail(k), m.Tail(k-1))
		}
		const draws = 20_000
		out, r := 0, seeded(byte(n))
		for range draws / n {
			for _, v := range r.Release(Exactly(make([]int64, n)...), m) {
				if abs(v) > k {
					out++
				}
			}
		}
		// Coordinates of one vector depend on each other a little.
		if share := float64(out) / draws; share > 0.1+0.02 || share < 0.1-0.04 {
			t.Errorf("n %d: %v of the draws are beyond the half width of 0.1", n, share)
		}
	}
}

func TestRadialHalfWidthExtremes(t *testing.T) {
	for _, n := range []int{1, 2, 105, 1 << 14, 1 << 20} {
		for _, s := range []float64{0x1p-20, 1, 0x1p40} {
			l := newRadialLaw(rat(s), n)
			if l.halfWidth(1) != 0 || l.halfWidth(0) != math.MaxInt64 || l.halfWidth(math.NaN()) != math.MaxInt64 {
				t.Errorf("n %d, s %v: certainty and nothing", n, s)
			}
			if l.tail(-1) != 1 || !(l.tail(math.MaxInt64) > 0) {
				t.Errorf("n %d, s %v: tails %v and %v", n, s, l.tail(-1), l.tail(math.MaxInt64))
			}
			k := l.halfWidth(1e-3)
			if k < 0 || l.tail(k) > 1e-3 {
				t.Errorf("n %d, s %v: half width %d", n, s, k)
			}
			if at := 3.29 * s * math.Sqrt(float64(n+1)); s > 0.1 && (float64(k) < 0.9*at || float64(k) > 1.7*at+8*s) {
				t.Errorf("n %d, s %v: half width %d, near %v", n, s, k, at)
			}
			if far := l.halfWidth(math.SmallestNonzeroFloat64); far < k {
				t.Errorf("n %d, s %v: half width %d at the smallest beta", n, s, far)
			}
		}
	}
	if k := newRadialLaw(rat(0x1p30), 1).halfWidth(0.05); math.Abs(float64(k)/0x1p30-math.Log(20)) > 1e-8 {
		t.Errorf("one dimension: %v", float64(k)/0x1p30)
	}
}

// logMGF bounds the transform of the rounded noise.
func TestRadialMGF(t *testing.T) {
	for _, n := range []int{1, 3, 21} {
		for _, s := range []float64{0.3, 2} {
			l := newRadialLaw(rat(s), n)
			for _, share := range []float64{0.05, 0.4, 0.8} {
				u, sum := share/s, 0.0
				for k := int64(0); k < int64((300+10*float64(n))*s)+200; k++ {
					mass, _ := l.block(k, k)
					c := 1.0
					if k > 0 {
						c = 2 * math.Cosh(u*float64(k))
					}
					sum += c * mass
				}
				if got := l.logMGF(u); got < math.Log(sum)-1e-9 || math.IsInf(got, 0) {
					t.Errorf("n %d, s %v, t %v: %v, want at least %v", n, s, u, got, math.Log(sum))
				}
			}
			if !math.IsInf(l.logMGF(1/s*(1+1e-12)), 1) || l.horizon() != 1/s {
				t.Error("beyond the horizon it is infinite")
			}
		}
	}
}
