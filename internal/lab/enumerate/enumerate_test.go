package enumerate

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/numeric"
)

func wantNear(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %.12g; want %.12g", what, got, want)
	}
}

// The laws are distributions.
func TestLawsSumToOne(t *testing.T) {
	p := math.E / (1 + math.E)
	for name, l := range map[string]Law{
		"laplace": Laplace(3.7, 5), "pair": LaplacePair(1.5, 2, -1), "gaussian": Gaussian(30, -4),
		"radial": Radial(3.7, 5), "radial pair": RadialPair(1.5, 2, -1), "narrow radial pair": RadialPair(0.4, 0, 1),
		"exponential":         Exponential(2).Law([]int64{0, 3, 1}),
		"permute-and-flip":    PermuteAndFlip(2).Law([]int64{0, 3, 1}),
		"noisy max":           NoisyMaxLaplace(2).Law([]int64{0, 3, 1}),
		"noisy max geometric": NoisyMaxGeometric(2).Law([]int64{0, 3, 1}),
		"top":                 Top(2, Exponential(2), []int64{0, 3, 1, 1}),
		"sparse":              Sparse{2, 4, 2}.Law([]int64{0, 1, -1, 0}),
		"sparse without end":  Sparse{2, 4, 0}.Law([]int64{0, 1, -1, 0}),
		"sparse still":        Sparse{2, 0, 1}.Law([]int64{0, 1, -1, 0}),
		"round":               Above{2, 4, false}.Law([]int64{0, 1, -1, 0}),
		"one-sided round":     Above{2, 4, true}.Law([]int64{0, 1, -1, 0}),
		"threshold":           KeyThreshold(1, 8, 3),
		"above":               KeyThreshold(1, 8, 12),
		"selection":           KeySelection(func(n int64) float64 { return float64(n) / 10 }, 2, 5),
		"direct":              Direct(0.4, 0.2, 4, 1),
		"unary":               Unary(0.5, 0.3, 4, 2),
		"hashed":              Hashed(0.4, 4, 1),
		"hadamard":            Hadamard(p, 8, 5),
	} {
		if sum := l.Sum(); math.Abs(sum-1) > 1e-12+l.Rest() || l.Rest() > 1e-6 {
			t.Errorf("%s: the probabilities sum to %v, the rest to %v", name, sum, l.Rest())
		}
	}
}

// Losses that are known in closed form.
func TestKnownLosses(t *testing.T) {
	wantNear(t, "Laplace", Loss(Laplace(2, 0), Laplace(2, 3)), 1.5, 1e-12)
	wantNear(t, "the pair", Loss(LaplacePair(2, 0, 0), LaplacePair(2, 1, -1)), 1, 1e-12)
	wantNear(t, "radial", Loss(Radial(2, 0), Radial(2, 3)), 1.5, 1e-12)
	// Along the diagonal, and approached from below: no square is a point.
	wantNear(t, "the radial pair", Loss(RadialPair(2, 0, 0), RadialPair(2, 1, 1)), math.Sqrt2/2, 1e-3)
	if l := Loss(RadialPair(2, 0, 0), RadialPair(2, 1, 1)); l > math.Sqrt2/2 {
		t.Errorf("the radial pair loses %v", l)
	}
	wantNear(t, "randomized response", Loss(Direct(0.75, 0.25, 2, 0), Direct(0.75, 0.25, 2, 1)), math.Log(3), 1e-12)
	wantNear(t, "permute-and-flip", Loss(PermuteAndFlip(2).Law([]int64{0, 0}), PermuteAndFlip(2).Law([]int64{1, -1})), 1, 1e-12)
	e := math.E
	wantNear(t, "oue", Loss(Unary(0.5, 1/(1+e), 3, 0), Unary(0.5, 1/(1+e), 3, 2)), 1, 1e-12)
	wantNear(t, "olh", Loss(Hashed(e/(e+3), 4, 0), Hashed(e/(e+3), 4, 1)), 1, 1e-12)
	wantNear(t, "hadamard", Loss(Hadamard(e/(1+e), 4, 1), Hadamard(e/(1+e), 4, 2)), 1, 1e-12)
	// Noise on the threshold only: 0 < Z <= 1 on one side, 1 < Z <= 0 on the other.
	still := Sparse{Threshold: 2}
	// That is infinite, and what the law does not list bounds how much is proven.
	if l := Loss(still.Law([]int64{0, 1}), still.Law([]int64{1, 0})); l < 40 {
		t.Errorf("no noise on the questions loses %v", l)
	}
	// A round of AboveThreshold is a sparse vector that ends with the first "above".
	values := []int64{0, -1, 2, 0, 1}
	a, b := Above{2, 4, false}.Law(values), Sparse{2, 4, 1}.Law(values)
	for _, k := range b.Outcomes() {
		wantNear(t, "a transcript", a.P(k), b.P(k), 1e-12)
	}
	// One-sided, one "below" and one "above" reach 1/2 + 2/4.
	wantNear(t, "a one-sided round", Loss(Above{2, 4, true}.Law([]int64{0, -1}), Above{2, 4, true}.Law([]int64{1, -2})), 1, 1e-9)
	// Lee, Clifton 2014 with four "below" and four "above": 5.268714 on the real line, to
	// which a fine lattice comes near (Lyu, Su, Li 2017, Algorithm 4).
	const fine = 20
	lee := Sparse{Threshold: 4 * fine, Question: 4.0 / 3 * fine, Above: 4}
	x, y := []int64{0, 0, 0, 0, 0, 0, 0, 0}, []int64{fine, fine, fine, fine, -fine, -fine, -fine, -fine}
	if l := Loss(lee.Law(x), lee.Law(y)); l < 5.0 || l > 5.4 {
		t.Errorf("Lee and Clifton's variant loses %v", l)
	}
	if l := Loss(FromMap(map[int64]float64{0: 1}), FromMap(map[int64]float64{0: 0.5, 1: 0.5})); !math.IsInf(l, 1) {
		t.Errorf("an outcome that is impossible on one side loses %v", l)
	}
}

