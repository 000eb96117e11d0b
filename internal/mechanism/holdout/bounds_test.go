package holdout

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/detrand"
)

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-4*math.Abs(want) {
		t.Errorf("%s is %.6g, want %.6g", what, got, want)
	}
}

// Every number on the right was computed by hand from the formula.
func TestBoundsByHand(t *testing.T) {
	// ln(2*500/0.05) = ln 20000 = 9.903488; /(2*10000) = 4.951744e-4; root 0.0222525.
	checkNear(t, "Hoeffding", Hoeffding(10000, 500, 0.05), 0.0222525)
	// n/k = 20: 9.903488/40 = 0.2475872; root 0.497581.
	checkNear(t, "splitting", Splitting(10000, 500, 0.05), 0.497581)
	// 10001 people in 500 parts are 20 each as well.
	checkNear(t, "splitting with a rest", Splitting(10001, 500, 0.05), 0.497581)
	checkNear(t, "naive, one", Naive(10000, 1, 0.05), math.Sqrt(math.Log(40)/20000))
	checkNear(t, "naive, two", Naive(1e12, 2, 0.05), 1)
	// epsilon 0.04 <= sqrt(0.05^2 - 0.693147/20000) = sqrt(0.0025 - 0.0000346574) = 0.0496522:
	// 4.242641 exp(-25) = 5.89224e-11.
	checkNear(t, "generalisation", Generalisation(10000, 0.04, 0.05), 5.89224e-11)
	checkNear(t, "generalisation at the edge", Generalisation(10000, 0.0496, 0.05), 5.89224e-11)
	checkNear(t, "generalisation beyond", Generalisation(10000, 0.0497, 0.05), 1)
	// ln(4.242641*100/0.05)/10000 = 9.046144e-4, root 0.0300768; with epsilon 0.2: sqrt(0.04 +
	// 3.46574e-5) = 0.2000866.
	checkNear(t, "its tolerance", GeneralisationTolerance(10000, 0.01, 100, 0.05), 0.0300768)
	checkNear(t, "its tolerance at epsilon 0.2", GeneralisationTolerance(10000, 0.2, 100, 0.05), 0.2000866)
	// 0.01*10000*1.442695 = 144.2695 bits; approximately 1.442695 (0.5 + 0.01
	// sqrt(10000*3.688879/2)) = 1.442695 (0.5 + 1.358101) = 2.680673.
	checkNear(t, "max-information", MaxInformation(10000, 0.01), 144.2695)
	checkNear(t, "approximate max-information", ApproximateMaxInformation(10000, 0.01, 0.05), 2.680673)
	// With few people, the pure one is less.
	checkNear(t, "of few", ApproximateMaxInformation(4, 1, 0.05), 4*math.Log2E)
	checkNear(t, "without a beta", ApproximateMaxInformation(10000, 0.01, 0), 144.2695)
	checkNear(t, "p-value", CorrectedP(0.001, 3, 0.01), 0.018)
	checkNear(t, "p-value that is gone", CorrectedP(0.01, 10, 0), 1)
	checkNear(t, "p-value of infinite bits", CorrectedP(0.01, 1e9, 0), 1)
	if got := CorrectedP(0, 1e9, 0.01); got != 0.01 {
		t.Errorf("a p-value of 0 becomes %v", got)
	}
	checkNear(t, "level", TestLevel(0.05, 3, 0.01), 0.005)
	if got := TestLevel(0.05, 3, 0.05); got != 0 {
		t.Errorf("with all of alpha gone one may test at %v", got)
	}
	// At the level, a corrected p-value is alpha.
	checkNear(t, "there and back", CorrectedP(TestLevel(0.05, 7.3, 0.002), 7.3, 0.002), 0.05)
	// 0.05 + (exp(0.1) - 1) + 0.02 + 2*0.01 = 0.195171; 0.0002/0.02 + 1e-5/0.01 = 0.011.
	tolerance, beta := Transfer(0.05, 0.0002, 0.1, 1e-5, 0.02, 0.01)
	checkNear(t, "transfer", tolerance, 0.195171)
	checkNear(t, "its beta", beta, 0.011)
	// One query, pure: bits of 0 at epsilon 0 leave Hoeffding's bound.
	checkNear(t, "information at epsilon 0", InformationTolerance(10000, 0, 500, 0.05), Hoeffding(10000, 500, 0.05))
	// 0.1 sqrt(1250) + sqrt(2.995732) = 3.535534 + 1.730819 = 5.266353; squared 27.734474; with
	// ln 1000 = 6.907755 it is 34.642229; /20000 = 0.0017321115; root 0.0416187.
	checkNear(t, "information at epsilon 0.1", InformationTolerance(10000, 0.1, 500, 0.05), 0.0416187)
	// 0.0001 sqrt(12.5) + 1.730819 = 1.731173; squared 2.996960; with ln 200 = 5.298317 it is
	// 8.295277; /200; root 0.203657.
	checkNear(t, "information", InformationTolerance(100, 0.0001, 100, 0.05), 0.203657)
	// pure: ln 200 + 2.995732 + 10*100 = 1008.294049; /200; root 2.245322.
	checkNear(t, "information at epsilon 10", InformationTolerance(100, 10, 100, 0.05), 2.245322)
}

