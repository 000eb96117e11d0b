package curator_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// calls runs and releases everything of a statement, and returns what the releaser was asked to do.
func calls(w *curatortest.World, p *pricing.Priced) (out []mech.Call) {
	w.T.Helper()
	w.Noise.Record(func(c mech.Call) { out = append(out, c) })
	defer w.Noise.Record(nil)
	w.Check(w.Compute(ctx, p.Purchases))
	return out
}

// counting says what a budget counts, by whether it is pure.
var counting = map[bool]mech.Currency{true: mech.Pure, false: mech.Concentrated}

// Mechanisms with a bug in their calibration are seen by the same judge that finds nothing without
// it.
func TestJudgeSeesPlantedMechanisms(t *testing.T) {
	calm, wild, torn := hospital.New(120, 1), restless(120, 1), hospital.New(120, 1)
	torn.Visits = slices.DeleteFunc(torn.Visits, func(v hospital.Visit) bool { return v.Patient == hospital.Target })
	for i := range 12 { // much in one ward, and little in another
		torn.Visits = append(torn.Visits, hospital.Visit{Patient: hospital.Target, Day: "2025-01-01",
			Ward: []string{"surgery", "internal"}[i%2], Cents: []int{200_000, 0}[i%2]})
	}
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		for _, c := range []struct {
			name, sql string
			h         *hospital.Hospital
			plant     func(t *testing.T, p *pricing.Priced)
		}{
			{"quantiles at full price in every group", "SELECT ward, MEDIAN(cost) FROM visits GROUP BY ward", wild,
				func(t *testing.T, p *pricing.Priced) {
					b := p.Purchases[0]
					one := *b.Query
					low, high, _ := tree.QuantileRange(one.Measures[0].Arg)
					each, err := mech.NewQuantiles(mech.QuantileQuery{At: one.Measures[0].At, Low: low, High: high, PerUnit: one.MaxRows(),
						Neighbours: one.Neighbours}, counting[p.Currency.Pure], p.Currency.Amount(p.Settings.Epsilon))
					if err != nil {
						t.Fatal(err)
					}
					b.Noise[0] = pricing.Noise{Quantiles: each}
				}},
			{"weights are no part of the sensitivity", "SELECT age FROM patients GROUP BY age ORDER BY age * COUNT(*) DESC LIMIT 2", calm,
				func(t *testing.T, p *pricing.Priced) {
					one := *p.Statement.Plans[0]
					one.Query.Choice = &tree.Choice{K: one.Query.Choice.K}
					wrong, err := pricing.Price(curatortest.Parsed(t, hospital.Dataset("hospital", "data", budget)),
						&planner.Statement{Plans: []*tree.Plan{&one}}, p.Settings, p.Currency)
					if err != nil {
						t.Fatal(err)
					}
					p.Purchases[0].Choice = wrong.Purchases[0].Choice
				}},
			{"scores of both signs are said to move one way", "SELECT ward FROM visits GROUP BY ward ORDER BY SUM(cost - 400) DESC LIMIT 1",
				torn, func(t *testing.T, p *pricing.Priced) {
					s := p.Purchases[0].Choice.Top.Selector().Scoring()
					s.Monotone = true
					each, _, err := mech.ChooseSelector(counting[p.Currency.Pure], p.Currency.Amount(p.Settings.Epsilon), s)
					if err != nil {
						t.Fatal(err)
					}
					if p.Purchases[0].Choice.Top, err = mech.NewTopK(1, each); err != nil {
						t.Fatal(err)
					}
				}},
			{"a second draw of the same noise", "SELECT COUNT(*) FROM patients", calm, nil},
			{"one round of a choice is charged", "SELECT diagnosis FROM patients GROUP BY diagnosis ORDER BY COUNT(*) " +
				"DESC LIMIT 3", calm, nil},
			{"one set of a ROLLUP is charged", "SELECT sex, smoker, COUNT(*) FROM patients GROUP BY ROLLUP (sex, smoker)", calm, nil},
		} {
			t.Run(c.name, func(t *testing.T) { // whose data the next one takes over
				a := curatortest.Build(t, c.h, hospital.Dataset("hospital", "data", budget), 7)
				b := curatortest.Build(t, c.h.Without(hospital.Target), hospital.Dataset("hospital", "data", budget), 7)
				run := func(plant func(*testing.T, *pricing.Priced)) (x, y []mech.Call, paid dp.Cost) {
					q := api.Question{Analyst: "ana", SQL: c.sql, Epsilon: curatortest.Amount("0.1")}
					p, err := curatortest.Price(a, q)
					a.Check(err)
					o, err := curatortest.Price(b, q)
					b.Check(err)
					if plant != nil {
						plant(t, p)
						plant(t, o)
					}
					return calls(a, p), calls(b, o), pricing.Cost(p.Purchases)
				}
				x, y, paid := run(nil)
				if err := judgeCalls(x, y, paid); err != nil {
					t.Errorf("%s, without it: %v", c.name, err)
				}
				switch {
				case c.plant != nil:
					x, y, paid = run(c.plant)
				case len(x) == 1 && x[0].Scoring == (mech.Scoring{}):
					x, y = append(x, x...), append(y, y...)
				default:
					paid = dp.Cost{Epsilon: paid.Epsilon / 3, Rho: paid.Rho / 3}
				}
				if err := judgeCalls(x, y, paid); err == nil {
					t.Errorf("%s was not noticed", c.name)
				} else {
					t.Logf("%s: %v", c.name, err)
				}
			})
		}
	}
}

