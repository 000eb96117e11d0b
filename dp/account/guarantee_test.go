package account

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/privacyloss"
)

// logDraw draws from low to high with a uniform logarithm.
func logDraw(t *rapid.T, name string, low, high float64) float64 {
	return math.Exp(rapid.Float64Range(math.Log(low), math.Log(high)).Draw(t, "ln "+name))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func everyKind(t *rapid.T) map[string]Guarantee {
	epsilon := logDraw(t, "epsilon", 1e-6, 50)
	delta := logDraw(t, "delta", 1e-15, 0.1)
	return map[string]Guarantee{
		"pure":        Pure{epsilon},
		"approx":      Approx{epsilon, delta},
		"zcdp":        ZCDP{epsilon},
		"approx zcdp": ApproxZCDP{epsilon, delta},
		"gdp":         GDP{epsilon},
		"laplace":     must(LaplaceRDP(epsilon)),
		"response":    must(Pure{epsilon}.RDP()),
		"exponential": must(ExponentialRDP(epsilon)),
		"sampled":     must(SubsampledGaussianRDP(min(epsilon, 5), 0.01)),
	}
}

// A guarantee read as (epsilon, delta) and asked again is never smaller; both
// readings are monotone. Rounding is allowed for by 1e-9.
func TestReadingsAreMonotoneAndAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delta := logDraw(t, "asked delta", 1e-12, 0.4)
		more := math.Min(0.9, delta*(1+logDraw(t, "step", 1e-6, 1)))
		for name, g := range everyKind(t) {
			e, err := g.EpsilonAt(delta)
			if errors.Is(err, ErrDeltaTooSmall) && (name == "approx" || name == "approx zcdp") {
				continue
			}
			must(e, err)
			// Near the largest loss delta hangs on the last digits of epsilon.
			if back := must(g.DeltaAt(e * (1 + 1e-11))); e > 0 && (back > delta*(1+1e-9) || back < 0) {
				t.Fatalf("%s %v: epsilon %v at %v, where delta is %v", name, g, e, delta, back)
			}
			if less := must(g.EpsilonAt(more)); less > e+1e-9*(e+1e-9) {
				t.Fatalf("%s %v: epsilon %v at %v, %v at %v", name, g, e, delta, less, more)
			}
			d := must(g.DeltaAt(e))
			if less := must(g.DeltaAt(e * 1.01)); less > d*(1+1e-9) {
				t.Fatalf("%s %v: delta %v at %v, %v a little further", name, g, d, e, less)
			}
			if d := must(g.DeltaAt(0)); !(d >= 0 && d <= 1) {
				t.Fatalf("%s %v: delta %v at 0", name, g, d)
			}
		}
	})
}

// A conversion forgets something: at every delta the converted guarantee
// implies at least the epsilon of the one it comes from. A conversion in the wrong
// direction, or rounded inward, would fail here.
func TestConversionsOnlyWeaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := logDraw(t, "epsilon", 1e-5, 100)
		own := logDraw(t, "delta", 1e-12, 0.01)
		delta := logDraw(t, "asked delta", 1e-12, 0.4)
		approx, pure, gauss, zcdp := Approx{epsilon, own}, Pure{epsilon}, GDP{epsilon}, ZCDP{epsilon}
		for name, pair := range map[string][2]Guarantee{
			"pure to approx":        {pure, pure.Approx()},
			"pure to zcdp":          {pure, must(pure.ZCDP())},
			"pure to rdp":           {pure, must(pure.RDP())},
			"pure to gdp":           {pure, must(pure.GDP())},
			"approx to approx zcdp": {approx, must(approx.ApproxZCDP())},
			"zcdp to approx zcdp":   {zcdp, zcdp.ApproxZCDP()},
			"zcdp to rdp":           {zcdp, must(zcdp.RDP())},
			"zcdp to approx":        {zcdp, must(zcdp.Approx(delta / 3))},
			"gdp to zcdp":           {gauss, must(gauss.ZCDP())},
			"gdp to rdp":            {gauss, must(gauss.RDP())},
			"gdp to approx":         {gauss, must(gauss.Approx(delta / 3))},
		} {
			before, err := pair[0].EpsilonAt(delta)
			if errors.Is(err, ErrDeltaTooSmall) {
				continue
			}
			must(before, err)
			after, err := pair[1].EpsilonAt(delta)
			if errors.Is(err, ErrDeltaTooSmall) {
				continue // no claim at all, so a weaker one
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if after < before*(1-1e-10)-1e-12 {
				t.Fatalf("%s: %v implies epsilon %v at %v, and %v implies %v", name, pair[0], before, delta, pair[1], after)
			}
		}
		// The tight conversion is tighter.
		if tight, loose := must(zcdp.EpsilonAt(delta)), must(zcdp.BunSteinkeEpsilon(delta)); tight > loose*(1+1e-12) {
			t.Fatalf("rho %v: %v is above %v", zcdp.Rho, tight, loose)
		}
	})
}