// What makes no sense promises nothing.
func TestBoundsOfNonsense(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for i, got := range []float64{
		Hoeffding(0, 1, 0.05), Hoeffding(10, 0, 0.05), Hoeffding(10, 1, 0), Hoeffding(10, 1, 1), Hoeffding(nan, 1, 0.05),
		Splitting(10, 0, 0.05), Splitting(10, 11, 0.05), Splitting(nan, 2, 0.5), Naive(0, 1, 0.5),
		Generalisation(0, 0.1, 0.5), Generalisation(10, -1, 0.5), Generalisation(10, nan, 0.5), Generalisation(1, 0, 0.1),
		Generalisation(10, inf, 0.5),
		GeneralisationTolerance(10, nan, 1, 0.5), GeneralisationTolerance(10, 0.1, 1, 2),
		MaxInformation(0, 1), MaxInformation(10, -1), MaxInformation(10, nan), InformationTolerance(10, inf, 1, 0.5),
		InformationTolerance(0, 1, 1, 0.5),
		CorrectedP(-1, 1, 0), CorrectedP(nan, 1, 0), CorrectedP(0.1, -1, 0), CorrectedP(0.1, 1, 2), CorrectedP(0.1, nan, 0),
		BestTransfer(laplaceAccuracy(0.1, 1), roundCosts{0.1, 0.01, 1}.at, 0).Tolerance,
	} {
		if !IsVacuous(got) {
			t.Errorf("%d promises %v", i, got)
		}
	}
	for _, args := range [][6]float64{{-1, 0, 0, 0, 1, 1}, {0, 0, nan, 0, 1, 1}, {0, 0, 0, 0, 0, 1}, {0, 0, 0, 0.1, 1, 0}} {
		if a, b := Transfer(args[0], args[1], args[2], args[3], args[4], args[5]); !IsVacuous(a) && !IsVacuous(b) {
			t.Errorf("%v promises %v, %v", args, a, b)
		}
	}
	if !IsVacuous(nan) || !IsVacuous(1) || IsVacuous(0.999) {
		t.Error("what is vacuous")
	}
	for _, w := range []PlanRequest{
		{0, 1, 1, 0.1, 0.1, 0, 0}, {1e16, 1, 1, 0.1, 0.1, 0, 0}, {10, 0, 1, 0.1, 0.1, 0, 0}, {10, 5, 6, 0.1, 0.1, 0, 0},
		{10, 5, 0, 0.1, 0.1, 0, 0},
		{10, 5, 1, 0, 0.1, 0, 0}, {10, 5, 1, 1, 0.1, 0, 0}, {10, 5, 1, 0.1, 0, 0, 0}, {10, 5, 1, 0.1, 1, 0, 0}, {nan, 5, 1, 0.1, 0.1, 0, 0},
		{10, 5, 1, 0.1, 0.1, -1, 0}, {10, 5, 1, 0.1, 0.1, 2, 0}, {10, 5, 1, 0.1, 0.1, 0, 2}, {10, 5, 1, 0.1, 0.1, 0, nan},
	} {
		if _, err := Plan(w); !errors.Is(err, errPlan) {
			t.Errorf("%v: %v", w, err)
		}
	}
}

