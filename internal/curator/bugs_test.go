package curator

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// calls runs and releases everything of a statement, and returns what the releaser was asked to do.
func (w *world) calls(p *pricing.Priced) (out []mech.Call) {
	w.t.Helper()
	w.noise.Record(func(c mech.Call) { out = append(out, c) })
	defer w.noise.Record(nil)
	w.check(w.Compute(ctx, p.Purchases))
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
	for _, budget := range []string{plenty, rich} {
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
					wrong, err := pricing.Price(parsed(t, hospital.Dataset("hospital", "data", budget)),
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
			a := build(t, c.h, hospital.Dataset("hospital", "data", budget), 7)
			b := build(t, c.h.Without(hospital.Target), hospital.Dataset("hospital", "data", budget), 7)
			run := func(plant func(*testing.T, *pricing.Priced)) (x, y []mech.Call, paid dp.Cost) {
				q := api.Question{Analyst: "ana", SQL: c.sql, Epsilon: amount("0.1")}
				p, err := price(a, q)
				a.check(err)
				o, err := price(b, q)
				b.check(err)
				if plant != nil {
					plant(t, p)
					plant(t, o)
				}
				return a.calls(p), b.calls(o), pricing.Cost(p.Purchases)
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
		}
	}
}

// An aggregate that is named many times is released once.
func TestOneDrawForOneAggregate(t *testing.T) {
	w := newWorld(t, plenty)
	for sql, want := range map[string]int{
		"SELECT COUNT(*), COUNT(*), COUNT(*) - COUNT(*), AVG(age), SUM(age) FROM patients HAVING COUNT(*) > 3":                       2,
		"SELECT MEDIAN(age), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM patients":                                         1,
		"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM patients":                                                      1,
		"SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM patients) a, (SELECT COUNT(*) AS n FROM patients HAVING COUNT(*) > -1e9) b": 1,
	} {
		p, err := price(w, api.Question{Analyst: "ana", SQL: sql})
		w.check(err)
		if got := len(w.calls(p)); got != want {
			t.Errorf("%s: %d draws; want %d", sql, got, want)
		}
	}
	a := w.mustAsk("SELECT COUNT(*) AS a, COUNT(*) AS b, COUNT(*) - COUNT(*) AS zero FROM patients")
	if a.Rows[0][0] != a.Rows[0][1] || fmtCell(a.Rows[0][2]) != "0" {
		t.Errorf("two draws: %v", a.Rows)
	}
}
