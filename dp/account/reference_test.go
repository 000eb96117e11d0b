package account

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// A case says how a function of testdata/reference.py is computed here. One-sided
// functions return a bracket whose lower end is missing.
type computation struct {
	of func(in []float64) (dp.Bracket, error)
	// within is how far, relative to the value, an end may be from it.
	within float64
	// apart is the same not relative to the value, for results that are
	// differences; it is multiplied by the first argument, or by 1.
	apart float64
	// inverse, where there is one, is asked when an end is further away: a result that hangs on the
	// last digits of its argument is good if the argument comes back within 1e-10.
	inverse func(in []float64, end float64) (dp.Bracket, error)
}

// comesBack reports whether the inverse at an end gives the last argument.
func (c computation) comesBack(in []float64, end float64) bool {
	if c.inverse == nil {
		return false
	}
	back, err := c.inverse(in, end)
	want := in[len(in)-1]
	return err == nil && back.Lower <= want*(1+1e-10) && back.Upper >= want*(1-1e-10)
}

func oneSided(x float64, err error) (dp.Bracket, error) {
	return dp.Bracket{Lower: math.Inf(-1), Upper: x}, err
}

// termsOf reads epsilon, delta, times and so on, and the last number.
func termsOf(in []float64) ([]Repeated, float64) {
	var terms []Repeated
	for ; len(in) > 3; in = in[3:] {
		terms = append(terms, Repeated{Approx{in[0], in[1]}, int(in[2])})
	}
	return terms, in[0]
}

func compositionOf(f func([]Repeated, float64) (dp.Bracket, error)) func([]float64) (dp.Bracket, error) {
	return func(in []float64) (dp.Bracket, error) { return f(termsOf(in)) }
}

func curve(make func(in []float64) (RDP, error)) func([]float64) (dp.Bracket, error) {
	return func(in []float64) (dp.Bracket, error) {
		r, err := make(in)
		if err != nil {
			return dp.Bracket{}, err
		}
		return oneSided(r.At(in[len(in)-1]))
	}
}

func rounded(f func(span) span) func([]float64) (dp.Bracket, error) {
	return func(in []float64) (dp.Bracket, error) {
		s := f(exactly(in[0]))
		return dp.Bracket{Lower: s.lo, Upper: s.hi}, nil
	}
}

