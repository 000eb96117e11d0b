package workload

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/privacyloss"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// rho is at least the divergence of every order over that order, for every mechanism that has one.
// That the order 1 is the worst for Laplace noise is a theorem that we cite; here it is checked.
func TestRhoBoundsEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := math.Exp(rapid.Float64Range(-5, 4).Draw(t, "ln amount"))
		name := rapid.SampledFrom([]string{"laplace:epsilon", "discrete-laplace:scale", "gaussian:sigma", "discrete-gaussian:sigma2",
			"pure:epsilon"}).Draw(t, "name")
		text := name + "=" + format(amount)
		if name == "discrete-laplace:scale" {
			text += ",sensitivity=" + format(float64(rapid.IntRange(1, 50).Draw(t, "sensitivity")))
		}
		m, err := ParseMechanism(text, false)
		if err != nil {
			t.Skip(err)
		}
		f := must(m.facts())
		alpha := 1 + math.Exp(rapid.Float64Range(-6, 8).Draw(t, "ln alpha-1"))
		// Near order 1 the quotient is a difference of numbers near 0, over alpha-1.
		slack := 1e-9*f.rho*alpha + 1e-13/(alpha-1)
		if r := privacyloss.Renyi(f.law, alpha); r > alpha*f.rho+slack {
			t.Fatalf("%s: the divergence of order %v is %v, above %v", text, alpha, r, alpha*f.rho)
		}
	})
}

// The rho of Laplace noise is e - 1 + exp(-e), whose series has no cancellation: e^2/2
// - e^3/6 + e^4/24 - ... For small e its partial sums enclose it.
func TestLaplaceRhoIsNotBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := math.Exp(rapid.Float64Range(math.Log(2e-9), math.Log(1e-3)).Draw(t, "ln epsilon"))
		m := Mechanism{kind: kinds[0], noise: "epsilon", amount: e, sensitivity: 1, sample: 1}
		f := must(m.facts())
		exact := new(big.Float).SetPrec(200).SetFloat64(e)
		exact.Mul(exact, exact)
		rest := new(big.Float).SetPrec(200).SetFloat64(0.5 - e/6*(1+1e-15)) // rounded down
		if below := exact.Mul(exact, rest); below.Cmp(new(big.Float).SetFloat64(f.rho)) > 0 {
			t.Fatalf("epsilon %v: rho %v is below %v", e, f.rho, below)
		}
	})
}

func format(x float64) string {
	m := Mechanism{kind: kinds[0], noise: "x", amount: x, sensitivity: 1, sample: 1}
	return m.String()[len("laplace:x="):]
}

// Rounding never makes a mechanism look more private than what was written.
func TestParametersRoundUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Float64Range(0.01, 1e6).Draw(t, "scale")
		sensitivity := rapid.Float64Range(0.01, 1e3).Draw(t, "sensitivity")
		if sensitivity/scale < 1e-8 {
			t.Skip()
		}
		m := Mechanism{kind: kinds[0], noise: "scale", amount: scale, sensitivity: sensitivity, sample: 1}
		// e scale >= sensitivity, exactly.
		if e := m.epsilon(); math.FMA(e, scale, -sensitivity) < 0 {
			t.Fatalf("epsilon %v is below %v/%v", e, sensitivity, scale)
		}
	})
}

// Sampling everybody is no sampling, sampling few costs little, and in between cost
// grows with the rate.
func TestSamplingGrows(t *testing.T) {
	for _, text := range daily.Sample(t, []string{"laplace:epsilon=1", "gaussian:sigma=1", "pure:epsilon=1", "approx:epsilon=1,delta=1e-7",
		"exponential:epsilon=1", "randomized-response:epsilon=1"}, 1) {
		whole := workload(t, text, 10)
		before := map[Method]float64{}
		for _, rate := range []string{"0.001", "0.01", "0.1", "0.5", "0.9", "1"} {
			a := must(workload(t, text+",sample="+rate, 10).Epsilon(1e-5, Both))
			for _, r := range a.Results {
				// Of the exponential mechanism on a sample only the claim is known.
				if r.Upper < before[r.Method]*(1-1e-9) && !(r.Method == PLD && text == "exponential:epsilon=1") {
					t.Errorf("%s at rate %s costs %v by %s, less than at the rate before", text, rate, r.Upper, r.Method)
				}
				before[r.Method] = r.Upper
			}
			if rate == "1" {
				b, _ := whole.Epsilon(1e-5, Both)
				if len(a.Results) != len(b.Results) || a.Tightest() != b.Tightest() {
					t.Errorf("%s: a sample of all costs %v, no sample %v", text, a.Results, b.Results)
				}
			}
		}
	}
}

