package utility

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"
)

// golden is testdata/golden.json, which testdata/golden.py wrote.
type golden struct {
	Laplace  []struct{ Scale, Beta, Alpha goldenNumber }
	Gaussian []struct{ Sigma, Beta, Alpha goldenNumber }
	Each     []struct {
		K          int
		Beta, Each goldenNumber
	}
	DiscreteLaplace []struct {
		Scale, Beta goldenNumber
		Alpha       int64
		Variance    goldenNumber
	} `json:"discrete_laplace"`
	DiscreteGaussian []struct {
		Sigma2, Beta goldenNumber
		Alpha        int64
		Variance     goldenNumber
	} `json:"discrete_gaussian"`
	RandomizedResponse []struct {
		People, Ones                   int
		Epsilon, Beta, Alpha, Variance goldenNumber
	} `json:"randomized_response"`
	Selection []struct {
		Scores               []float64
		Epsilon, Sensitivity goldenNumber
		Monotone             bool
		Exponential          goldenLaw
		PermuteAndFlip       goldenLaw `json:"permute_and_flip"`
		NoisyMax             goldenLaw `json:"noisy_max"`
	}
}

type goldenLaw struct {
	Probabilities []goldenNumber
	Alphas        []float64
	Error         goldenNumber
}

// goldenNumber is a number that is written as a number or, with more digits, as a text.
type goldenNumber struct {
	f     float64
	exact *big.Float
}

func (n *goldenNumber) UnmarshalJSON(b []byte) error {
	text := string(b)
	if b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	exact, _, err := big.ParseFloat(text, 10, 200, big.ToNearestEven)
	if err != nil {
		return err
	}
	n.exact = exact
	n.f, _ = exact.Float64()
	return nil
}