// The divergence of randomized response at every order is within alpha times epsilon
// tanh(epsilon/2), and at order 1 equal to it: the conversion is valid and the best.
func TestPureToZCDPIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pure{logDraw(t, "epsilon", 1e-6, 1e3)}
		alpha := 1 + logDraw(t, "order", 1e-9, 1e6)
		rho := must(p.ZCDP()).Rho
		curve := must(p.RDP())
		if r := must(curve.At(alpha)); r > alpha*rho*(1+1e-12) {
			t.Fatalf("epsilon %v, order %v: %v is above %v", p.Epsilon, alpha, r, alpha*rho)
		}
		if r := must(curve.At(1 + 1e-12)); math.Abs(r/rho-1) > 1e-6 {
			t.Fatalf("epsilon %v: %v near order 1, rho %v", p.Epsilon, r, rho)
		}
	})
}

// mu of a pure claim is the smallest: a mu slightly smaller implies, at some
// epsilon, a delta below that of randomized response.
func TestPureToGDPIsTheBest(t *testing.T) {
	for _, e := range []float64{0.01, 0.5, 1, 3, 10} {
		g := must(Pure{e}.GDP())
		at0 := must(Pure{e}.DeltaAt(0))
		if d := must(GDP{g.Mu * (1 - 1e-9)}.DeltaAt(0)); d >= at0 {
			t.Errorf("epsilon %v: mu %v is not the smallest", e, g.Mu)
		}
	}
}

func TestComposeParallelGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return logDraw(t, name, 1e-8, 100) }
		a, b, c := draw("a"), draw("b"), draw("c")
		da, db := logDraw(t, "da", 1e-15, 0.3), logDraw(t, "db", 1e-15, 0.3)
		k := rapid.IntRange(1, 50).Draw(t, "k")
		near := func(x, y float64) {
			if math.Abs(x-y) > 1e-14*(x+y) {
				t.Fatalf("%v and %v differ", x, y)
			}
		}
		// Commutative, associative, and not below the exact sum.
		near(must(Pure{a}.Compose(Pure{b}, Pure{c})).Epsilon, must(Pure{c}.Compose(must(Pure{b}.Compose(Pure{a})))).Epsilon)
		near(must(ZCDP{a}.Compose(ZCDP{b}, ZCDP{c})).Rho, must(ZCDP{c}.Compose(must(ZCDP{b}.Compose(ZCDP{a})))).Rho)
		near(must(GDP{a}.Compose(GDP{b}, GDP{c})).Mu, must(GDP{c}.Compose(must(GDP{b}.Compose(GDP{a})))).Mu)
		near(must(GDP{a}.Compose(GDP{b})).Mu, math.Hypot(a, b))
		if s := must(Pure{a}.Compose(Pure{b})).Epsilon; s-b < a && s-a < b {
			t.Fatalf("%v + %v = %v is rounded down", a, b, s)
		}
		az := must(ApproxZCDP{a, da}.Compose(ApproxZCDP{b, db}))
		ap := must(Approx{a, da}.Compose(Approx{b, db}))
		near(az.Rho, a+b)
		near(az.Delta, da+db)
		near(ap.Epsilon, a+b)
		near(ap.Delta, da+db)

		most := math.Max(a, b)
		if must(Pure{a}.Parallel(Pure{b})).Epsilon != most || must(ZCDP{a}.Parallel(ZCDP{b})).Rho != most ||
			must(GDP{a}.Parallel(GDP{b})).Mu != most {
			t.Fatal("parallel composition is not the largest")
		}
		if p := must(Approx{a, da}.Parallel(Approx{b, db})); p.Epsilon != most || p.Delta != math.Max(da, db) {
			t.Fatal(p)
		}
		if p := must(ApproxZCDP{a, da}.Parallel(ApproxZCDP{b, db})); p.Rho != most || p.Delta != math.Max(da, db) {
			t.Fatal(p)
		}

		n := float64(k)
		near(must(Pure{a}.Group(k)).Epsilon, n*a)
		near(must(ZCDP{a}.Group(k)).Rho, n*n*a)
		near(must(GDP{a}.Group(k)).Mu, n*a)
		// Groups of groups.
		one := must(must(Approx{a, da}.Group(2)).Group(k))
		two := must(Approx{a, da}.Group(2 * k))
		if math.Abs(one.Epsilon-two.Epsilon) > 1e-12*two.Epsilon || math.Abs(one.Delta-two.Delta) > 1e-11*two.Delta {
			t.Fatalf("%v and %v", one, two)
		}
	})
}

// Sums that are float64 numbers stay exact: a half and a half is one.
func TestExactSumsStayExact(t *testing.T) {
	p := must(Pure{0.5}.Compose(Pure{0.25}, Pure{0.25}))
	z := must(ZCDP{0.5}.Group(4))
	b := must(Basic([]Repeated{{Approx{0.125, 0x1p-30}, 8}}))
	if p.Epsilon != 1 || z.Rho != 8 || b != (Approx{1, 0x1p-27}) {
		t.Error(p, z, b)
	}
	if addUp(0.1, 0.2) <= 0.3 || mulUp(3, 0.1) <= 0.3 || mulUp(1e-200, 1e-200) <= 0 {
		t.Error("what is not exact is not rounded up")
	}
}

