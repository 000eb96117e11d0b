package loss

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

// full asks every question of the reference, and all of the extremes: a minute
// more.
var full = flag.Bool("full", false, "ask all questions, also those that take long")

// check is rapid's, with a number of draws that suits what each costs.
func check(t *testing.T, draws int, f func(*rapid.T)) {
	t.Helper()
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

// law unwraps a constructor's answer.
func law(t tester, made Law, err error) Law {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return made
}

// poisson is a law under sampling.
func poisson(t tester, of Law, rate float64, direction Direction) Law {
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

// plus adds one law to a sum.
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
	return proper(t, b)
}

func epsilonOf(t tester, s Sum, delta float64) dp.Bracket {
	t.Helper()
	b, err := s.Epsilon(delta)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return proper(t, b)
}

// proper fails if a bracket is none.
func proper(t tester, b dp.Bracket) dp.Bracket {
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
		"sampled twice":   func() (Law, error) { return Sampled(poisson(t, g, 0.5, Add), 0.5, Add) },
		"sampled mu 11":   func() (Law, error) { return Sampled(gauss(t, 11), 0.5, Add) },
		"sampled eps 301": func() (Law, error) { return Sampled(lap(t, 301), 0.5, Add) },
	} {
		made, err := make()
		wrong(name, made, err)
	}
	if _, err := (Sum{}).Plus(g, 0); err == nil {
		t.Error("zero times is accepted")
	}
	if _, err := (Sum{}).plus(t, g, MaxTimes).Plus(l, 1); err == nil {
		t.Error("more than MaxTimes is accepted")
	}
}
