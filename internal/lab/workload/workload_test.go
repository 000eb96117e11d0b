package workload

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func mechanism(t testing.TB, text string) Mechanism {
	t.Helper()
	return must(ParseMechanism(text, true))
}

func workload(t testing.TB, text string, times int) *Workload {
	t.Helper()
	return must(New(Use{mechanism(t, text), times}))
}

func result(t testing.TB, a Answer, err error, m Method) Result {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range a.Results {
		if r.Method == m {
			return r
		}
	}
	t.Fatalf("%s has no result: %v", m, a.Skipped)
	return Result{}
}

// The figures were computed to 17 digits from first principles, or were published by others.
func TestEpsilonGolden(t *testing.T) {
	for _, g := range []struct {
		text   string
		times  int
		delta  float64
		method Method
		want   float64
		within float64
	}{
		{"pure:epsilon=0.1", 10, 1e-6, Optimal, 0.99937090572175872, 1e-9},
		{"laplace:epsilon=0.1", 100, 1e-6, Optimal, 4.7745675881079862, 1e-9},
		{"laplace:scale=10", 100, 1e-6, Optimal, 4.7745675881079862, 1e-9},
		{"approx:epsilon=0.01,delta=1e-9", 1000, 1e-5, Optimal, 1.2060948264664169, 1e-9},
		{"randomized-response:epsilon=0.1", 100, 1e-6, PLD, 4.7745675881079862, 1e-9},
		{"exponential:epsilon=0.1", 100, 1e-6, Advanced, 6.3082309505134082, 1e-9},
		{"pure:epsilon=0.00125", 10000, 1.2664165549094176e-14, Advanced, 1.0156347696952823, 1e-9},
		{"gaussian:sigma=1", 1, 1e-5, Gaussian, 4.3771780956812246, 1e-9},
		{"gaussian:sigma=4", 1, 1e-6, Gaussian, 1.0607018623282737, 1e-9},
		{"gaussian:sigma=4", 16, 1e-5, Gaussian, 4.3771780956812246, 1e-9},
		{"gaussian:sigma=8,sensitivity=2", 16, 1e-5, PLD, 4.3771780956812246, 1e-9},
		{"gaussian:rho=0.1", 1, 1e-6, ZCDP, 2.1419389283854737, 1e-9},
		{"discrete-gaussian:sigma2=10", 10, 1e-5, ZCDP, 4.7283869849433139, 1e-9},
		{"gaussian:rho=0.5", 2, 1e-9, ZCDP, 9.5214636717922322, 1e-9},
		{"gaussian:rho=0.5", 2, 1e-9, RDP, 9.5214636717922322, 1e-9},
		{"laplace:scale=0.5,sample=0.2", 3, 1e-6, Basic, 2.469645, 1e-6},
	} {
		a, err := workload(t, g.text, g.times).Epsilon(g.delta, Both)
		r := result(t, a, err, g.method)
		if math.Abs(r.Upper-g.want) > g.within*g.want || math.Abs(r.Lower-g.want) > g.within*g.want || r.Lower > r.Upper {
			t.Errorf("%s %d times by %s: %v, want %v", g.text, g.times, g.method, r, g.want)
		}
	}
}

func TestDeltaPublished(t *testing.T) {
	for _, g := range []struct {
		text      string
		times     int
		epsilon   float64
		direction Direction
		low, high float64
	}{
		{"gaussian:sigma=4", 40, 10, Both, 3.33762758e-9, 3.33762760e-9},
		{"gaussian:sigma=1,sample=0.8", 1, 1, Remove, 0.0816951786584, 0.0816951786586},
		{"gaussian:sigma=1,sample=0.8", 1, 1, Add, 0.0231362104090, 0.0231362104092},
		{"gaussian:sigma=1,sample=0.8", 1, 1, Both, 0.0816951786584, 0.0816951786586},
		{"gaussian:sigma=0.5,sample=0.2", 3, 1, Both, 0.155930, 0.155936},
		{"laplace:scale=3", 40, 10, Both, 1.78459e-6, 1.78672e-6},
	} {
		a, err := workload(t, g.text, g.times).Delta(g.epsilon, g.direction)
		if r := result(t, a, err, PLD); r.Lower < g.low || r.Upper > g.high || r.Lower > r.Upper {
			t.Errorf("%s %d times at %v: %v is not within [%v, %v]", g.text, g.times, g.epsilon, r, g.low, g.high)
		}
	}
}

