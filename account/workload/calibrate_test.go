package workload

import (
	"math"
	"testing"
)

func calibrate(t *testing.T, epsilon, delta float64, uses ...Use) Calibration {
	t.Helper()
	c, err := Calibrate(uses, epsilon, delta, Both)
	if err != nil {
		t.Fatal(err)
	}
	return c
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
		c := calibrate(t, g.epsilon, g.delta, Use{mechanism(t, g.text), g.times})
		if v := c.Value(); math.Abs(v-g.want) > 2e-10*g.want {
			t.Errorf("%s %d times for (%v, %v): %v, want %v", g.text, g.times, g.epsilon, g.delta, v, g.want)
		}
	}
}

// The noise keeps the budget, and a millionth less would not.
func TestCalibrateTight(t *testing.T) {
	for _, c := range []struct {
		text  string
		times int
	}{
		{"laplace", 2}, {"laplace", 10}, {"laplace", 40}, {"laplace", 1000}, {"discrete-laplace", 50},
		{"discrete-gaussian:sensitivity=3", 50},
		{"randomized-response", 30}, {"gaussian", 40},
	} {
		got := calibrate(t, 1, 1e-6, Use{mechanism(t, c.text), c.times})
		if got.Noise.Upper > got.Noise.Lower*(1+1e-6) {
			t.Errorf("%s %d times: %s is only known to be within %v", c.text, c.times, got.Parameter, got.Noise)
		}
		a, err := got.Workload.Delta(1, Both)
		if err != nil {
			t.Fatal(err)
		}
		if best := a.Tightest(); best.Upper > 1e-6 {
			t.Errorf("%s %d times: the noise %v does not keep the budget: %v", c.text, c.times, got.Value(), best)
		}
	}
}

// With mechanisms that stay as they are, and several sensitivities at once.
func TestCalibrateWhole(t *testing.T) {
	c := calibrate(t, 1, 1e-6, Use{mechanism(t, "gaussian"), 10}, Use{mechanism(t, "gaussian:sensitivity=2"), 5},
		Use{mechanism(t, "gaussian:sigma=100"), 3})
	// 10 + 5*4 = 30 squares of sensitivity, beside 3/100^2 of mu^2 that is spent.
	alone := calibrate(t, 1, 1e-6, Use{mechanism(t, "gaussian"), 1}).Value()
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
