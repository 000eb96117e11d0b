package account

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

func drawTerms(t *rapid.T, groups, times int) []Repeated {
	n := rapid.IntRange(1, groups).Draw(t, "groups")
	terms := make([]Repeated, n)
	for i := range terms {
		terms[i] = Repeated{Approx{Epsilon: logDraw(t, "epsilon", 1e-5, 5)}, rapid.IntRange(1, times).Draw(t, "times")}
		if rapid.Bool().Draw(t, "has a delta") {
			terms[i].Delta = logDraw(t, "own delta", 1e-15, 1e-6)
		}
	}
	return terms
}

// Optimal composition is never worse than basic, nor than advanced composition;
// an epsilon it gives at a delta has that delta.
func TestOptimalIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var terms []Repeated
		if rapid.Bool().Draw(t, "equal") {
			terms = drawTerms(t, 1, 100000)
		} else {
			terms = drawTerms(t, 3, 12)
		}
		basic := must(Basic(terms))
		delta := basic.Delta*1.01 + logDraw(t, "delta", 1e-14, 0.3)
		optimal := must(OptimalEpsilon(terms, delta))
		advanced := must(AdvancedEpsilon(terms, delta))
		if optimal.Lower > optimal.Upper || optimal.Upper > basic.Epsilon*(1+1e-14) || optimal.Upper > advanced.Upper {
			t.Fatalf("%v at %v: optimal %v, basic %v, advanced %v", terms, delta, optimal, basic, advanced)
		}
		if d := must(OptimalDelta(terms, optimal.Upper)); d.Lower > delta {
			t.Fatalf("%v at %v: epsilon %v, where delta is %v", terms, delta, optimal, d)
		}
		if d := must(OptimalDelta(terms, optimal.Lower)); d.Upper < delta && optimal.Lower > 0 {
			t.Fatalf("%v at %v: epsilon %v, at whose lower end delta is %v", terms, delta, optimal, d)
		}
		if optimal.Upper > optimal.Lower*(1+1e-6)+1e-9*basic.Epsilon {
			t.Fatalf("%v at %v: %v is wide", terms, delta, optimal)
		}
		if d, a := must(OptimalDelta(terms, basic.Epsilon)),
			must(AdvancedDelta(terms, basic.Epsilon)); d.Lower > basic.Delta || d.Lower > a.Upper {
			t.Fatalf("%v: at the sum of epsilon delta is %v, basic %v, advanced %v", terms, d, basic.Delta, a)
		}
	})
}

// Both theorems are monotone in every parameter, within their brackets.
func TestCompositionIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := drawTerms(t, 2, 200)
		delta := must(Basic(terms)).Delta + logDraw(t, "delta", 1e-12, 0.1)
		epsilon := logDraw(t, "epsilon", 1e-5, 20)
		factor := 1 + logDraw(t, "step", 1e-9, 1)
		for name, f := range map[string]struct {
			epsilon, delta func([]Repeated, float64) (dp.Bracket, error)
		}{"optimal": {OptimalEpsilon, OptimalDelta}, "advanced": {AdvancedEpsilon, AdvancedDelta}} {
			e, d := must(f.epsilon(terms, delta)), must(f.delta(terms, epsilon))
			if more := must(f.epsilon(terms, math.Min(0.9, delta*factor))); more.Lower > e.Upper {
				t.Fatalf("%s: a larger delta makes epsilon %v out of %v", name, more, e)
			}
			if more := must(f.delta(terms, epsilon*factor)); more.Lower > d.Upper {
				t.Fatalf("%s: a larger epsilon makes delta %v out of %v", name, more, d)
			}
			larger := append([]Repeated{}, terms...)
			larger[0].Epsilon *= factor
			more := append(append([]Repeated{}, terms...), Repeated{Approx{terms[0].Epsilon, 0}, 1})
			for _, worse := range [][]Repeated{larger, more} {
				if b := must(f.epsilon(worse, delta)); b.Upper < e.Lower {
					t.Fatalf("%s: %v has epsilon %v, less than %v", name, worse, b, e)
				}
				if b := must(f.delta(worse, epsilon)); b.Upper < d.Lower {
					t.Fatalf("%s: %v has delta %v, less than %v", name, worse, b, d)
				}
			}
		}
	})
}

