package pricing

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/policy"
)

// Budgets: two that are small, and two that never run out.
const (
	pure         = "{epsilon: 1, per_query: {default: 0.1, max: 1}}"
	concentrated = "{epsilon: 1, delta: 1e-6, per_query: {default: 0.1, max: 1}}"
	plenty       = "{epsilon: 100, per_query: {default: 0.1, max: 1}}"
	rich         = "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}"
)

func parsed(t testing.TB, dataset string) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte("datasets:\n"+dataset))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["hospital"]
}

func substitute(dataset string) string {
	return strings.Replace(dataset, "    budget:", "    neighbours: substitute\n    budget:", 1)
}

// asked prices a question about a hospital under a budget.
func asked(t testing.TB, budget, sql string, s api.Settings) (*Priced, *policy.Dataset) {
	t.Helper()
	ds := parsed(t, hospital.Dataset("hospital", "data", budget))
	st, err := planner.Prepare(ds, sql, planner.Options{MaxGroups: s.MaxGroups})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	p, err := Price(ds, st, s, Currency{ds.Budget.Pure()})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p, ds
}

// With dp.error every error bar is as small as was asked for, and the price is the smallest that
// does it.
func TestErrorIsTheSmallestPrice(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		for _, c := range []struct {
			sql, want string
			s         api.Settings
		}{
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{}},
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{Confidence: 0.5}},
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{Confidence: 0.9999}},
			{"SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex", "1000.5", api.Settings{}},
			{"SELECT SUM(cost) FROM patients", "99999.999", api.Settings{}},
			{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "150", api.Settings{}},
			{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "150", api.Settings{Mechanism: "laplace"}},
			{"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM visits", "60", api.Settings{}},
		} {
			c.s.Error, _ = new(big.Rat).SetString(c.want)
			target, _ := c.s.Error.Float64()
			p, ds := asked(t, budget, c.sql, c.s)
			sum := dp.Amount(0)
			for _, b := range p.Purchases {
				for i, m := range b.Query.Measures {
					half := Scaled(big.NewInt(b.Noise[i].HalfWidth(p.Beta())), m.Step())
					if half > target {
						t.Errorf("%s: an error of %v, and %v was asked for", c.sql, half, target)
					}
					share, err := p.smallestShare(ds, b.Query, i, Steps(c.s.Error, m), p.Currency.Amount(dp.One))
					if err != nil {
						t.Fatal(err)
					}
					sum += share
					less, err := newNoise(b.Query, m, p.Currency, share-1, c.s.Mechanism)
					if err != nil {
						t.Fatal(err)
					}
					if got := Scaled(big.NewInt(less.HalfWidth(p.Beta())), m.Step()); got <= target {
						t.Errorf("%s: a smaller price has an error of %v too", c.sql, got)
					}
				}
			}
			if got := p.Currency.Amount(p.Epsilon); got < sum || p.Epsilon > 1 && p.Currency.Amount(p.Epsilon-1) >= sum {
				t.Errorf("%s: the tag is epsilon %v, and the shares are %v", c.sql, p.Epsilon, sum)
			}
		}
	}
}

// dp.error at less than the least price costs that.
func TestLeastPriceOfAnError(t *testing.T) {
	for _, budget := range []string{pure, concentrated, plenty, rich} {
		for _, sql := range []string{
			"SELECT COUNT(*), SUM(age) FROM patients",
			"SELECT COUNT(*) FROM patients WHERE age > 1 UNION ALL SELECT COUNT(*) FROM patients WHERE age > 2",
			"SELECT sex, COUNT(*) FROM patients GROUP BY sex",
		} {
			p, ds := asked(t, budget, sql, api.Settings{Error: big.NewRat(1e15, 1)})
			least := p.leastPrice(ds.Budget)
			if p.Epsilon != least || !p.raised {
				t.Errorf("%s: %s: epsilon %v, and the least is %v", budget, sql, p.Epsilon, least)
			}
			want, got := p.Currency.Amount(least), Cost(p.Purchases).Rho
			if p.Currency.Pure {
				got = Cost(p.Purchases).Epsilon
			}
			if got > want || got < want-want/1000-10 {
				t.Errorf("%s: %s: it costs %d units, and the least is %d", budget, sql, got, want)
			}
		}
	}
}

// Shares that are raised add up to what is paid at most, and none gets smaller, whatever their
// sizes.
func TestRaise(t *testing.T) {
	for _, c := range [][]dp.Amount{{1}, {1, 1, 1}, {1, 1 << 45}, {100 * dp.One, 100 * dp.One}, {7, 11, 13}} {
		total := dp.Amount(0)
		for _, s := range c {
			total += s
		}
		for _, to := range []dp.Amount{total, total + 1, 3 * total, 100 * dp.One * 100} {
			if to < total {
				continue
			}
			all := [][]dp.Amount{append([]dp.Amount{}, c...)}
			raise(all, total, to)
			sum := dp.Amount(0)
			for i, s := range all[0] {
				if sum += s; s < c[i] {
					t.Errorf("%v to %d: %v", c, to, all)
				}
			}
			if sum > to || sum+dp.Amount(len(c)) <= to {
				t.Errorf("%v to %d: %v", c, to, all)
			}
		}
	}
}

// How far one person moves a score, and which way.
func TestScoring(t *testing.T) {
	for _, c := range []struct {
		sql              string
		apart, replaced  int64
		alwaysOnlyOneWay bool
	}{
		{"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 1", 1, 1, true},
		{"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) LIMIT 1", 1, 1, true},
		{"SELECT zip FROM patients GROUP BY zip ORDER BY SUM(age) DESC LIMIT 1", 110, 110, true},
		{"SELECT zip FROM patients GROUP BY zip ORDER BY SUM(age - 10) DESC LIMIT 1", 100, 110, false},
		{"SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) * 3 DESC LIMIT 1", 18, 18, true},
		{"SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) * 3 LIMIT 1", 18, 18, true},
		{"SELECT age FROM patients GROUP BY age ORDER BY age * COUNT(*) DESC LIMIT 1", 110, 110, true},
		{"SELECT age FROM patients GROUP BY age ORDER BY (age - 30) * COUNT(*) DESC LIMIT 1", 80, 80, false},
	} {
		for i, dataset := range []string{hospital.Dataset("hospital", "data", plenty),
			substitute(hospital.Dataset("hospital", "data", plenty))} {
			p, err := planner.Prepare(parsed(t, dataset), c.sql, planner.Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.sql, err)
			}
			want := mech.Scoring{Sensitivity: []int64{c.apart, c.replaced}[i], Monotone: c.alwaysOnlyOneWay && i == 0}
			if got, err := scoring(&p.Plans[0].Query); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", c.sql, got, err, want)
			}
		}
	}
}
