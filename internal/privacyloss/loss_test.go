package privacyloss

import (
	"flag"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// check is rapid's, with a number of draws that suits what each costs.
func check(t *testing.T, draws int, f func(*rapid.T)) {
	t.Helper()
	draws = daily.Rounds((draws+3)/4, draws) // others in every run
	if err := flag.Set("rapid.checks", strconv.Itoa(draws)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, f)
}

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func law(t tester, made Law, err error) Law {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return made
}

func sampledLaw(t tester, of Law, rate float64, direction Direction) Law {
	t.Helper()
	made, err := Sampled(of, rate, direction)
	return law(t, made, err)
}

func gauss(t tester, mu float64) Law {
	t.Helper()
	made, err := Gaussian(mu)
	return law(t, made, err)
}

func lap(t tester, epsilon float64) Law {
	t.Helper()
	made, err := Laplace(epsilon)
	return law(t, made, err)
}

func rr(t tester, epsilon, delta float64) Law {
	t.Helper()
	made, err := Response(epsilon, delta)
	return law(t, made, err)
}

func (s Sum) plus(t tester, l Law, times int) Sum {
	t.Helper()
	out, err := s.Plus(l, times)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out
}

func times(t tester, l Law, k int) Sum {
	t.Helper()
	return Sum{}.plus(t, l, k)
}

func deltaOf(t tester, s Sum, epsilon float64) dp.Bracket {
	t.Helper()
	b, err := s.Delta(epsilon)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return checkBracket(t, b)
}

func epsilonOf(t tester, s Sum, delta float64) dp.Bracket {
	t.Helper()
	b, err := s.Epsilon(delta)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return checkBracket(t, b)
}

func checkBracket(t tester, b dp.Bracket) dp.Bracket {
	t.Helper()
	if !(b.Lower <= b.Upper) || b.Lower < 0 {
		t.Fatalf("%v is no bracket", b)
	}
	return b
}

// overlap reports whether two brackets can be of one number.
func overlap(a, b dp.Bracket) bool { return a.Lower <= b.Upper && b.Lower <= a.Upper }

// width is relative to the upper end.
func width(b dp.Bracket) float64 {
	if b.Upper == 0 {
		return 0
	}
	return (b.Upper - b.Lower) / b.Upper
}

func TestParameters(t *testing.T) {
	wrong := func(name string, _ Law, err error) {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	g, l := gauss(t, 1), lap(t, 1)
	for name, make := range map[string]func() (Law, error){
		"mu 0":            func() (Law, error) { return Gaussian(0) },
		"epsilon 0":       func() (Law, error) { return Laplace(0) },
		"delta 1":         func() (Law, error) { return Response(1, 1) },
		"delta -1":        func() (Law, error) { return Response(1, -1) },
		"steps 0":         func() (Law, error) { return DiscreteLaplace(1, 0) },
		"variance 0":      func() (Law, error) { return DiscreteGaussian(0, 1) },
		"rate 0":          func() (Law, error) { return Sampled(g, 0, Add) },
		"rate 2":          func() (Law, error) { return Sampled(l, 2, Add) },
		"direction 7":     func() (Law, error) { return Sampled(l, 0.5, 7) },
		"sampled twice":   func() (Law, error) { return Sampled(sampledLaw(t, g, 0.5, Add), 0.5, Add) },
		"sampled mu 11":   func() (Law, error) { return Sampled(gauss(t, 11), 0.5, Add) },
		"sampled eps 301": func() (Law, error) { return Sampled(lap(t, 301), 0.5, Add) },
	} {
		made, err := make()
		wrong(name, made, err)
	}
	if _, err := (Sum{}).Plus(g, 0); err == nil {
		t.Error("zero times is accepted")
	}
	if _, err := (Sum{}).plus(t, g, maxTimes).Plus(l, 1); err == nil {
		t.Error("more than MaxTimes is accepted")
	}
}

// family makes a law from a size: larger sizes lose more.
type family struct {
	name string
	make func(t tester, size float64) Law
}

var families = []family{
	{"Laplace", func(t tester, x float64) Law { return lap(t, x) }},
	{"Gaussian", func(t tester, x float64) Law { return gauss(t, x) }},
	{"Response", func(t tester, x float64) Law { return rr(t, x, 1e-4*min(1, x)) }},
	{"Exponential", func(t tester, x float64) Law { l, err := Exponential(x); return law(t, l, err) }},
	{"DiscreteLaplace", func(t tester, x float64) Law { l, err := DiscreteLaplace(3/x, 3); return law(t, l, err) }},
	{"DiscreteGaussian", func(t tester, x float64) Law { l, err := DiscreteGaussian(4/(x*x), 2); return law(t, l, err) }},
	{"sampled Gaussian, removed", func(t tester, x float64) Law { return sampledLaw(t, gauss(t, x), 0.1, Remove) }},
	{"sampled Gaussian, added", func(t tester, x float64) Law { return sampledLaw(t, gauss(t, x), 0.1, Add) }},
	{"sampled Laplace, removed", func(t tester, x float64) Law { return sampledLaw(t, lap(t, x), 0.3, Remove) }},
	{"sampled Laplace, added", func(t tester, x float64) Law { return sampledLaw(t, lap(t, x), 0.3, Add) }},
	{"rate", func(t tester, x float64) Law { return sampledLaw(t, gauss(t, 1), x/10, Remove) }},
}

// closedForms are quick; the others are drawn less often.
const closedForms = 6

func drawFamily(t *rapid.T) family {
	if rapid.IntRange(0, 19).Draw(t, "sampled") == 0 {
		return families[rapid.IntRange(closedForms, len(families)-1).Draw(t, "family")]
	}
	return families[rapid.IntRange(0, closedForms-1).Draw(t, "family")]
}

func drawSize(t *rapid.T, name string) float64 {
	return math.Exp(rapid.Float64Range(-4, 1).Draw(t, name))
}

func drawTerm(t *rapid.T) (Law, int) {
	return drawFamily(t).make(t, drawSize(t, "size")), rapid.IntRange(1, 30).Draw(t, "times")
}

// drawEpsilon is around where delta goes from 1 to nothing.
func drawEpsilon(t *rapid.T, s Sum) float64 {
	high := min(s.top(), 3*max(1e-6, s.roughCumulant(1e-30).chernoff(1e-3)))
	return rapid.Float64Range(0, 1).Draw(t, "part") * high
}

func TestDeltaDecreasesInEpsilon(t *testing.T) {
	check(t, 8, func(t *rapid.T) {
		l, k := drawTerm(t)
		s := times(t, l, k)
		a, b := drawEpsilon(t, s), drawEpsilon(t, s)
		if a > b {
			a, b = b, a
		}
		low, high := deltaOf(t, s, a), deltaOf(t, s, b)
		if high.Lower > low.Upper {
			t.Fatalf("delta is %v at %v and %v at %v", low, a, high, b)
		}
		// And the inverse is one.
		if d := low.Lower; d > 1e-250 && d < 1 {
			if e := epsilonOf(t, s, d); e.Upper < a*(1-1e-12) {
				t.Fatalf("delta is at least %v at %v, but there epsilon is %v", d, a, e)
			}
		}
		if d := low.Upper; d > 1e-250 && d < 1 {
			if e := epsilonOf(t, s, d); e.Lower > a*(1+1e-12) {
				t.Fatalf("delta is at most %v at %v, but there epsilon is %v", d, a, e)
			}
		}
	})
}

func TestDeltaIncreasesInTheParameter(t *testing.T) {
	check(t, 8, func(t *rapid.T) {
		f, k := drawFamily(t), rapid.IntRange(1, 30).Draw(t, "times")
		size, more := drawSize(t, "size"), rapid.Float64Range(1, 1.5).Draw(t, "more")
		small, large := times(t, f.make(t, size), k), times(t, f.make(t, size*more), k)
		e := drawEpsilon(t, small)
		if a, b := deltaOf(t, small, e), deltaOf(t, large, e); a.Lower > b.Upper {
			t.Fatalf("%s %v and %v times more, %d times, at %v: %v, %v", f.name, size, more, k, e, a, b)
		}
		if a, b := deltaOf(t, small, e), deltaOf(t, small.plus(t, lap(t, 0.01), 1), e); a.Lower > b.Upper {
			t.Fatalf("%s %v, %d times, at %v: %v, and with one mechanism more %v", f.name, size, k, e, a, b)
		}
	})
}

func TestPlusCommutesAndAssociates(t *testing.T) {
	check(t, 6, func(t *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(t, "terms")
		var there, back, single Sum
		laws, counts := make([]Law, n), make([]int, n)
		for i := range n {
			laws[i], counts[i] = drawTerm(t)
			there = there.plus(t, laws[i], counts[i])
		}
		for i := n - 1; i >= 0; i-- {
			back = back.plus(t, laws[i], counts[i])
			for range counts[i] {
				single = single.plus(t, laws[i], 1)
			}
		}
		e := drawEpsilon(t, there)
		a, b := deltaOf(t, there, e), deltaOf(t, back, e)
		if !overlap(a, b) {
			t.Fatalf("%v and %v at %v", a, b, e)
		}
		if c := deltaOf(t, single, e); c != b {
			t.Fatalf("added one by one %v, at once %v", c, b)
		}
	})
}

// TestBasicComposition: epsilons and deltas add up, at worst.
func TestBasicComposition(t *testing.T) {
	check(t, 8, func(t *rapid.T) {
		a, k := drawTerm(t)
		b, n := drawTerm(t)
		one, two := times(t, a, k), times(t, b, n)
		delta := math.Exp(rapid.Float64Range(-25, -2).Draw(t, "log delta"))
		most := epsilonOf(t, one, delta).Upper + epsilonOf(t, two, delta).Upper
		if both := epsilonOf(t, one.plus(t, b, n), 2*delta); both.Lower > most*(1+1e-12) {
			t.Fatalf("together %v, one by one %v", both, most)
		}
	})
}

// TestResponsesEnumerated compares with all outcomes of some randomized responses.
func TestResponsesEnumerated(t *testing.T) {
	check(t, 8, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "laws")
		var s Sum
		losses, masses := []float64{0}, []float64{1}
		never := 1.0
		for range n {
			e := float64(rapid.IntRange(1, 2000).Draw(t, "epsilon")) / 1000
			d := rapid.SampledFrom([]float64{0, 0, 1e-5}).Draw(t, "delta")
			s = s.plus(t, rr(t, e, d), 1)
			p := 1 / (1 + math.Exp(-e))
			var l, m []float64
			for i := range losses {
				l = append(l, losses[i]+e, losses[i]-e)
				m = append(m, masses[i]*p*(1-d), masses[i]*(1-p)*(1-d))
			}
			losses, masses = l, m
			never *= 1 - d
		}
		e := drawEpsilon(t, s)
		want := 1 - never
		for i, l := range losses {
			if l > e {
				want += masses[i] * -math.Expm1(e-l)
			}
		}
		got := deltaOf(t, s, e)
		if got.Lower > want*(1+1e-12)+1e-14 || got.Upper < want*(1-1e-12)-1e-14 {
			t.Fatalf("%v, want %v", got, want)
		}
		if got.Upper-got.Lower > 3e-4*want+1e-12 && e < 0.95*s.top() {
			t.Fatalf("%v is wide", got)
		}
	})
}

