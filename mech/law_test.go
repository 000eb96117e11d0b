package mech

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// slowTail is P(|X| > k) for the discrete Gaussian, term by term from the far
// end.
func slowTail(s2 float64, k int64) float64 {
	sum, z := 0.0, 0.0
	for j := int64(39*math.Sqrt(s2)) + 2; j > 0; j-- {
		g := math.Exp(-float64(j) * float64(j) / (2 * s2))
		z += 2 * g
		if j > k {
			sum += 2 * g
		}
	}
	return sum / (z + 1)
}

func rat(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

func TestGaussianTail(t *testing.T) {
	for _, s := range []float64{0.05, 0.3, 1, 7, 31.9, 32, 33, 60, 200, 2000} {
		l := newGaussianLaw(rat(s * s))
		for _, u := range []float64{0, 0.1, 0.5, 1, 2, 3, 5, 8, 15, 30} {
			k := int64(u * s)
			want, got := slowTail(s*s, k), l.tail(k)
			if got < want*(1-1e-12) || got > want*(1+3e-12+4*math.Pow((1+u)/s, 4))+2e-300 {
				t.Errorf("s %v, k %d: tail %v, want %v", s, k, got, want)
			}
		}
		for _, k := range []int64{0, 1, 5, 17} {
			width := int64(1 + s/3)
			mass, err := l.block(k+1, k+width)
			want := (slowTail(s*s, k) - slowTail(s*s, k+width)) / 2
			if math.Abs(mass-want) > err+1e-15 || err > 1e-11 {
				t.Errorf("s %v: block %d+%d has %v (+- %v), want %v", s, k, width, mass, err, want)
			}
		}
	}
}

func TestHalfWidthIsTheSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := math.Exp(rapid.Float64Range(-3, 7).Draw(t, "ln s"))
		beta := math.Exp(rapid.Float64Range(-60, -0.01).Draw(t, "ln beta"))
		k := newGaussianLaw(rat(s * s)).halfWidth(beta)
		if p := slowTail(s*s, k); p > beta*(1+1e-11) {
			t.Fatalf("s %v: P(|X| > %d) = %v > %v", s, k, p, beta)
		}
		if k > 0 {
			if p := slowTail(s*s, k-1); p < beta*(1-1e-9-5e3/math.Pow(math.Max(s, 32), 4)) {
				t.Fatalf("s %v: P(|X| > %d) = %v is within %v already", s, k-1, p, beta)
			}
		}
		b := math.Exp(rapid.Float64Range(-3, 20).Draw(t, "ln b"))
		l := newLaplaceLaw(rat(b))
		k = l.halfWidth(beta)
		q := math.Exp(-1 / b)
		at := func(k int64) float64 { return 2 * math.Exp(-float64(k+1)/b) / (1 + q) }
		if at(k) > beta*(1+1e-12) || (k > 0 && at(k-1) < beta*(1-1e-12)) {
			t.Fatalf("b %v: %d for %v, but the tails are %v and %v", b, k, beta, at(k), at(k-1))
		}
		if l.tail(k) < at(k)*(1-1e-15) {
			t.Fatal("the tail is not an upper bound")
		}
	})
}

// At the ends of the range the answers are finite, quick and in proportion.
func TestHalfWidthExtremes(t *testing.T) {
	laws := map[string]func(float64) law{
		"laplace":  func(s float64) law { return newLaplaceLaw(rat(s)) },
		"gaussian": func(s float64) law { return newGaussianLaw(rat(s * s)) },
	}
	for name, make := range laws {
		if k := make(0x1p-20).halfWidth(1e-9); k != 0 {
			t.Errorf("%s: hardly any noise has the half width %d", name, k)
		}
		k40, k20 := make(0x1p40).halfWidth(0.05), make(0x1p20).halfWidth(0.05)
		if r := float64(k40) / float64(k20); math.Abs(r/0x1p20-1) > 1e-6 {
			t.Errorf("%s: half widths %d and %d", name, k40, k20)
		}
		for _, s := range []float64{0x1p-20, 1, 31, 32, 0x1p40} {
			l := make(s)
			if k := l.halfWidth(math.SmallestNonzeroFloat64); k < 0 || float64(k) > 760*s+1 {
				t.Errorf("%s, %v: half width %d at the smallest beta", name, s, k)
			}
			if l.halfWidth(1) != 0 || l.halfWidth(2) != 0 {
				t.Errorf("%s: certainty needs no width", name)
			}
			for _, b := range []float64{0, -1, math.NaN()} {
				if l.halfWidth(b) != math.MaxInt64 {
					t.Errorf("%s: beta %v", name, b)
				}
			}
			if l.tail(-1) != 1 || l.tail(math.MaxInt64) <= 0 {
				t.Errorf("%s: tails %v and %v", name, l.tail(-1), l.tail(math.MaxInt64))
			}
		}
	}
}

// Known to everybody: 95 % of a Gaussian are within 1.959964 sigma.
func TestHalfWidthKnown(t *testing.T) {
	l := newGaussianLaw(rat(0x1p60))
	if k := float64(l.halfWidth(0.05)) / 0x1p30; math.Abs(k-1.9599639845400545) > 1e-9 {
		t.Errorf("%v sigma", k)
	}
	e := newLaplaceLaw(rat(0x1p30))
	if k := float64(e.halfWidth(0.05)) / 0x1p30; math.Abs(k-math.Log(20)) > 1e-8 {
		t.Errorf("%v b", k)
	}
}

func TestMGFIsAnUpperBound(t *testing.T) {
	for _, s := range []float64{0.2, 0.7, 3, 20} {
		for _, share := range []float64{0.01, 0.3, 0.9} {
			check := func(l law, logs []float64, tt float64) {
				sum := 0.0
				for i, p := range logs {
					sum += math.Exp(p + tt*float64(i-len(logs)/2))
				}
				if got := l.logMGF(tt); got < math.Log(sum)-1e-12 || math.IsInf(got, 0) {
					t.Errorf("s %v, t %v: %v, want at least %v", s, tt, got, math.Log(sum))
				}
			}
			check(newLaplaceLaw(rat(s)), laplaceLogs(rat(s)), share/s)
			check(newGaussianLaw(rat(s*s)), gaussianLogs(rat(s*s)), 3*share/s)
		}
	}
	if !math.IsInf(newLaplaceLaw(rat(2)).logMGF(0.5), 1) {
		t.Error("at 1/b it is infinite")
	}
}

// The variances were computed to 17 digits from first principles.
func TestVariances(t *testing.T) {
	for b, want := range map[float64]float64{1: 1.8413471884155846, 10: 199.83341663360945, 0.5: 0.36203083048315523} {
		if got := newLaplaceLaw(rat(b)).variance(); math.Abs(got-want) > 1e-12*want {
			t.Errorf("Laplace %v: %v, want %v", b, got, want)
		}
	}
	for s2, want := range map[float64]float64{1: 0.99999978876772808, 4: 4, 0.25: 0.21501267508813849} {
		if got := newGaussianLaw(rat(s2)).variance(); math.Abs(got-want) > 1e-6*want {
			t.Errorf("Gaussian %v: %v, want %v", s2, got, want)
		}
	}
}

func BenchmarkHalfWidth(b *testing.B) {
	for _, s := range []float64{1, 31, 1000, 0x1p40} {
		l := newGaussianLaw(rat(s * s))
		b.Run(rat(s).FloatString(0), func(b *testing.B) {
			for b.Loop() {
				l.halfWidth(0.05)
			}
		})
	}
}
