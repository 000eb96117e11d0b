package ledger

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// charged is the receipt of a charge of rho in one account.
func charged(spent, cost, limit dp.Amount) Receipt {
	return Receipt{
		Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: cost, Delta: 0},
		Balances: []Balance{{
			Account: "a", Limit: dp.Cost{Epsilon: dp.Unbounded, Rho: limit, Delta: 0},
			Spent: dp.Cost{Epsilon: dp.Unbounded, Rho: spent, Delta: 0},
		}},
	}
}

// A hundred charges of one hundredth give each alert once, at the charge that reaches it.
func TestAlerts(t *testing.T) {
	var got []int
	at := map[int]dp.Amount{}
	for spent := dp.Amount(1); spent <= 100; spent++ {
		for _, a := range charged(spent, 1, 100).Alerts() {
			got = append(got, a.Percent)
			at[a.Percent] = spent
		}
	}
	if !slices.Equal(got, Thresholds) || at[50] != 50 || at[80] != 80 || at[95] != 95 {
		t.Errorf("got %v at %v", got, at)
	}
	if all := charged(100, 100, 100).Alerts(); len(all) != 1 || all[0].Percent != 95 {
		t.Errorf("a charge of everything gives %v; want the highest alone", all)
	}
	again := charged(50, 1, 100)
	again.Again = true
	if len(again.Alerts()) != 0 {
		t.Error("a request that was charged before gives an alert again")
	}
}

func TestPart(t *testing.T) {
	for _, c := range []struct {
		spent, limit dp.Cost
		want         float64
	}{
		{dp.Cost{Epsilon: 1}, dp.Cost{Epsilon: 4, Rho: dp.Unbounded, Delta: 0}, 0.25},
		{dp.Cost{Epsilon: dp.Unbounded, Rho: 1, Delta: 3}, dp.Cost{Epsilon: dp.Unbounded, Rho: 4, Delta: 4}, 0.75},
		{dp.Cost{}, dp.Cost{Epsilon: 0, Rho: dp.Unbounded, Delta: 0}, 0},
		{dp.Cost{Epsilon: 5}, dp.Cost{Epsilon: 4, Rho: dp.Unbounded}, 1}, // the owner has lowered the limit
		{dp.Cost{Epsilon: dp.Unbounded}, dp.Cost{Epsilon: 4, Rho: dp.Unbounded}, 1},
		{dp.Cost{Epsilon: 2, Rho: 1}, dp.Cost{Epsilon: 4, Rho: 4}, 0.25}, // one of the two is enough
		{dp.Cost{Epsilon: dp.Unbounded, Rho: 3}, dp.Cost{Epsilon: 4, Rho: 4}, 0.75},
	} {
		if got := (Balance{Limit: c.limit, Spent: c.spent}).Part(); got != c.want {
			t.Errorf("%v of %v is %v; want %v", c.spent, c.limit, got, c.want)
		}
	}
}
