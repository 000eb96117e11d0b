package account

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestCurvesAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := logDraw(t, "epsilon", 1e-6, 200)
		alpha := 1 + logDraw(t, "order", 1e-6, 1e9)
		response := must(must(Pure{epsilon}.RDP()).At(alpha))
		laplace := must(must(LaplaceRDP(epsilon)).At(alpha))
		exponential := must(must(ExponentialRDP(epsilon)).At(alpha))
		const slack = 1 + 1e-12
		if laplace > response*slack || exponential > response*slack || response > epsilon*slack {
			t.Fatalf("Laplace %v, exponential %v, randomized response %v", laplace, exponential, response)
		}
		for _, c := range []RDP{must(Pure{epsilon}.RDP()), must(LaplaceRDP(epsilon)), must(ExponentialRDP(epsilon))} {
			if low, high := must(c.At(alpha)), must(c.At(alpha*1.5)); low > high*slack {
				t.Fatalf("the curve falls from %v to %v", low, high)
			}
		}
	})
}

// A sample is never worse than the whole, and grows with the rate and the order.
func TestSampledCurves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := logDraw(t, "mu", 1e-2, 5)
		rate := logDraw(t, "rate", 1e-6, 0.9)
		alpha := 1 + logDraw(t, "order", 1e-3, 200)
		const slack = 1 + 1e-10
		for name, f := range map[string]func(float64, float64) (RDP, error){
			"Gaussian": SubsampledGaussianRDP, "Laplace": SubsampledLaplaceRDP,
		} {
			s := must(f(mu, rate))
			here := must(s.At(alpha))
			if whole := must(must(f(mu, 1)).At(math.Ceil(alpha))); here > whole*slack {
				t.Fatalf("%s: %v on a sample, %v on all", name, here, whole)
			}
			if more := must(must(f(mu, rate*1.1)).At(alpha)); more < here/slack {
				t.Fatalf("%s: a larger rate makes %v out of %v", name, more, here)
			}
			if more := must(s.At(alpha * 1.1)); more < here/slack {
				t.Fatalf("%s: a larger order makes %v out of %v", name, more, here)
			}
			if none := must(must(f(mu, 0)).At(alpha)); none != 0 {
				t.Fatal(none)
			}
		}
		if s := must(SubsampledGaussianRDP(mu, rate)); !math.IsInf(must(s.At(maxOrder+0.5)), 1) {
			t.Fatal("orders that are not computed have a bound")
		}
	})
}

// The old conversion r + ln(1/delta)/(alpha - 1) at any order is not better.
func TestConversionIsTheNewOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := must(LaplaceRDP(logDraw(t, "epsilon", 1e-3, 10)))
		delta := logDraw(t, "delta", 1e-12, 0.1)
		alpha := 1 + logDraw(t, "order", 1e-3, 1e5)
		tight := must(r.EpsilonAt(delta))
		if old := must(r.At(alpha)) + math.Log(1/delta)/(alpha-1); tight > old*(1+1e-12) {
			t.Fatalf("%v, and %v at order %v", tight, old, alpha)
		}
	})
}

// What is composed of Gaussian curves is the Gaussian curve of the sum, and the
// general minimum agrees with the one for zCDP.
func TestComposeCurves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := logDraw(t, "a", 1e-3, 10), logDraw(t, "b", 1e-3, 10)
		k := rapid.IntRange(1, 1000).Draw(t, "k")
		delta := logDraw(t, "delta", 1e-12, 0.1)
		ga, gb := must(GaussianRDP(a)), must(GaussianRDP(b))
		both := must(must(ga.Times(k)).Compose(gb))
		z := ZCDP{(float64(k)*a*a + b*b) / 2}
		x, y := must(both.EpsilonAt(delta)), must(z.EpsilonAt(delta))
		if math.Abs(x-y) > 1e-10*y+1e-12 {
			t.Fatalf("%v as curves, %v as zCDP", x, y)
		}
		if back := must(must(gb.Compose(must(ga.Times(k)))).EpsilonAt(delta)); back != x && math.Abs(back-x) > 1e-13*x {
			t.Fatalf("%v and %v", x, back)
		}
		parallel := must(ga.Parallel(gb))
		if p, m := must(parallel.At(3)), math.Max(must(ga.At(3)), must(gb.At(3))); p != m {
			t.Fatalf("%v, not %v", p, m)
		}
		// Groups: the theorem for curves is weaker than the one for zCDP.
		size := rapid.IntRange(1, 40).Draw(t, "size")
		group := must(ga.Group(size))
		zg := must(ZCDP{a * a / 2}.Group(size))
		if order := 2.5; must(group.At(order)) < order*zg.Rho*(1-1e-12) {
			t.Fatalf("a group of %d is at %v, which is below %v", size, must(group.At(order)), order*zg.Rho)
		}
	})
}

// The exponential mechanism itself, on two neighbours, is within its curve.
func TestExponentialMechanismIsWithinItsCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := logDraw(t, "epsilon", 1e-2, 10)
		alpha := 1 + logDraw(t, "order", 1e-2, 100)
		n := rapid.IntRange(2, 6).Draw(t, "outputs")
		p, q := make([]float64, n), make([]float64, n)
		var sumP, sumQ float64
		for i := range n {
			score := rapid.Float64Range(-20, 20).Draw(t, "score")
			move := rapid.SampledFrom([]float64{-1, 1, rapid.Float64Range(-1, 1).Draw(t, "move")}).Draw(t, "moved")
			p[i] = math.Exp(epsilon * score / 2)
			q[i] = math.Exp(epsilon * (score + move) / 2)
			sumP, sumQ = sumP+p[i], sumQ+q[i]
		}
		// The losses are within epsilon, which is taken out of the moment.
		moment := 0.0
		for i := range n {
			moment += p[i] / sumP * math.Exp((alpha-1)*(math.Log(p[i]/sumP*sumQ/q[i])-epsilon))
		}
		bound := must(must(ExponentialRDP(epsilon)).At(alpha))
		if r := epsilon + math.Log(moment)/(alpha-1); r > bound*(1+1e-9)+1e-13 {
			t.Fatalf("a divergence of %v, and the curve says %v", r, bound)
		}
	})
}

// A curve that is no bound somewhere is not used there.
func TestBadCurves(t *testing.T) {
	r := NewRDP(func(alpha float64) float64 {
		if alpha > 3 {
			return math.NaN()
		}
		return -1
	})
	if e, err := r.EpsilonAt(1e-6); err == nil {
		t.Errorf("a curve without any bound has epsilon %v", e)
	}
	if d := must(r.DeltaAt(1)); d != 1 {
		t.Errorf("a curve without any bound has delta %v", d)
	}
}

func BenchmarkRDPEpsilon(b *testing.B) {
	laplace, _ := LaplaceRDP(0.1)
	b.Run("Laplace", func(b *testing.B) {
		for b.Loop() {
			_, _ = laplace.EpsilonAt(1e-6)
		}
	})
	// Nothing is remembered from one round to the next.
	b.Run("subsampled Gaussian", func(b *testing.B) {
		for b.Loop() {
			s, _ := SubsampledGaussianRDP(0.5, 0.01)
			_, _ = s.EpsilonAt(1e-6)
		}
	})
}
