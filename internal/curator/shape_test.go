package curator

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/policy"
)

// No statement of any kind costs more than what was asked for, and none much less.
func TestNothingCostsMoreThanAsked(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		for _, dataset := range []string{hospital.Dataset("hospital", "data", budget),
			substitute(hospital.Dataset("hospital", "data", budget))} {
			c := New(parsed(t, dataset), nil, nil, nil)
			for _, sql := range questions {
				p, err := c.prepare(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: dp.One})
				if err != nil {
					t.Errorf("%s: %v", sql, err)
					continue
				}
				asked, got := p.Currency.Amount(dp.One), pricing.Cost(p.Purchases).Rho
				if p.Currency.Pure {
					got = pricing.Cost(p.Purchases).Epsilon
				}
				if got > asked || got < asked-asked/100 && !p.Statement.Free() {
					t.Errorf("%s: %v was asked for, and %v is charged", sql, asked, got)
				}
			}
		}
	}
}

// Keys and the values that belong to them stay together, wherever an engine found them.
func TestKeysKeepTheirValues(t *testing.T) {
	w := privately(t, 50, amount("1e-4"), amount("1e-5"))
	p, err := w.prepare(ctx, api.Question{Analyst: "ana", Epsilon: dp.One,
		SQL: "SELECT ward, cost > 500, COUNT(*), MEDIAN(cost) FROM visits GROUP BY ward, cost > 500"})
	w.check(err)
	b := p.Purchases[0]
	var found engine.Result
	var keys [][]policy.Value
	var persons, counts []int64
	var values []exact.Vector
	for _, ward := range []int64{3, 1, 9, 2} { // of which the third has one person
		keys = append(keys, []policy.Value{{Type: policy.Text, Text: fmt.Sprint("ward ", ward)}})
		for dear := range int64(2) {
			counts = append(counts, 1_000_000*ward+100_000*dear)
			many := make([]int64, 20_000)
			for i := range many {
				many[i] = 10_000*ward + 1_000*dear
			}
			values = append(values, exact.Seal(many))
		}
		persons = append(persons, map[bool]int64{false: 1_000_000, true: 1}[ward == 9])
	}
	found.Combos, found.Persons = exact.SealList(keys), exact.Seal(persons)
	var places []int32 // of people with one ward each, by whom wards are weighed
	var ends []int
	for place, n := range persons {
		for range min(n, 2000) {
			places = append(places, int32(place))
			ends = append(ends, len(places))
		}
	}
	found.Members = exact.SealMembers(places, ends)
	for _, m := range b.Query.Measures {
		if m.Kind == tree.Quantile {
			found.Measures, found.Values = append(found.Measures, exact.Vector{}), append(found.Values, values)
		} else {
			found.Measures, found.Values = append(found.Measures, exact.Seal(counts)), append(found.Values, nil)
		}
	}
	r, err := w.Curator.releaser.release(b, &found, nil, pricing.MaxBytes)
	w.check(err)
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{r})
	w.check(err)
	if len(a.Rows) != 6 {
		t.Fatalf("%v", a.Rows)
	}
	for i, row := range a.Rows {
		ward, dear := float64(1+i/2), float64(i%2)
		if row[0] != fmt.Sprint("ward ", ward) || row[1] != (dear == 1) || asFloat(row[2])-1e6*ward-1e5*dear > 1000 ||
			asFloat(row[2])-1e6*ward-1e5*dear < -1000 || asFloat(row[3]) != 100*ward+10*dear {
			t.Errorf("row %d is %v", i, row)
		}
	}
	// A result of another shape is refused, and says nothing.
	for _, bad := range []engine.Result{{}, {Persons: found.Persons, Combos: found.Combos},
		{Persons: exact.Seal([]int64{5}), Combos: found.Combos, Measures: found.Measures, Values: found.Values}} {
		if _, err := w.Curator.releaser.release(b, &bad, nil, pricing.MaxBytes); err != interactive.ErrRun {
			t.Errorf("got %v", err)
		}
	}
}