// The walk over equal claims and the enumeration are two ways to one number: an
// epsilon that is split into two that differ in the last bit is enumerated.
func TestWalkAndEnumerationAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := logDraw(t, "epsilon", 1e-6, 20)
		k := rapid.IntRange(1, 300).Draw(t, "k")
		l := rapid.IntRange(1, 300).Draw(t, "l")
		one := []Repeated{{Approx{epsilon, 0}, k + l}}
		two := []Repeated{{Approx{epsilon, 0}, k}, {Approx{math.Nextafter(epsilon, 100), 0}, l}}
		delta := logDraw(t, "delta", 1e-20, 0.5)
		a, b := must(OptimalEpsilon(one, delta)), must(OptimalEpsilon(two, delta))
		if size := epsilon * float64(k+l); a.Lower > b.Upper || b.Lower > a.Upper+1e-15*size || b.Upper > a.Upper+1e-9*size {
			t.Fatalf("%v walked, %v enumerated", a, b)
		}
		c, d := must(OptimalDelta(one, a.Upper)), must(OptimalDelta(two, a.Upper))
		if c.Lower > d.Upper || d.Lower > c.Upper*(1+1e-9) {
			t.Fatalf("delta %v walked, %v enumerated", c, d)
		}
	})
}

func TestAdvancedPerQuery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := Approx{logDraw(t, "epsilon", 1e-3, 20), logDraw(t, "delta", 1e-12, 0.1)}
		k := rapid.IntRange(1, 1000000).Draw(t, "k")
		own := rapid.SampledFrom([]float64{0, 1e-3, 0.5}).Draw(t, "part") * total.Delta / float64(k)
		e := must(AdvancedPerQuery(total, k, own))
		forward := func(e float64) float64 {
			return must(AdvancedEpsilon([]Repeated{{Approx{e, own}, k}}, total.Delta)).Upper
		}
		if got := forward(e); e <= 0 || got > total.Epsilon {
			t.Fatalf("%d times %v is %v, more than %v", k, e, got, total)
		}
		if got := forward(e * (1 + 1e-13)); got <= total.Epsilon*(1-1e-12) {
			t.Fatalf("%v is not the largest for %d in %v", e, k, total)
		}
	})
}