// What BestTransfer found is what Transfer says about it, and no grid of c, g, miss and delta is
// better by more than a few per cent.
func TestBestTransfer(t *testing.T) {
	for _, c := range []struct {
		noise float64
		r     roundCosts
	}{{0.01, roundCosts{0.001, 5e-7, 100}}, {0.002, roundCosts{0.01, 5e-5, 2}}, {0.03, roundCosts{0.004, 8e-6, 2000}}} {
		accuracy := laplaceAccuracy(c.noise, c.r.times)
		got := BestTransfer(accuracy, c.r.at, 0.05)
		tolerance, beta := Transfer(accuracy(got.Miss), got.Miss, got.Epsilon, got.Delta, got.C, got.G)
		if math.Abs(tolerance-got.Tolerance) > 1e-12 || beta > 0.05*(1+1e-9) || got.Epsilon < c.r.at(got.Delta) {
			t.Errorf("%+v: %+v; the theorem says %v, %v", c, got, tolerance, beta)
		}
		least := math.Inf(1)
		for share := 0.05; share < 1; share += 0.05 {
			for lm := -20.0; lm < -3; lm += 0.25 {
				for ld := -30.0; ld < -3; ld += 0.5 {
					m, d := math.Exp(lm), math.Exp(ld)
					a, _ := Transfer(accuracy(m), m, c.r.at(d), d, m/(share*0.05), d/((1-share)*0.05))
					least = math.Min(least, a)
				}
			}
		}
		if got.Tolerance > 1.05*least {
			t.Errorf("%+v: %v, and a grid finds %v", c, got.Tolerance, least)
		}
	}
}

// The epsilon of rounds is the smallest of those that package account gives them.
func TestComposed(t *testing.T) {
	for _, c := range []struct {
		r     roundCosts
		delta float64
		by    string
	}{
		{roundCosts{0.01, 5e-5, 1000}, 0, "pure"}, {roundCosts{0.01, 5e-5, 3}, 1e-9, "optimal"},
		{roundCosts{0.01, 2e-5, 1000}, 1e-6, "zCDP"}, {roundCosts{0.01, 5e-5, 1000}, 1e-6, "optimal"},
	} {
		got, by := c.r.composed(c.delta)
		least := c.r.epsilon * c.r.times
		if c.delta > 0 {
			z := must(account.ZCDP{Rho: c.r.rho * c.r.times}.EpsilonAt(c.delta))
			o := must(account.OptimalEpsilon([]account.Repeated{{Approx: account.Approx{Epsilon: c.r.epsilon}, Times: int(c.r.times)}},
				c.delta))
			least = min(least, z, o.Upper)
		}
		if got != least || by != c.by || got > c.r.at(c.delta)*(1+1e-9) {
			t.Errorf("%+v: %v by %s; want %v; quickly %v", c, got, by, least, c.r.at(c.delta))
		}
	}
}