// The hockey-stick divergence of Laplace noise: 1 - exp((epsilon-e0)/2) on the real line,
// and on integers, with neighbours that are 1 apart, exactly the mass of one side.
func TestDelta(t *testing.T) {
	p, q := Laplace(1, 0), Laplace(1, 1)
	side := 1 / (1 + math.Exp(-1)) // P(N <= 0)
	for _, e := range []float64{0, 0.3, 0.9} {
		want := side - math.Exp(e)*(1-side)
		b := Delta(p, q, e)
		if !b.Contains(want) && math.Abs(b.Lower-want) > 1e-12 || b.Upper-b.Lower > 1e-12 {
			t.Errorf("at %v: %v; want %v", e, b, want)
		}
		wantNear(t, "its inverse", Epsilon(p, q, want), e, 1e-8+1e-8/(e+1e-9))
	}
	if b := Delta(p, q, 1); b.Lower > 1e-12 {
		t.Errorf("at epsilon: %v", b)
	}
	// Discrete Gaussian noise of a large sigma is Gaussian noise.
	b, want := Delta(Gaussian(1e6, 0), Gaussian(1e6, 1000), 1), numeric.Delta(1, 1)
	wantNear(t, "Gaussian delta", b.Lower, want.Lower, 1e-5)
}

// Canonne, Kamath, Steinke 2020, Proposition 5: alpha D^2/(2 sigma^2), with equality where
// alpha D is an integer.
func TestRenyi(t *testing.T) {
	for _, a := range []float64{1.5, 2, 8, 32} {
		wantNear(t, "the divergence", Renyi(Gaussian(25, 0), Gaussian(25, 4), a), a*16/50, 1e-9)
	}
	f := Concentrated("gaussian", 0.32, []Pair{{P: Gaussian(25, 0), Q: Gaussian(25, 4), Name: "0 and 4"}})
	if !f.Stands || f.Lower < 0.79 || f.Unit != "mu" {
		t.Errorf("got %+v", f)
	}
	if f := Concentrated("gaussian", 0.31, []Pair{{P: Gaussian(25, 0), Q: Gaussian(25, 4)}}); f.Stands {
		t.Errorf("a rho that is 3 %% short stands: %+v", f)
	}
}

// The smallest amounts by which a claim can be missed are seen.
func TestSmallErrorsAreSeen(t *testing.T) {
	for name, p := range map[string]Pair{
		"scale": {P: Laplace(0.9999999, 0), Q: Laplace(0.9999999, 1)},
		"coin":  {P: Direct(0.7310586, 0.2689414, 2, 0), Q: Direct(0.7310586, 0.2689414, 2, 1)},
	} {
		if f := Pure(name, 1, 0, []Pair{p}); f.Stands {
			t.Errorf("%s: %v stands against 1", name, f.Lower)
		}
	}
	// One unit's group is released with the probability of the threshold, and one less is too low.
	single := func(tau int64) Pair { return Pair{P: KeyThreshold(1, tau, 0), Q: KeyThreshold(1, tau, 1)} }
	delta := 1 - single(8).Q.P(Hidden)
	if f := Pure("threshold", 1, delta, []Pair{single(8)}); !f.Stands {
		t.Errorf("the threshold falls: %+v", f)
	}
	if f := Pure("threshold", 1, delta, []Pair{single(7)}); f.Stands || f.Lower != MaxReportedLoss {
		t.Errorf("a threshold that is off by one stands: %+v", f)
	}
}