func TestCompositionEdges(t *testing.T) {
	if b := must(OptimalEpsilon(nil, 0)); b != (dp.Bracket{}) {
		t.Error("nothing has epsilon", b)
	}
	one := []Repeated{{Approx{0.5, 0}, 8}, {Approx{3, 0}, 0}, {Approx{0, 1e-9}, 2}}
	if _, err := OptimalEpsilon(one, 1e-9); !errors.Is(err, ErrDeltaTooSmall) {
		t.Error(err)
	}
	if _, err := AdvancedEpsilon(one, 2e-9); !errors.Is(err, ErrDeltaTooSmall) {
		t.Error(err)
	}
	// At delta 0 nothing but the sum holds.
	if b := must(OptimalEpsilon(one[:1], 0)); !b.Contains(4) || b.Upper > 4.0000000000001 {
		t.Error(b)
	}
	if b := must(OptimalDelta(one[:1], 4)); b != (dp.Bracket{}) {
		t.Error(b)
	}
	// At delta near 1 nothing is left.
	if b := must(OptimalEpsilon(one[:1], 0.99)); b.Upper != 0 {
		t.Error(b)
	}
	// Enormous claims neither overflow nor become small.
	if b := must(OptimalDelta([]Repeated{{Approx{1000, 0}, 1000}}, 5)); b.Lower < 0.999999 || b.Upper > 1 {
		t.Error(b)
	}
	if b := must(OptimalEpsilon([]Repeated{{Approx{1e4, 0}, 10}}, 1e-9)); b.Upper > 1e5 || b.Lower < 99999.99999999 {
		t.Error(b)
	}
	if _, err := AdvancedEpsilon([]Repeated{{Approx{1000, 0}, 1}}, 0.1); !errors.Is(err, errUnbounded) {
		t.Error(err)
	}
	if b := must(AdvancedDelta([]Repeated{{Approx{1000, 0}, 1}}, 1e6)); b.Upper != 1 {
		t.Error(b)
	}
	many := []Repeated{{Approx{0.1, 0}, 2000}, {Approx{0.2, 0}, 2000}}
	fewer, more := []Repeated{{Approx{0.1, 0}, 2500}, {Approx{0.2, 0}, 1500}}, []Repeated{{Approx{0.1, 0}, 1500}, {Approx{0.2, 0}, 2500}}
	less, here, above := must(OptimalEpsilon(fewer, 1e-6)), must(OptimalEpsilon(many, 1e-6)), must(OptimalEpsilon(more, 1e-6))
	if !(less.Upper < here.Lower && here.Upper < above.Lower && here.Upper <= here.Lower*(1+1e-4)) {
		t.Error(less, here, above)
	}
	if _, err := OptimalDelta([]Repeated{{Approx{0.1, 0}, 1 << 53}, {Approx{0.2, 0}, 2}}, 1); err == nil {
		t.Error("more claims than are computed were accepted")
	}
	// Many small claims, and too many.
	if _, err := OptimalDelta([]Repeated{{Approx{0.1, 0}, 1e12 + 1}}, 1); err == nil {
		t.Error("more claims than are computed were accepted")
	}
	if b := must(OptimalEpsilon([]Repeated{{Approx{1e-6, 0}, 1e9}}, 1e-6)); b.Lower < 0.01 || b.Upper/b.Lower > 1+1e-7 {
		t.Error(b)
	}
	// Below the smallest delta that is computed, the bracket is wide and true.
	if b := must(OptimalEpsilon([]Repeated{{Approx{0.1, 0}, 10000}}, 1e-305)); b.Upper < 1000 || b.Lower > 500 {
		t.Error(b)
	}
}

// binomialLog against the same number as a product of ratios.
func TestBinomialProbabilitiesAddUp(t *testing.T) {
	for _, n := range []float64{1, 2, 15, 16, 17, 100, 1000} {
		for _, q := range []float64{1e-9, 0.01, 0.3, 0.5, 0.9} {
			sum, bound := 0.0, 0.0
			for j := 0.0; j <= n; j++ {
				l, b := binomialLog(n, j, q, 1-q)
				sum += math.Exp(l)
				bound = math.Max(bound, b*math.Exp(l))
			}
			if math.Abs(sum-1) > 1e-13 || bound > 1e-12 {
				t.Errorf("n %v, q %v: the sum is off by %g, the bound is %g", n, q, sum-1, bound)
			}
		}
	}
}

func BenchmarkOptimalEpsilon(b *testing.B) {
	for name, k := range map[string]int{"k=1e3": 1e3, "k=1e5": 1e5, "k=1e6": 1e6} {
		b.Run(name, func(b *testing.B) {
			terms := []Repeated{{Approx{1 / math.Sqrt(float64(k)), 0}, k}}
			for b.Loop() {
				_, _ = OptimalEpsilon(terms, 1e-6)
			}
		})
	}
	b.Run("enumerated", func(b *testing.B) {
		terms := []Repeated{{Approx{0.1, 0}, 100}, {Approx{0.2, 0}, 100}, {Approx{0.3, 0}, 100}}
		for b.Loop() {
			_, _ = OptimalEpsilon(terms, 1e-6)
		}
	})
}