// A plan has every way, is the same on both sides of its needs, and says where it is vacuous.
func TestPlan(t *testing.T) {
	w := PlanRequest{Size: 10000, Queries: 500, Answers: 5, Tolerance: 0.05, Beta: 0.05}
	ways, err := Plan(w)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]Verdict{}
	for i, way := range ways {
		verdicts[way.Name+", "+way.By] = way.Verdict
		if math.IsInf(way.Needs, 1) {
			continue
		}
		if got := planMethods[i].at(way.Needs, w).Tolerance; got > w.Tolerance {
			t.Errorf("%s, %s needs %v, and then promises %v", way.Name, way.By, way.Needs, got)
		}
		if got := planMethods[i].at(way.Needs*0.97, w).Tolerance; got <= w.Tolerance {
			t.Errorf("%s, %s needs %v, and with less promises %v as well", way.Name, way.By, way.Needs, got)
		}
	}
	want := map[string]Verdict{
		"exact, questions fixed in advance, Hoeffding": Holds, "exact, chosen by earlier answers, none": PromisesNothing,
		"exact, fresh people for each, Hoeffding": Misses,
		"all with noise, transfer":                Misses, "all with noise, max-information": Misses,
		"all with noise, generalisation": PromisesNothing,
		"Thresholdout, transfer":         Misses, "Thresholdout, max-information": Misses, "Thresholdout, generalisation": Misses,
	}
	if fmt.Sprint(verdicts) != fmt.Sprint(want) {
		t.Errorf("%v", verdicts)
	}
	// The parameters of the classic experiment promise nothing: epsilon is 2 x 500/(0.01 x 10,000)
	// = 10.
	w.Answers, w.Noise, w.Threshold = 500, 0.01, 0.04
	ways, err = Plan(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range ways {
		if way.Name == ThresholdWay && (way.Verdict != PromisesNothing || way.By != "transfer" && math.Abs(way.Epsilon-10) > 1e-9 ||
			way.Noise != 0.01 || way.Threshold != 0.04) {
			t.Errorf("%+v", way)
		}
	}
}

// Whatever is wished for, every way promises a number or nothing, more people never make it worse
// by more than the search is inexact, and more questions never better.
func TestPlansOfAllKinds(t *testing.T) {
	d := detrand.New("wishes", 1)
	for range 40 {
		power := func(most int) float64 { return math.Round(math.Pow(10, float64(d.Below(100*most))/100)) }
		w := PlanRequest{Size: power(15), Queries: power(12), Tolerance: 0.001 + float64(d.Below(990))/1000,
			Beta: math.Pow(10, -0.01-float64(d.Below(1000))/100)}
		w.Answers = math.Max(1, math.Round(w.Queries*math.Pow(float64(d.Below(1000))/1000, 4)))
		if d.One(4) {
			w.Noise, w.Threshold = math.Pow(10, -float64(d.Below(80))/10), float64(d.Below(1000))/1000
		}
		ways := must(Plan(w))
		bigger, more := w, w
		bigger.Size = math.Min(maxPeople, 2*w.Size)
		more.Queries = math.Min(1e12, 2*w.Queries)
		large := must(PlanTolerances(bigger))
		many := must(PlanTolerances(more))
		for i, way := range ways {
			for _, x := range []float64{way.Tolerance, way.Needs, way.Noise, way.Threshold, way.Epsilon, way.Delta} {
				if math.IsNaN(x) || x < 0 {
					t.Fatalf("%+v: %+v", w, way)
				}
			}
			if large[i].Tolerance > way.Tolerance*1.02 && !IsVacuous(large[i].Tolerance) {
				t.Errorf("%+v: %s, %s promises %v, and with twice the people %v", w, way.Name, way.By, way.Tolerance, large[i].Tolerance)
			}
			if many[i].Tolerance < way.Tolerance*0.98 && !IsVacuous(way.Tolerance) {
				t.Errorf("%+v: %s, %s promises %v, and with twice the questions %v", w, way.Name, way.By, way.Tolerance, many[i].Tolerance)
			}
			if (way.Verdict == Holds) != (way.Tolerance <= w.Tolerance) || (way.Verdict == PromisesNothing) != !(way.Tolerance < 1) {
				t.Errorf("%+v: %+v", w, way)
			}
			if way.Verdict == Holds && way.Needs > w.Size*1.02+1 || way.Verdict != Holds && way.Needs < w.Size*0.98 {
				t.Errorf("%+v: %s, %s is %s, and needs %v", w, way.Name, way.By, way.Verdict, way.Needs)
			}
		}
	}
}