// An aggregate that is named many times is released once.
func TestOneDrawForOneAggregate(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	for sql, want := range map[string]int{
		"SELECT COUNT(*), COUNT(*), COUNT(*) - COUNT(*), AVG(age), SUM(age) FROM patients HAVING COUNT(*) > 3":                       2,
		"SELECT MEDIAN(age), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM patients":                                         1,
		"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM patients":                                                      1,
		"SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM patients) a, (SELECT COUNT(*) AS n FROM patients HAVING COUNT(*) > -1e9) b": 1,
	} {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: sql})
		w.Check(err)
		if got := len(calls(w, p)); got != want {
			t.Errorf("%s: %d draws; want %d", sql, got, want)
		}
	}
	a := w.MustAsk("SELECT COUNT(*) AS a, COUNT(*) AS b, COUNT(*) - COUNT(*) AS zero FROM patients")
	if a.Rows[0][0] != a.Rows[0][1] || fmtCell(a.Rows[0][2]) != "0" {
		t.Errorf("two draws: %v", a.Rows)
	}
}

// What neighbours differ in is paid for, residual by residual; a cube with the noise of another is
// seen, and so is one of which a residual is released twice.
func TestJudgeSeesPlantedCubes(t *testing.T) {
	for _, relation := range []string{"add-remove", "substitute"} {
		dataset := strings.Replace(hospital.Dataset("hospital", "data", curatortest.Rich), "    unit:",
			"    neighbours: "+relation+"\n    unit:", 1)
		h := hospital.New(120, 1)
		h.Patients[hospital.Target-1].Age = 105
		other := h.Without(hospital.Target)
		if relation == "substitute" {
			young := h.Patients[hospital.Target-1]
			young.Age, young.Sex, young.Smoker, young.Diagnosis = 3, "X", !young.Smoker, "asthma"
			other.Patients = append(other.Patients, young)
		}
		a, b := curatortest.Build(t, h, dataset, 7), curatortest.Build(t, other, dataset, 7)
		q := api.Question{Analyst: "ana",
			SQL: "SELECT sex, smoker, diagnosis, SUM(age) FROM patients GROUP BY CUBE (sex, smoker, diagnosis)"}
		run := func(plant func(*pricing.Cube)) error {
			p, err := curatortest.Price(a, q)
			a.Check(err)
			o, err := curatortest.Price(b, q)
			b.Check(err)
			if plant != nil {
				plant(p.Purchases[0].Cube)
				plant(o.Purchases[0].Cube)
			}
			x, y := calls(a, p), calls(b, o)
			if len(x) != 8 {
				t.Errorf("%d residuals", len(x))
			}
			return judgeCalls(x, y, pricing.Cost(p.Purchases))
		}
		if err := run(nil); err != nil {
			t.Errorf("%s: %v", relation, err)
		}
		of := mech.ResidualsConfig{Sizes: []int{4, 3, 7}, Hidden: make([]bool, 3), Low: new(big.Int), High: big.NewInt(110),
			Neighbours: a.Dataset.Neighbours}
		for mask := range 8 {
			set := []int{}
			for i := range 3 {
				if mask>>i&1 == 1 {
					set = append(set, i)
				}
			}
			of.Sets = append(of.Sets, set)
		}
		type wrongNoise func(mech.ResidualsConfig) (of mech.ResidualsConfig, rho string)
		for name, wrong := range map[string]wrongNoise{
			"the noise of counts": func(m mech.ResidualsConfig) (mech.ResidualsConfig, string) {
				m.High = big.NewInt(1)
				return m, "0.00499"
			},
			"a price nobody paid": func(m mech.ResidualsConfig) (mech.ResidualsConfig, string) { return m, "0.02" },
			"narrower bounds": func(m mech.ResidualsConfig) (mech.ResidualsConfig, string) {
				m.High = big.NewInt(90)
				return m, "0.00499"
			},
		} {
			m, rho := wrong(of)
			n, err := mech.NewResiduals(m, curatortest.Amount(rho))
			a.Check(err)
			if err := run(func(c *pricing.Cube) { c.Noise[0] = n }); err == nil {
				t.Errorf("%s, %s: not noticed", relation, name)
			}
		}
	}
}
