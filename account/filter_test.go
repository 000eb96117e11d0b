package account

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

func TestFilterAddsToTheLastUnit(t *testing.T) {
	tenth := amount(t, "0.1")
	filter := PureFilter(dp.One)
	spent := dp.Cost{}
	for i := range 10 {
		cost := dp.Cost{Epsilon: tenth, Rho: dp.Unbounded}
		if !filter.Admits(spent, cost) {
			t.Fatalf("charge %d of 0.1 does not fit in 1", i+1)
		}
		spent = spent.Add(cost)
	}
	if filter.Admits(spent, dp.Cost{Epsilon: tenth}) {
		t.Error("an eleventh tenth was admitted")
	}
	left := filter.Left(spent).Epsilon
	if !filter.Admits(spent, dp.Cost{Epsilon: left}) || filter.Admits(spent, dp.Cost{Epsilon: left + 1}) {
		t.Errorf("what is left, %d units, is not exactly what is admitted", left)
	}
}

// A refused charge spends nothing: a smaller one is admitted after it.
func TestFilterRefusedIsFree(t *testing.T) {
	filter := ZCDPFilter(100, 10)
	spent := dp.Cost{Rho: 90, Delta: 9}
	for _, refused := range []dp.Cost{{Rho: 11}, {Delta: 2}, {Rho: dp.Unbounded}, {Delta: dp.Unbounded}} {
		if filter.Admits(spent, refused) {
			t.Errorf("%v was admitted", refused)
		}
	}
	if !filter.Admits(spent, dp.Cost{Epsilon: dp.Unbounded, Rho: 10, Delta: 1}) {
		t.Error("what is left was refused")
	}
}

func TestPureNeverAdmitsUnbounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := dp.Amount(rapid.Uint64Max(uint64(dp.Unbounded)-1).Draw(t, "limit"))
		spent := dp.Amount(rapid.Uint64().Draw(t, "spent"))
		rho := dp.Amount(rapid.Uint64().Draw(t, "rho"))
		filter := PureFilter(limit)
		if filter.Admits(dp.Cost{Epsilon: spent}, dp.Cost{Epsilon: dp.Unbounded, Rho: rho}) {
			t.Fatal("an unbounded epsilon was admitted")
		}
		if filter.Admits(dp.Cost{}, dp.Cost{Delta: 1}) {
			t.Fatal("a delta was admitted by a pure budget")
		}
		// Gaussian noise, once spent, closes a pure filter for good.
		if filter.Admits(dp.Cost{Epsilon: dp.Unbounded}, dp.Cost{}) {
			t.Fatal("something was admitted after an unbounded charge")
		}
	})
}

// A zero-concentrated budget does not limit epsilon, and does limit both sums.
func TestZCDPLimits(t *testing.T) {
	filter := ZCDPFilter(dp.One, 7)
	if l := filter.Limit(); l.Epsilon != dp.Unbounded || l.Rho != dp.One || l.Delta != 7 {
		t.Errorf("limit %v", l)
	}
	if !filter.Admits(dp.Cost{}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One, Delta: 7}) {
		t.Error("the whole limit was refused")
	}
	if filter.Admits(dp.Cost{}, dp.Cost{Rho: dp.One + 1}) || filter.Admits(dp.Cost{}, dp.Cost{Delta: 8}) {
		t.Error("more than the limit was admitted")
	}
}

// An adversary who reads everything and picks every next price from it cannot
// push the sum over the limit, in either currency.
func TestFilterAdaptiveUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := dp.Amount(rapid.Uint64Range(1, 1<<50).Draw(t, "limit"))
		pure := rapid.Bool().Draw(t, "pure")
		filter := ZCDPFilter(limit, min(limit/2, dp.One-1))
		if pure {
			filter = PureFilter(limit)
		}
		spent, sum := dp.Cost{}, uint64(0)
		for range 20 {
			left := filter.Left(spent)
			most := left.Rho
			if pure {
				most = left.Epsilon
			}
			// Prices around what is left are the interesting ones; wrap-around
			// is tried too.
			price := dp.Amount(rapid.OneOf(
				rapid.Uint64Range(0, uint64(most)+2),
				rapid.Uint64Min(uint64(dp.Unbounded)-uint64(limit)-2),
			).Draw(t, "price"))
			cost := dp.Cost{Epsilon: dp.Unbounded, Rho: price}
			if pure {
				cost = dp.Cost{Epsilon: price, Rho: dp.Unbounded}
			}
			admitted := filter.Admits(spent, cost)
			if admitted != (price <= most) {
				t.Fatalf("price %d, left %d, admitted %v", price, most, admitted)
			}
			if admitted {
				spent = spent.Add(cost)
				sum += uint64(price)
			}
			if sum > uint64(limit) {
				t.Fatalf("%d spent out of %d", sum, limit)
			}
		}
	})
}
