package dp

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWithin(t *testing.T) {
	limit := Cost{Epsilon: 10, Rho: Unbounded, Delta: 0}
	for _, c := range []struct {
		cost Cost
		want bool
	}{
		{Cost{}, true},
		{Cost{Epsilon: 10}, true},
		{Cost{Epsilon: 11}, false},
		{Cost{Epsilon: Unbounded}, false},
		{Cost{Epsilon: 1, Rho: Unbounded}, true},
		{Cost{Epsilon: 1, Delta: 1}, false},
	} {
		if got := c.cost.Within(limit); got != c.want {
			t.Errorf("%v within %v: %v", c.cost, limit, got)
		}
	}
	nothing := Cost{Unbounded, Unbounded, Unbounded}
	if !nothing.Within(nothing) {
		t.Error("an unbounded limit limits something")
	}
}

func drawCost(t *rapid.T, name string) Cost {
	draw := func(field string) Amount { return Amount(rapid.Uint64().Draw(t, name+" "+field)) }
	return Cost{draw("epsilon"), draw("rho"), draw("delta")}
}

func TestCostsAddInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawCost(t, "a"), drawCost(t, "b"), drawCost(t, "c")
		if a.Add(b) != b.Add(a) || a.Add(b).Add(c) != a.Add(b.Add(c)) {
			t.Fatal("the order of charges matters")
		}
		if !a.Within(a.Add(b)) || !a.Sub(b).Within(a) {
			t.Fatal("adding made it less, or taking away made it more")
		}
	})
}

func TestCostString(t *testing.T) {
	c := Cost{Epsilon: Unbounded, Rho: mustParse("0.25"), Delta: mustParse("1e-6")}
	if got, want := c.String(), "epsilon unbounded, rho 0.25, delta 1e-06"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMul(t *testing.T) {
	c := Cost{Epsilon: Unbounded, Rho: 3, Delta: Unbounded / 2}
	for n, want := range map[uint64]Cost{
		0:       {},
		1:       c,
		2:       {Epsilon: Unbounded, Rho: 6, Delta: Unbounded - 1},
		3:       {Epsilon: Unbounded, Rho: 9, Delta: Unbounded},
		1 << 63: {Epsilon: Unbounded, Rho: Unbounded, Delta: Unbounded},
	} {
		if got := c.Mul(n); got != want {
			t.Errorf("%d times: %v; want %v", n, got, want)
		}
	}
	if (Cost{}).Mul(1<<63) != (Cost{}) {
		t.Error("nothing is not nothing")
	}
}

// Where one of two sums is enough, what was spent is read by the one that lasts longer.
func TestEither(t *testing.T) {
	limit := Cost{Epsilon: 100, Rho: 10, Delta: 5}
	for _, c := range []struct {
		spent     Cost
		fits      bool
		part      float64
		byEpsilon bool
	}{
		{Cost{}, true, 0, false},
		{Cost{Epsilon: 50, Rho: 8}, true, 0.5, true},
		{Cost{Epsilon: 100, Rho: 80}, true, 1, true},
		{Cost{Epsilon: 101, Rho: 80}, false, 1, false},
		{Cost{Epsilon: Unbounded, Rho: 5}, true, 0.5, false},
		{Cost{Epsilon: Unbounded, Rho: 10}, true, 1, false},
		{Cost{Epsilon: 10, Rho: 1, Delta: 4}, true, 0.8, false},
		{Cost{Epsilon: 10, Rho: 1, Delta: 6}, false, 1, false},
	} {
		if c.spent.Fits(limit) != c.fits || c.spent.Part(limit) != c.part || c.spent.ByEpsilon(limit) != c.byEpsilon {
			t.Errorf("%v: %v, %v, %v", c.spent, c.spent.Fits(limit), c.spent.Part(limit), c.spent.ByEpsilon(limit))
		}
	}
	pure, rho := Cost{Epsilon: 1, Rho: Unbounded}, Cost{Epsilon: Unbounded, Rho: 1}
	if !(Cost{}).ByEpsilon(pure) || (Cost{}).ByEpsilon(rho) || (Cost{Epsilon: 2}).Fits(pure) || (Cost{Epsilon: 2, Rho: 2}).Fits(rho) {
		t.Error("a limit with one sum is read by the other")
	}
}