func load(t *testing.T) golden {
	t.Helper()
	b := must(os.ReadFile("testdata/golden.json"))
	var g golden
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// checkOutward checks that got is not below want, as exact as the file is (20
// digits), and above it by at most the given part.
func checkOutward(t *testing.T, what string, got float64, want goldenNumber, most float64) {
	t.Helper()
	if math.IsNaN(got) || big.NewFloat(got).Cmp(want.exact) < 0 {
		t.Errorf("%s: %.17g is below %v", what, got, want.exact)
	}
	if got > want.f*(1+most) {
		t.Errorf("%s: %.17g is too far above %v", what, got, want.exact)
	}
}

func checkNear(t *testing.T, what string, got float64, want goldenNumber) {
	t.Helper()
	if !(math.Abs(got-want.f) <= 1e-12*math.Abs(want.f)) {
		t.Errorf("%s: %.17g, want %v", what, got, want.exact)
	}
}

func TestGoldenNoise(t *testing.T) {
	g := load(t)
	for _, c := range g.Laplace {
		got := must(Laplace{c.Scale.f}.Alpha(c.Beta.f))
		checkOutward(t, "Laplace", got, c.Alpha, 1e-14)
	}
	for _, c := range g.Gaussian {
		got := must(Gaussian{c.Sigma.f}.Alpha(c.Beta.f))
		checkOutward(t, "Gaussian", got, c.Alpha, 2e-14)
	}
	for _, c := range g.Each {
		got := must(BetaOfEachIndependent(c.K, c.Beta.f))
		if got > c.Each.f*(1+1e-16) || got < c.Each.f*(1-1e-14) {
			t.Errorf("each of %d at %v: %v, want %v or a little less", c.K, c.Beta.f, got, c.Each.f)
		}
	}
	for _, c := range g.DiscreteLaplace {
		got, err := DiscreteLaplace{c.Scale.f}.Alpha(c.Beta.f)
		if err != nil || got != c.Alpha {
			t.Errorf("discrete Laplace %v at %v: %d (%v), want %d", c.Scale.f, c.Beta.f, got, err, c.Alpha)
		}
		v := must(DiscreteLaplace{c.Scale.f}.Variance())
		checkNear(t, "variance of discrete Laplace", v, c.Variance)
	}
	for _, c := range g.DiscreteGaussian {
		got, err := DiscreteGaussian{c.Sigma2.f}.Alpha(c.Beta.f)
		if err != nil || got != c.Alpha {
			t.Errorf("discrete Gaussian %v at %v: %d (%v), want %d", c.Sigma2.f, c.Beta.f, got, err, c.Alpha)
		}
		v := must(DiscreteGaussian{c.Sigma2.f}.Variance())
		checkNear(t, "variance of discrete Gaussian", v, c.Variance)
	}
}

func TestGoldenRandomizedResponse(t *testing.T) {
	for _, c := range load(t).RandomizedResponse {
		r := RandomizedResponse{c.Epsilon.f, c.People}
		got := must(r.AlphaAt(c.Ones, c.Beta.f))
		checkOutward(t, "randomized response", got, c.Alpha, 1e-12)
		v := must(r.Variance())
		checkNear(t, "variance of randomized response", v, c.Variance)
		if h, err := r.Alpha(c.Beta.f); err != nil || h < got {
			t.Errorf("Hoeffding's bound %v is below the exact %v (%v)", h, got, err)
		}
	}
}

func TestGoldenSelection(t *testing.T) {
	for _, c := range load(t).Selection {
		s := Selection{c.Epsilon.f, c.Sensitivity.f, c.Monotone}
		for _, m := range []struct {
			name string
			law  func([]float64) (Choice, error)
			want goldenLaw
		}{
			{"exponential", s.Exponential, c.Exponential},
			{"permute-and-flip", s.PermuteAndFlip, c.PermuteAndFlip},
			{"noisy max", s.NoisyMax, c.NoisyMax},
		} {
			got := must(m.law(c.Scores))
			for i, p := range got.Probabilities() {
				checkNear(t, m.name, p, m.want.Probabilities[i])
			}
			checkNear(t, m.name+"'s error", got.ExpectedError(), m.want.Error)
			for i, beta := range []float64{1e-9, 0.01, 0.2, 0.4} {
				alpha, err := got.Alpha(beta)
				if err != nil || alpha != m.want.Alphas[i] {
					t.Errorf("%s of %v at %v: alpha %v (%v), want %v", m.name, c.Scores, beta, alpha, err, m.want.Alphas[i])
				}
			}
		}
	}
}

// These were computed to 17 digits from first principles, by others.
func TestGoldenKnown(t *testing.T) {
	for s2, want := range map[float64]float64{1: 0.99999978876772808, 4: 4, 0.25: 0.21501267508813849} {
		if got, err := (DiscreteGaussian{s2}).Variance(); err != nil || math.Abs(got-want) > 1e-15 {
			t.Errorf("discrete Gaussian %v: %v, want %v", s2, got, want)
		}
	}
	for b, want := range map[float64]float64{1: 1.8413471884155846, 10: 199.83341663360945, 0.5: 0.36203083048315523} {
		if got, err := (DiscreteLaplace{b}).Variance(); err != nil || math.Abs(got-want) > 1e-15*want*4 {
			t.Errorf("discrete Laplace %v: %v, want %v", b, got, want)
		}
	}
	c := must(Selection{Epsilon: 0.1, Sensitivity: 1}.Exponential([]float64{500, 400, 60, 40}))
	for i, want := range []float64{0.99330714869923997, 0.0066928509217481858, 2.7707985977151384e-10, 1.0193198397260611e-10} {
		if got := c.Probabilities()[i]; math.Abs(got-want) > 1e-14*want {
			t.Errorf("element %d: %v, want %v", i, got, want)
		}
	}
	two := Selection{Epsilon: 1, Sensitivity: 1}
	for _, m := range []struct {
		law  func([]float64) (Choice, error)
		want float64
	}{{two.Exponential, 0.268941421}, {two.PermuteAndFlip, 0.183939721}, {two.NoisyMax, math.Exp(-1) * 3 / 4}} {
		if got, err := m.law([]float64{2, 0}); err != nil || math.Abs(got.Probabilities()[1]-m.want) > 1e-9 {
			t.Errorf("the worst of two has %v, want %v", got.Probabilities(), m.want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