func calibrate(epsilon, delta float64, uses ...Use) Calibration {
	return must(Calibrate(uses, epsilon, delta, Both))
}

func TestCalibrateGolden(t *testing.T) {
	for _, g := range []struct {
		text           string
		times          int
		epsilon, delta float64
		want           float64
	}{
		{"gaussian", 1, 1, 1e-5, 3.7306316348159418},
		{"gaussian", 1, 0.5, 1e-6, 8.0576184807250443},
		{"gaussian", 1, 3, 1e-9, 1.9437242635119693},
		{"gaussian", 4, 3, 1e-9, 2 * 1.9437242635119693},
		{"gaussian:sensitivity=5", 1, 1, 1e-5, 5 * 3.7306316348159418},
		{"gaussian:sample=0.01", 1, 1, 1e-5, 0.6737928925},
		{"laplace", 10, 1, 0, 10},
		{"laplace:sensitivity=3", 10, 2, 0, 15},
		{"exponential", 10, 1, 0, 0.1},
	} {
		c := calibrate(g.epsilon, g.delta, Use{mechanism(t, g.text), g.times})
		if v := c.Value(); math.Abs(v-g.want) > 2e-10*g.want {
			t.Errorf("%s %d times for (%v, %v): %v, want %v", g.text, g.times, g.epsilon, g.delta, v, g.want)
		}
	}
}

// The noise keeps the budget, and a millionth less would not.
func TestCalibrateTight(t *testing.T) {
	type use struct {
		text  string
		times int
	}
	for _, c := range daily.Sample(t, []use{
		{"laplace", 2}, {"laplace", 10}, {"laplace", 40}, {"laplace", 1000}, {"discrete-laplace", 50},
		{"discrete-gaussian:sensitivity=3", 50},
		{"randomized-response", 30}, {"gaussian", 40},
	}, 1) {
		got := calibrate(1, 1e-6, Use{mechanism(t, c.text), c.times})
		if got.Noise.Upper > got.Noise.Lower*(1+1e-6) {
			t.Errorf("%s %d times: %s is only known to be within %v", c.text, c.times, got.Parameter, got.Noise)
		}
		a := must(got.Workload.Delta(1, Both))
		if best := a.Tightest(); best.Upper > 1e-6 {
			t.Errorf("%s %d times: the noise %v does not keep the budget: %v", c.text, c.times, got.Value(), best)
		}
	}
}

// With mechanisms that stay as they are, and several sensitivities at once.
func TestCalibrateWhole(t *testing.T) {
	c := calibrate(1, 1e-6, Use{mechanism(t, "gaussian"), 10}, Use{mechanism(t, "gaussian:sensitivity=2"), 5},
		Use{mechanism(t, "gaussian:sigma=100"), 3})
	// 10 + 5*4 = 30 squares of sensitivity, beside 3/100^2 of mu^2 that is spent.
	alone := calibrate(1, 1e-6, Use{mechanism(t, "gaussian"), 1}).Value()
	want := math.Sqrt(30 / (1/(alone*alone) - 3e-4))
	if v := c.Value(); math.Abs(v-want) > 1e-9*want {
		t.Errorf("sigma %v, want %v", v, want)
	}
}

func TestCalibrateRefusals(t *testing.T) {
	open, fixed := mechanism(t, "gaussian"), mechanism(t, "laplace:epsilon=0.1")
	for name, ask := range map[string]func() error{
		"delta 0":      func() error { _, err := Calibrate([]Use{{open, 1}}, 1, 0, Both); return err },
		"epsilon 0":    func() error { _, err := Calibrate([]Use{{open, 1}}, 0, 1e-6, Both); return err },
		"epsilon NaN":  func() error { _, err := Calibrate([]Use{{open, 1}}, math.NaN(), 1e-6, Both); return err },
		"delta 1":      func() error { _, err := Calibrate([]Use{{open, 1}}, 1, 1, Both); return err },
		"nothing open": func() error { _, err := Calibrate([]Use{{fixed, 1}}, 1, 1e-6, Both); return err },
		"two open": func() error {
			_, err := Calibrate([]Use{{open, 1}, {mechanism(t, "laplace"), 1}}, 1, 1e-6, Both)
			return err
		},
		"overspent": func() error { _, err := Calibrate([]Use{{open, 1}, {fixed, 1000}}, 1, 1e-6, Both); return err },
		"no times":  func() error { _, err := Calibrate([]Use{{open, 0}}, 1, 1e-6, Both); return err },
	} {
		if err := ask(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