// The upper end of every accountant is a guarantee, so none can be below what the
// loss distribution proves to be lost; and the newer theorems are no worse.
func TestAccountantsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"laplace:epsilon=0.1", "laplace:scale=3", "gaussian:sigma=4", "gaussian:rho=0.01",
			"discrete-laplace:scale=10,sensitivity=3", "discrete-gaussian:sigma2=20", "randomized-response:epsilon=0.3",
			"exponential:epsilon=0.2", "pure:epsilon=0.05", "approx:epsilon=0.1,delta=1e-9", "laplace:epsilon=0.5,sample=0.1",
			"gaussian:sigma=1,sample=0.02",
			"pure:epsilon=0.5,sample=0.1",
		}), 1, 3).Draw(t, "mechanisms")
		var uses []Use
		for _, text := range texts {
			m := must(ParseMechanism(text, false))
			uses = append(uses, Use{m, rapid.IntRange(1, 60).Draw(t, "times")})
		}
		w := must(New(uses...))
		delta := rapid.SampledFrom([]float64{1e-3, 1e-6, 1e-10}).Draw(t, "delta")
		a, err := w.Epsilon(delta, Both)
		if err != nil {
			t.Skip(err.Error()) // the claims' own deltas are above
		}
		by := map[Method]Result{}
		for _, r := range a.Results {
			by[r.Method] = r
			if !(r.Lower <= r.Upper) || r.Lower < 0 {
				t.Fatalf("%v", r)
			}
		}
		// What dominates the exponential mechanism does so for all of its pairs at once,
		// which costs more than any one: other methods may be below it.
		if pld, ok := by[PLD]; ok && !strings.Contains(strings.Join(texts, " "), "exponential") {
			for _, r := range a.Results {
				if r.Upper < pld.Lower*(1-1e-9) {
					t.Fatalf("%v is below what is lost, %v, for %v", r, pld, uses)
				}
			}
		}
		if o, ok := by[Optimal]; ok {
			if adv, ok := by[Advanced]; ok && o.Upper > adv.Upper*(1+1e-4) || o.Upper > by[Basic].Upper*(1+1e-9) {
				t.Fatalf("optimal %v, advanced %v, basic %v", o, by[Advanced], by[Basic])
			}
		}
		// There and back.
		best := a.Tightest()
		back := must(w.Delta(best.Upper, Both))
		// Both ends of a bracket are proven, so this holds without any tolerance. The
		// others are one formula, rounded up.
		for _, r := range back.Results {
			bracketed := r.Method == Optimal || r.Method == Gaussian || r.Method == PLD
			if bracketed && by[r.Method].Upper <= best.Upper && r.Lower > delta {
				t.Fatalf("at epsilon %v delta is at least %v by %s, not %v", best.Upper, r.Lower, r.Method, delta)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"laplas:epsilon=1", "no mechanism"},
		{"", "no mechanism"},
		{"laplace", "how much noise"},
		{"laplace:", "how much noise"},
		{"laplace:epsilon", "not a parameter"},
		{"laplace:epsilon=abc", "not a parameter"},
		{"laplace:epsilon=NaN", "not a parameter"},
		{"laplace:epsilon=Inf", "not a parameter"},
		{"laplace:epsilon=0", "above 0"},
		{"laplace:epsilon=-1", "above 0"},
		{"laplace:epsilon=1,scale=1", "not two"},
		{"laplace:epsilon=1,epsilon=1", "twice"},
		{"gaussian:sigma=0", "above 0"},
		{"gaussian:epsilon=1", "no parameter"},
		{"gaussian:sigma=1,sample=2", "sampling rate"},
		{"gaussian:sigma=1,sample=0", "sampling rate"},
		{"gaussian:sigma=1,sensitivity=0", "sensitivity"},
		{"gaussian:sigma=1e-300", "between"},
		{"discrete-laplace:scale=1,sensitivity=1.5", "whole"},
		{"discrete-gaussian:sigma2=1,sample=0.5", "no parameter"},
		{"approx:epsilon=1,delta=1", "delta"},
		{"pure:epsilon=1,delta=0.1", "no parameter"},
		{"pure:epsilon=1,sensitivity=2", "no parameter"},
		{"pure:epsilon=1,sensitivity=2", "no parameter"},
	} {
		_, err := ParseMechanism(c.text, false)
		var refused *Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want one about %q", c.text, err, c.want)
		}
	}
	m := mechanism(t, "laplace:epsilon=0.1")
	for _, times := range []int{0, -1, maxTimes + 1} {
		if _, err := New(Use{m, times}); err == nil {
			t.Errorf("%d times was accepted", times)
		}
	}
	if _, err := New(); err == nil {
		t.Error("no mechanism was accepted")
	}
	w := workload(t, "laplace:epsilon=0.1", 10)
	for _, delta := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		if _, err := w.Epsilon(delta, Both); err == nil {
			t.Errorf("delta %v was accepted", delta)
		}
	}
	for _, epsilon := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := w.Delta(epsilon, Both); err == nil {
			t.Errorf("epsilon %v was accepted", epsilon)
		}
	}
}

func TestMechanismRoundTrip(t *testing.T) {
	for _, text := range []string{"laplace:epsilon=0.1", "gaussian:sigma=4,sensitivity=2,sample=0.01", "approx:epsilon=0.1,delta=1e-09",
		"discrete-gaussian:sigma2=16,sensitivity=3", "gaussian"} {
		if got := mechanism(t, text).String(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestMain lets rapid try fewer workloads than it would, unless a number is asked for. They are
// others in every run.
func TestMain(m *testing.M) {
	daily.Checks("6")
	os.Exit(m.Run())
}