func benchmarkEpsilon(b *testing.B, s Sum) {
	b.ReportAllocs()
	var width float64
	for b.Loop() {
		e := must(s.Epsilon(1e-6))
		width = (e.Upper - e.Lower) / e.Upper
	}
	b.ReportMetric(width*1e12, "width-1e-12")
}

// The same mechanism 1,000 times.
func BenchmarkLaplace(b *testing.B)  { benchmarkEpsilon(b, times(b, lap(b, 0.1), 1000)) }
func BenchmarkResponse(b *testing.B) { benchmarkEpsilon(b, times(b, rr(b, 0.1, 0), 1000)) }
func BenchmarkDiscreteGaussian(b *testing.B) {
	benchmarkEpsilon(b, times(b, discreteGaussian{100, 1}, 1000))
}
func BenchmarkSampledGaussian(b *testing.B) {
	benchmarkEpsilon(b, times(b, sampledLaw(b, gauss(b, 1), 0.01, Remove), 1000))
}

// A thousand different mechanisms.
func sumOfThousand(b *testing.B, make func(part float64, i int) Law) Sum {
	var s Sum
	for i := range 1000 {
		s = s.plus(b, make(float64(i)/999, i), 1)
	}
	return s
}

func BenchmarkDifferentLaplace(b *testing.B) {
	benchmarkEpsilon(b, sumOfThousand(b, func(x float64, _ int) Law { return lap(b, 0.01+0.2*x) }))
}

func BenchmarkDifferentGaussianAndLaplace(b *testing.B) {
	benchmarkEpsilon(b, sumOfThousand(b, func(x float64, i int) Law {
		if i%2 == 0 {
			return gauss(b, 0.01+0.1*x)
		}
		return lap(b, 0.01+0.1*x)
	}))
}

func BenchmarkDifferentResponse(b *testing.B) {
	benchmarkEpsilon(b, sumOfThousand(b, func(x float64, _ int) Law { return rr(b, 0.01+0.2*x, 0) }))
}

func BenchmarkDifferentSampledGaussian(b *testing.B) {
	benchmarkEpsilon(b, sumOfThousand(b, func(x float64, i int) Law {
		rate := 0.0125 + 0.0075*math.Sin(float64(i))
		return sampledLaw(b, gauss(b, 1/(0.8+1.2*x)), rate, Remove)
	}))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
