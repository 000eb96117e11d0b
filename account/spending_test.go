package account

import (
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

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

// drawClaim draws a price from what is left, above and below it: an adversary
// who reads everything.
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
			s := NewSpending(ZCDPFilter(largest, dp.One-1))
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
		{PureFilter(dp.One), Pure{1.5}, []string{"wanted epsilon 1.5", "left is epsilon 1,", "at most the epsilon"}},
		{BasicFilter(dp.One, 1000), Approx{1.5, 0.5}, []string{"at most the epsilon and delta"}},
		{ZCDPFilter(dp.One, 0), ZCDP{2}, []string{"wanted rho 2", "left is rho 1,"}},
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
	if err := NewSpending(PureFilter(dp.One)).Open(Pure{-1}); !errors.Is(err, ErrCharge) {
		t.Error(err)
	}
}
