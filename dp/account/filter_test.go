package account

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

func TestFilterAddsToTheLastUnit(t *testing.T) {
	tenth := amount("0.1")
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
			// Prices around what is left are the interesting ones; wrap-around is tried too.
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

// exactExp is exp(x) to some 300 bits, by halving the argument until Taylor's series is short.
func exactExp(x *big.Float) *big.Float {
	const bits = 400
	halvings := max(0, x.MantExp(nil)+8)
	y := new(big.Float).SetPrec(bits).SetMantExp(x, -halvings)
	sum, term := big.NewFloat(1).SetPrec(bits), big.NewFloat(1).SetPrec(bits)
	for n := int64(1); n < 80; n++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(bits).SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// exactRho is epsilon tanh(epsilon/2) = epsilon (1 - 2/(exp(epsilon)+1)).
func exactRho(epsilon float64) *big.Float {
	e := new(big.Float).SetPrec(400).SetFloat64(epsilon)
	q := exactExp(e)
	one := big.NewFloat(1).SetPrec(400)
	up, down := new(big.Float).Sub(q, one), new(big.Float).Add(q, one)
	return up.Mul(up.Quo(up, down), e)
}

func units(x *big.Float) *big.Float { return new(big.Float).SetPrec(400).SetMantExp(x, 40) }

func TestRhoOfPureIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := math.Exp(rapid.Float64Range(-28, 6.9).Draw(t, "ln epsilon"))
		c := must(Pure{epsilon}.Charge())
		cost := c.Cost()
		want := units(exactRho(epsilon))
		got := new(big.Float).SetPrec(400).SetUint64(uint64(cost.Rho))
		if got.Cmp(want) < 0 {
			t.Fatalf("epsilon %v: rho %v is below %v units", epsilon, cost.Rho, want)
		}
		// One unit of rounding, and the margin.
		slack := new(big.Float).SetPrec(400).SetFloat64(1 + 0x1p-46*epsilon*0x1p40)
		if got.Sub(got, want).Cmp(slack) > 0 {
			t.Fatalf("epsilon %v: rho is %v units too large", epsilon, got)
		}
		exact := new(big.Rat).SetFloat64(epsilon)
		if e := cost.Epsilon.Rat(); e.Cmp(exact) < 0 || e.Sub(e, exact).Cmp(big.NewRat(1, int64(dp.One))) >= 0 {
			t.Fatalf("epsilon %v is charged %v", epsilon, cost.Epsilon)
		}
		if cost.Rho > cost.Epsilon || cost.Delta != 0 {
			t.Fatalf("epsilon %v costs %v", epsilon, cost)
		}
	})
}

func TestChargesKnown(t *testing.T) {
	up := func(f float64) dp.Amount {
		return must(dp.CeilFloat(f))
	}
	for _, c := range []struct {
		claim Claim
		want  dp.Cost
	}{
		{Pure{1}, dp.Cost{Epsilon: dp.One, Rho: up(0.46211715726000975)}},
		{Approx{1, 1e-6}, dp.Cost{Epsilon: dp.One, Rho: up(0.46211715726000975), Delta: up(1e-6)}},
		{Approx{0, 0.25}, dp.Cost{Epsilon: 1, Rho: 1, Delta: dp.One / 4}},
		{ZCDP{0.5}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 2}},
		{ZCDP{1e-300}, dp.Cost{Epsilon: dp.Unbounded, Rho: 1}},
		{ApproxZCDP{0.5, 0x1p-50}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 2, Delta: 1}},
		{ApproxZCDP{0, 0.5}, dp.Cost{Epsilon: dp.Unbounded, Rho: 1, Delta: dp.One / 2}},
		{GDP{1}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 2}},
		{GDP{0x1p-20}, dp.Cost{Epsilon: dp.Unbounded, Rho: 1}},
		{GDP{0x1p-19 + 0x1p-60}, dp.Cost{Epsilon: dp.Unbounded, Rho: 3}}, // 2 units and a little
	} {
		got, err := c.claim.Charge()
		if err != nil || got.Cost() != c.want {
			t.Errorf("%T%v costs %v (%v), want %v", c.claim, c.claim, got, err, c.want)
		}
	}
}

func TestChargesRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []Claim{
		Pure{}, Pure{nan}, Pure{inf}, Pure{-1}, Pure{-inf}, Pure{0x1p21},
		Approx{}, Approx{1, 1}, Approx{1, -0.1}, Approx{1, nan}, Approx{nan, 0.1}, Approx{-1, 0.1}, Approx{1, 2},
		ZCDP{}, ZCDP{nan}, ZCDP{inf}, ZCDP{-1}, ZCDP{0x1p30},
		ApproxZCDP{}, ApproxZCDP{1, 1}, ApproxZCDP{1, nan}, ApproxZCDP{nan, 0}, ApproxZCDP{-1, 0.5},
		GDP{}, GDP{nan}, GDP{inf}, GDP{-1}, GDP{1e200},
	} {
		if got, err := c.Charge(); !errors.Is(err, errCharge) || got != (Charge{}) {
			t.Errorf("%T%v costs %v (%v)", c, c, got, err)
		}
	}
}

func TestBasicFilter(t *testing.T) {
	f := BasicFilter(10, 5)
	if !f.Admits(dp.Cost{}, dp.Cost{Epsilon: 10, Rho: dp.Unbounded, Delta: 5}) {
		t.Error("the whole limit was refused")
	}
	for _, c := range []dp.Cost{{Epsilon: 11}, {Epsilon: 1, Delta: 6}, {Epsilon: dp.Unbounded, Rho: 1}} {
		if f.Admits(dp.Cost{}, c) {
			t.Errorf("%v was admitted", c)
		}
	}
	for _, delta := range []dp.Amount{dp.One, dp.Unbounded} {
		if BasicFilter(dp.One, delta).Admits(dp.Cost{}, dp.Cost{Epsilon: 1, Delta: 1}) {
			t.Errorf("a budget with delta %v, which promises nothing, admits something", delta)
		}
	}
	if BasicFilter(7, 0) != PureFilter(7) {
		t.Error("without a delta it is another filter than the pure one")
	}
}

// drawFilter draws a filter of any kind with small limits.
func drawFilter(t *rapid.T) Filter {
	limit := dp.Amount(rapid.Uint64Range(1, 1<<42).Draw(t, "limit"))
	delta := dp.Amount(rapid.Uint64Range(0, 1<<30).Draw(t, "delta"))
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		return PureFilter(limit)
	case 1:
		return BasicFilter(limit, delta)
	}
	return ZCDPFilter(limit, delta)
}

// drawClaim draws a price from what is left, above and below it: an adversary who reads everything.
func drawClaim(t *rapid.T, left dp.Cost) Claim {
	most := min(left.Epsilon, left.Rho)
	loss := float64(most)*rapid.Float64Range(0, 1.2).Draw(t, "share")*0x1p-40 + 0x1p-44
	if rapid.Bool().Draw(t, "all of it") {
		loss = most.Float() + 0x1p-60
	}
	delta := 0.0
	if rapid.Bool().Draw(t, "with delta") {
		delta = float64(left.Delta) * 0x1p-40 * rapid.Float64Range(0, 1.2).Draw(t, "delta share")
	}
	switch rapid.IntRange(0, 4).Draw(t, "guarantee") {
	case 0:
		return Pure{loss}
	case 1:
		return Approx{loss, delta}
	case 2:
		return ZCDP{loss}
	case 3:
		return ApproxZCDP{loss, delta}
	}
	return GDP{loss}
}