// The golden values were computed to 17 digits from first principles, apart from
// this package and from its reference table.
func TestGolden(t *testing.T) {
	times := func(k int, epsilon, delta float64) []Repeated { return []Repeated{{Approx{epsilon, delta}, k}} }
	bracket := func(b dp.Bracket, err error) float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if b.Upper-b.Lower > 1e-10*b.Upper {
			t.Errorf("%v is wide", b)
		}
		return b.Upper
	}
	value := func(x float64, err error) float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	laplace := func(epsilon, alpha float64) float64 {
		r := must(LaplaceRDP(epsilon))
		return value(r.At(alpha))
	}
	three := []Repeated{{Approx{0.1, 0}, 1}, {Approx{0.2, 0}, 1}, {Approx{0.3, 0}, 1}}
	for _, g := range []struct {
		name        string
		got, golden float64
	}{
		{"Gaussian noise, mu 1, delta 1e-5", value(GDP{1}.EpsilonAt(1e-5)), 4.3771780956812246},
		{"Gaussian noise, mu 0.25, delta 1e-6", value(GDP{0.25}.EpsilonAt(1e-6)), 1.0607018623282737},
		{"analytic calibration, epsilon 1", value(GDP{1 / 3.7306316348159418}.DeltaAt(1)), 1e-5},
		{"analytic calibration, epsilon 0.5", value(GDP{1 / 8.0576184807250443}.DeltaAt(0.5)), 1e-6},
		{"analytic calibration, epsilon 3", value(GDP{1 / 1.9437242635119693}.DeltaAt(3)), 1e-9},
		{"optimal, 10 of 0.1", bracket(OptimalEpsilon(times(10, 0.1, 0), 1e-6)), 0.99937090572175872},
		{"optimal, 100 of 0.1", bracket(OptimalEpsilon(times(100, 0.1, 0), 1e-6)), 4.7745675881079862},
		{"optimal, 1000 of 0.01", bracket(OptimalEpsilon(times(1000, 0.01, 1e-9), 1e-5)), 1.2060948264664169},
		{"optimal, three", bracket(OptimalEpsilon(three, 0.01)), 0.537796170502},
		{"advanced, 100 of 0.1", bracket(AdvancedEpsilon(times(100, 0.1, 0), 1e-6)), 6.3082309505134082},
		{"advanced, 10000 of 1/800", bracket(AdvancedEpsilon(times(10000, 0.00125, 0), 1.2664165549094176e-14)), 1.0156347696952823},
		{"zCDP 0.1", value(ZCDP{0.1}.EpsilonAt(1e-6)), 2.1419389283854737},
		{"zCDP 0.5", value(ZCDP{0.5}.EpsilonAt(1e-5)), 4.7283869849433139},
		{"zCDP 1", value(ZCDP{1}.EpsilonAt(1e-9)), 9.5214636717922322},
		{"zCDP 0.1, Bun, Steinke", value(ZCDP{0.1}.BunSteinkeEpsilon(1e-6)), 2.4507880004767996},
		{"zCDP 0.5, Bun, Steinke", value(ZCDP{0.5}.BunSteinkeEpsilon(1e-5)), 5.2985259121880812},
		{"zCDP 1, Bun, Steinke", value(ZCDP{1}.BunSteinkeEpsilon(1e-9)), 10.104562776310878},
		{"Laplace curve, scale 1", laplace(1, 2), 0.61912362999859288},
		{"Laplace curve, scale 2", laplace(0.5, 10), 0.42869038646727483},
		{"Laplace curve, scale 1/2", laplace(2, 1.5), 1.4368091584145995},
	} {
		if off := g.got/g.golden - 1; math.Abs(off) > 1e-11 {
			t.Errorf("%s: %.17g, want %.17g, relative error %g", g.name, g.got, g.golden, off)
		}
	}
	pure, _ := Pure{1}.ZCDP()
	if math.Abs(pure.Rho-0.46211716) > 1e-8 {
		t.Errorf("pure 1 is %v-zCDP", pure.Rho)
	}
}

// Forgetting the second term of advanced composition would give 1 where the theorem gives 1.0156.
func TestAdvancedHasItsSecondTerm(t *testing.T) {
	b, err := AdvancedEpsilon([]Repeated{{Approx{1. / 800, 0}, 10000}}, math.Exp(-32))
	if err != nil || b.Lower < 1.0156 {
		t.Errorf("%v, %v", b, err)
	}
}