// Every number that has no meaning is refused, with a text that says what to write.
func TestRefusals(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, bad := range []float64{-1, nan, inf, -inf} {
		for name, err := range map[string]error{
			"pure":        Pure{bad}.Validate(),
			"approx":      Approx{bad, 0}.Validate(),
			"delta":       Approx{1, bad}.Validate(),
			"zcdp":        ZCDP{bad}.Validate(),
			"approx zcdp": ApproxZCDP{bad, 0}.Validate(),
			"az delta":    ApproxZCDP{1, bad}.Validate(),
			"gdp":         GDP{bad}.Validate(),
			"repeated":    Repeated{Approx{bad, 0}, 1}.Validate(),
		} {
			var e *ParameterError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), "write ") {
				t.Errorf("%s %v: %v", name, bad, err)
			}
		}
		guarantees := []Guarantee{Pure{1}, Approx{1, 0}, ZCDP{1}, ApproxZCDP{1, 0}, GDP{1}, must(GaussianRDP(1)),
			Pure{bad}, Approx{bad, 0}, ZCDP{bad}, ApproxZCDP{bad, 0}, GDP{bad}, RDP{}}
		for i, g := range guarantees {
			if _, err := g.EpsilonAt(bad); err == nil {
				t.Errorf("%v has an epsilon at delta %v", g, bad)
			}
			if _, err := g.DeltaAt(bad); err == nil {
				t.Errorf("%v has a delta at epsilon %v", g, bad)
			}
			if _, err := g.EpsilonAt(1e-6); (err == nil) != (i < 6) {
				t.Errorf("%v: %v", g, err)
			}
			if _, err := g.DeltaAt(1); (err == nil) != (i < 6) {
				t.Errorf("%v: %v", g, err)
			}
		}
		for name, f := range map[string]func() error{
			"pure compose":    func() error { _, err := Pure{1}.Compose(Pure{bad}); return err },
			"pure parallel":   func() error { _, err := Pure{1}.Parallel(Pure{bad}); return err },
			"pure group":      func() error { _, err := Pure{bad}.Group(2); return err },
			"pure zcdp":       func() error { _, err := Pure{bad}.ZCDP(); return err },
			"pure rdp":        func() error { _, err := Pure{bad}.RDP(); return err },
			"pure gdp":        func() error { _, err := Pure{bad}.GDP(); return err },
			"approx compose":  func() error { _, err := Approx{1, 0}.Compose(Approx{1, bad}); return err },
			"approx group":    func() error { _, err := Approx{bad, 0}.Group(2); return err },
			"approx zcdp":     func() error { _, err := Approx{bad, 0}.ApproxZCDP(); return err },
			"zcdp compose":    func() error { _, err := ZCDP{bad}.Compose(); return err },
			"zcdp group":      func() error { _, err := ZCDP{bad}.Group(2); return err },
			"zcdp rdp":        func() error { _, err := ZCDP{bad}.RDP(); return err },
			"bun steinke":     func() error { _, err := ZCDP{1}.BunSteinkeEpsilon(bad); return err },
			"gdp compose":     func() error { _, err := GDP{1}.Compose(GDP{bad}); return err },
			"gdp zcdp":        func() error { _, err := GDP{bad}.ZCDP(); return err },
			"laplace":         func() error { _, err := LaplaceRDP(bad); return err },
			"exponential":     func() error { _, err := ExponentialRDP(bad); return err },
			"sampled":         func() error { _, err := SubsampledGaussianRDP(bad, 0.1); return err },
			"sampled laplace": func() error { _, err := SubsampledLaplaceRDP(bad, 0.1); return err },
			"rate":            func() error { _, err := SubsampledGaussianRDP(1, bad); return err },
			"basic":           func() error { _, err := Basic([]Repeated{{Approx{bad, 0}, 1}}); return err },
			"advanced":        func() error { _, err := AdvancedEpsilon(nil, bad); return err },
			"advanced delta":  func() error { _, err := AdvancedDelta(nil, bad); return err },
			"per query":       func() error { _, err := AdvancedPerQuery(Approx{1, bad}, 1, 0); return err },
			"per query delta": func() error { _, err := AdvancedPerQuery(Approx{1, 0.1}, 1, bad); return err },
			"optimal":         func() error { _, err := OptimalEpsilon(nil, bad); return err },
			"optimal delta":   func() error { _, err := OptimalDelta(nil, bad); return err },
			"order":           func() error { _, err := must(LaplaceRDP(1)).At(bad); return err },
		} {
			if f() == nil {
				t.Errorf("%s: %v was accepted", name, bad)
			}
		}
	}
	for name, f := range map[string]func() error{
		"delta 1":         func() error { _, err := Pure{1}.EpsilonAt(1); return err },
		"group of 0":      func() error { _, err := Pure{1}.Group(0); return err },
		"times 2^60":      func() error { _, err := Basic([]Repeated{{Approx{1, 0}, 1 << 60}}); return err },
		"group of 2^60":   func() error { _, err := Pure{1}.Group(1 << 60); return err },
		"times -1":        func() error { _, err := Basic([]Repeated{{Approx{1, 0}, -1}}); return err },
		"zcdp at 0":       func() error { _, err := ZCDP{1}.EpsilonAt(0); return err },
		"gdp at 0":        func() error { _, err := GDP{1}.EpsilonAt(0); return err },
		"rdp at 0":        func() error { _, err := must(LaplaceRDP(1)).EpsilonAt(0); return err },
		"approx below":    func() error { _, err := Approx{1, 0.1}.EpsilonAt(0.05); return err },
		"az below":        func() error { _, err := ApproxZCDP{1, 0.1}.EpsilonAt(0.1); return err },
		"no curve":        func() error { _, err := RDP{}.Compose(); return err },
		"overflow":        func() error { _, err := Pure{1e308}.Compose(Pure{1e308}); return err },
		"group overflow":  func() error { _, err := ZCDP{1e308}.Group(10); return err },
		"gdp overflow":    func() error { _, err := GDP{1e200}.ZCDP(); return err },
		"per query delta": func() error { _, err := AdvancedPerQuery(Approx{1, 1e-6}, 10, 1e-6); return err },
	} {
		if f() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// Nothing costs nothing.
func TestNothing(t *testing.T) {
	for _, g := range []Guarantee{Pure{}, Approx{}, ZCDP{}, ApproxZCDP{}, GDP{}} {
		e, err := g.EpsilonAt(0)
		d, err2 := g.DeltaAt(0)
		if e != 0 || err != nil || err2 != nil || d > 1e-300 {
			t.Errorf("%T: %v %v, %v %v", g, e, err, d, err2)
		}
	}
	if z, g := must(Pure{}.ZCDP()), must(Pure{}.GDP()); z.Rho != 0 || g.Mu != 0 {
		t.Error(z, g)
	}
	if e, err := (Approx{3, 0.2}).EpsilonAt(0.2); e != 3 || err != nil {
		t.Error("a claim does not hold at its own delta:", e, err)
	}
}

var _ Guarantee = PLD{}

func TestPLDIsTheLargerDirection(t *testing.T) {
	gaussian := must(privacyloss.Gaussian(1))
	var both PLD
	var alone [2]float64
	for i, d := range []privacyloss.Direction{privacyloss.Remove, privacyloss.Add} {
		law := must(privacyloss.Sampled(gaussian, 0.8, d))
		s, err := privacyloss.Sum{}.Plus(law, 1)
		if err != nil {
			t.Fatal(err)
		}
		both.Directions = append(both.Directions, s)
		alone[i] = must((PLD{[]privacyloss.Sum{s}}).DeltaAt(1))
	}
	// Published figures of the two directions; a claim is never below them.
	for i, want := range []float64{0.0816951786585, 0.0231362104091} {
		if d := alone[i]; d < want-1e-13 || d > want+1e-12 {
			t.Errorf("direction %d: delta %v, want %v", i, d, want)
		}
	}
	if d, err := both.DeltaAt(1); err != nil || d != max(alone[0], alone[1]) {
		t.Errorf("delta %v, %v; want the larger of %v", d, err, alone)
	}
	claim := must(both.Approx(1e-5))
	bracket, err := both.Epsilon(1e-5)
	if err != nil || claim.Epsilon != bracket.Upper || claim.Delta != 1e-5 {
		t.Errorf("claim %v; want the upper end of %v, %v", claim, bracket, err)
	}
	if back, err := both.DeltaAt(claim.Epsilon); err != nil || back > 1e-5*(1+1e-9) {
		t.Errorf("at its own epsilon the claim has delta %v, %v", back, err)
	}
}

// Where some loss is infinite there is no epsilon, and infinity is not given for one.
func TestPLDHasNoEpsilon(t *testing.T) {
	law := must(privacyloss.Response(0.1, 1e-3))
	s := must(privacyloss.Sum{}.Plus(law, 10))
	if e, err := (PLD{[]privacyloss.Sum{s}}).EpsilonAt(1e-6); !errors.Is(err, errUnbounded) {
		t.Errorf("epsilon %v, %v", e, err)
	}
}
