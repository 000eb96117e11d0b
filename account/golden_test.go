package account

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

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
		r, err := LaplaceRDP(epsilon)
		if err != nil {
			t.Fatal(err)
		}
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

// Forgetting the second term of advanced composition would give 1 where the
// theorem gives 1.0156.
func TestAdvancedHasItsSecondTerm(t *testing.T) {
	b, err := AdvancedEpsilon([]Repeated{{Approx{1. / 800, 0}, 10000}}, math.Exp(-32))
	if err != nil || b.Lower < 1.0156 {
		t.Errorf("%v, %v", b, err)
	}
}