var computations = map[string]computation{
	"exp(-x)":     {of: rounded(span.expMinus), within: 1e-14},
	"1 - exp(-x)": {of: rounded(span.oneMinusExpMinus), within: 1e-14},
	"exp(x) - 1":  {of: rounded(span.expm1), within: 1e-14},
	"-ln x":       {of: rounded(span.minusLog), within: 1e-14},
	"-ln(1 - x)":  {of: rounded(span.minusLog1pMinus), within: 1e-14},
	"binomial": {of: func(in []float64) (dp.Bracket, error) {
		value, bound := binomialLog(in[0], in[1], in[2], 1-in[2])
		return dp.Bracket{Lower: -value - bound, Upper: -value + bound}, nil
	}, within: 3e-11},
	"exponential rdp": {of: curve(func(in []float64) (RDP, error) { return ExponentialRDP(in[0]) }), within: 1e-13},
	"gdp delta": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(GDP{in[0]}.DeltaAt(in[1]))
	}, within: 1e-12},
	"pure zcdp": {of: func(in []float64) (dp.Bracket, error) {
		z, err := Pure{in[0]}.ZCDP()
		return oneSided(z.Rho, err)
	}, within: 1e-14},
	"pure gdp": {of: func(in []float64) (dp.Bracket, error) {
		g, err := Pure{in[0]}.GDP()
		return oneSided(g.Mu, err)
	}, within: 1e-13},
	"pure rdp":    {of: curve(func(in []float64) (RDP, error) { return Pure{in[0]}.RDP() }), within: 1e-13},
	"laplace rdp": {of: curve(func(in []float64) (RDP, error) { return LaplaceRDP(in[0]) }), within: 1e-13},
	"approx delta": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(Approx{in[0], in[1]}.DeltaAt(in[2]))
	}, within: 1e-13},
	"approx epsilon": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(Approx{in[0], in[1]}.EpsilonAt(in[2]))
	}, within: 1e-12, apart: 1e-14},
	"approx group delta": {of: func(in []float64) (dp.Bracket, error) {
		a, err := Approx{in[0], in[1]}.Group(int(in[2]))
		return oneSided(a.Delta, err)
	}, within: 1e-13},
	"zcdp epsilon": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(ZCDP{in[0]}.EpsilonAt(in[1]))
	}, within: 1e-10},
	"zcdp delta": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(ZCDP{in[0]}.DeltaAt(in[1]))
	}, within: 1e-10},
	"bun steinke": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(ZCDP{in[0]}.BunSteinkeEpsilon(in[1]))
	}, within: 1e-14},
	"approx zcdp epsilon": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(ApproxZCDP{in[0], in[1]}.EpsilonAt(in[2]))
	}, within: 1e-10},
	"approx zcdp delta": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(ApproxZCDP{in[0], in[1]}.DeltaAt(in[2]))
	}, within: 1e-10},
	"gdp epsilon": {of: func(in []float64) (dp.Bracket, error) {
		return oneSided(GDP{in[0]}.EpsilonAt(in[1]))
	}, within: 1e-11},
	"subsampled gaussian rdp": {of: curve(func(in []float64) (RDP, error) {
		return SubsampledGaussianRDP(in[0], in[1])
	}), within: 1e-11},
	"subsampled laplace rdp": {of: curve(func(in []float64) (RDP, error) {
		return SubsampledLaplaceRDP(in[0], in[1])
	}), within: 1e-11},
	// Between whole orders the chord is above the curve, and removing a unit above
	// adding one, sometimes by far.
	"subsampled gaussian rdp, at least": {of: curve(func(in []float64) (RDP, error) {
		return SubsampledGaussianRDP(in[0], in[1])
	}), within: 100},
	"subsampled laplace rdp, at least": {of: curve(func(in []float64) (RDP, error) {
		return SubsampledLaplaceRDP(in[0], in[1])
	}), within: 100},
	"laplace rdp epsilon": {of: func(in []float64) (dp.Bracket, error) {
		r, err := LaplaceRDP(in[0])
		if err == nil {
			r, err = r.Times(int(in[1]))
		}
		if err != nil {
			return dp.Bracket{}, err
		}
		return oneSided(r.EpsilonAt(in[2]))
	}, within: 1e-11},
	"advanced epsilon": {of: compositionOf(AdvancedEpsilon), within: 1e-13},
	"advanced delta":   {of: compositionOf(AdvancedDelta), within: 1e-10},
	"advanced per query": {of: func(in []float64) (dp.Bracket, error) {
		e, err := AdvancedPerQuery(Approx{in[0], in[1]}, int(in[2]), in[3])
		return dp.Bracket{Lower: e, Upper: math.Inf(1)}, err
	}, within: 1e-12},
	"optimal delta": {of: compositionOf(OptimalDelta), within: 1e-10},
	"optimal epsilon": {of: compositionOf(OptimalEpsilon), within: 1e-10, inverse: func(in []float64, end float64) (dp.Bracket, error) {
		terms, _ := termsOf(in)
		return OptimalDelta(terms, end)
	}},
}

func float(x *big.Float) float64 { f, _ := x.Float64(); return f }

// TestReference compares with 40 digits, made by testdata/reference.py: what is
// returned must be on the right side of the true value, to the last bit, and near.
func TestReference(t *testing.T) {
	text := must(os.ReadFile("testdata/reference.json"))
	var points []struct {
		F    string
		In   []float64
		Want string
	}
	if err := json.Unmarshal(text, &points); err != nil {
		t.Fatal(err)
	}
	worst, count := map[string]float64{}, map[string]int{}
	for _, p := range points {
		c, ok := computations[p.F]
		if !ok {
			t.Fatalf("no computation %q", p.F)
		}
		want, _, err := big.ParseFloat(p.Want, 10, 200, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.of(p.In)
		if err != nil {
			t.Errorf("%s %v: %v", p.F, p.In, err)
			continue
		}
		name := fmt.Sprintf("%s %v = [%.17g, %.17g], want %.20g", p.F, p.In, got.Lower, got.Upper, want)
		count[p.F]++
		for _, end := range []struct {
			x    float64
			sign int
		}{{got.Lower, -1}, {got.Upper, 1}} {
			if math.IsInf(end.x, end.sign) {
				continue // the missing end of a one-sided function
			}
			off := new(big.Float).SetPrec(200).SetFloat64(end.x)
			off.Sub(off, want)
			distance := float(off)
			// The reference itself is rounded to 40 digits.
			if distance*float64(end.sign) < -1e-30*math.Abs(float(want)) {
				t.Errorf("%s: on the wrong side by %g", name, distance)
			}
			size := math.Abs(float(want))
			allowed := c.within*size + c.apart*math.Max(1, p.In[0])
			if math.Abs(distance) > allowed && !c.comesBack(p.In, end.x) {
				t.Errorf("%s: off by %g, relative %g", name, distance, distance/size)
			}
			if size > 0 {
				worst[p.F] = math.Max(worst[p.F], math.Abs(distance)/size)
			}
		}
	}
	for f := range computations {
		if count[f] == 0 {
			t.Errorf("%s has no points", f)
		}
		t.Logf("%-34s %4d points, off by at most %.1g", f, count[f], worst[f])
	}
}