// The sum of the exact guarantees, and not of what we made of them, stays
// within the limit; a refusal changes nothing; what was admitted was affordable.
func TestSpendingAgainstAnAdversary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filter := drawFilter(t)
		limit := filter.Limit()
		s := NewSpending(filter)
		epsilon, rho, delta := new(big.Rat), new(big.Rat), new(big.Rat)
		for range 25 {
			before, left := s.Spent(), s.Left()
			claim := drawClaim(t, left)
			err := s.Spend(claim)
			if err != nil {
				var refused *RefusedError
				if !errors.As(err, &refused) || refused.Left != left {
					t.Fatalf("%T%v: %v", claim, claim, err)
				}
				if s.Spent() != before {
					t.Fatal("a refusal spent something")
				}
				continue
			}
			switch c := claim.(type) {
			case Pure:
				epsilon.Add(epsilon, new(big.Rat).SetFloat64(c.Epsilon))
				r, _ := exactRho(c.Epsilon).Rat(nil)
				rho.Add(rho, r)
			case Approx:
				epsilon.Add(epsilon, new(big.Rat).SetFloat64(c.Epsilon))
				delta.Add(delta, new(big.Rat).SetFloat64(c.Delta))
				r, _ := exactRho(c.Epsilon).Rat(nil)
				rho.Add(rho, r)
			case ZCDP:
				rho.Add(rho, new(big.Rat).SetFloat64(c.Rho))
			case ApproxZCDP:
				rho.Add(rho, new(big.Rat).SetFloat64(c.Rho))
				delta.Add(delta, new(big.Rat).SetFloat64(c.Delta))
			case GDP:
				rho.Add(rho, new(big.Rat).SetFloat64(c.Mu*c.Mu/2*(1-0x1p-50)))
			}
			if limit.Epsilon != dp.Unbounded {
				switch claim.(type) {
				case ZCDP, ApproxZCDP, GDP:
					t.Fatalf("a budget of epsilon admitted %T", claim)
				}
			}
			for _, sum := range []struct {
				exact *big.Rat
				limit dp.Amount
			}{{epsilon, limit.Epsilon}, {rho, limit.Rho}, {delta, limit.Delta}} {
				if sum.limit != dp.Unbounded && sum.exact.Cmp(sum.limit.Rat()) > 0 {
					t.Fatalf("%v spent out of %v", sum.exact, sum.limit)
				}
			}
			if !s.Spent().Within(limit) {
				t.Fatalf("%v spent out of %v", s.Spent(), limit)
			}
		}
	})
}

func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claims := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Claim {
			return drawClaim(t, dp.Cost{Epsilon: dp.One, Rho: dp.One, Delta: dp.One / 100})
		}), 1, 10).Draw(t, "claims")
		sum := func(claims []Claim) dp.Cost {
			s := NewSpending(ZCDPFilter(maxAmount, dp.One-1))
			for _, c := range claims {
				if err := s.Spend(c); err != nil {
					t.Fatal(err)
				}
			}
			return s.Spent()
		}
		first := sum(claims)
		if second := sum(rapid.Permutation(claims).Draw(t, "order")); first != second {
			t.Fatalf("%v in one order, %v in another", first, second)
		}
	})
}

// Many goroutines that all want the last unit get it once.
func TestSpendingConcurrently(t *testing.T) {
	const share = 0x1p-10
	s := NewSpending(PureFilter(dp.One))
	var wg sync.WaitGroup
	admitted := make([]int, 8)
	for i := range admitted {
		wg.Go(func() {
			for range 1000 {
				err := s.Spend(Pure{share})
				if i%2 == 0 {
					err = s.Open(Pure{share})
				}
				if err == nil {
					admitted[i]++
				}
				_, _ = s.Left(), s.Spent()
			}
		})
	}
	wg.Wait()
	if left := s.Left().Epsilon; left != 0 {
		t.Errorf("%v is left, and there was enough demand", left)
	}
	if got := s.Spent().Epsilon; got != dp.One {
		t.Errorf("%v was spent out of 1", got)
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	for _, c := range []struct {
		filter Filter
		claim  Claim
		say    []string
	}{
		{PureFilter(dp.One), GDP{0.1}, []string{"adds up epsilon", "Laplace noise"}},
		{PureFilter(dp.One), ZCDP{0.1}, []string{"adds up epsilon", "ZCDPFilter"}},
		{BasicFilter(dp.One, 1000), ApproxZCDP{0.1, 1e-10}, []string{"adds up epsilon", "Approx"}},
		{PureFilter(dp.One), Approx{0.1, 1e-6}, []string{"pure", "delta 1e-06", "without a delta"}},
		{PureFilter(dp.One), Pure{1.5}, []string{"wanted epsilon 1.5", "left epsilon 1,", "at most the epsilon"}},
		{BasicFilter(dp.One, 1000), Approx{1.5, 0.5}, []string{"at most the epsilon and delta"}},
		{ZCDPFilter(dp.One, 0), ZCDP{2}, []string{"wanted rho 2", "left rho 1,"}},
		{ZCDPFilter(dp.One, 0), ApproxZCDP{0.5, 0.5}, []string{"wanted rho 0.5, delta 0.5", "at most the delta"}},
	} {
		err := NewSpending(c.filter).Spend(c.claim)
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%T%v: %v", c.claim, c.claim, err)
			continue
		}
		for _, say := range append(c.say, "nothing was spent") {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%T%v: %q does not say %q", c.claim, c.claim, err, say)
			}
		}
	}
	if err := NewSpending(PureFilter(dp.One)).Open(Pure{-1}); !errors.Is(err, errCharge) {
		t.Error(err)
	}
}
