package account

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

// exactExp is exp(x) to some 300 bits, by halving the argument until Taylor's
// series is short.
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

// units is a number in units of account.
func units(x *big.Float) *big.Float { return new(big.Float).SetPrec(400).SetMantExp(x, 40) }

func TestRhoOfPureIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := math.Exp(rapid.Float64Range(-28, 6.9).Draw(t, "ln epsilon"))
		c, err := Pure{epsilon}.Charge()
		if err != nil {
			t.Fatal(err)
		}
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
		a, err := dp.CeilFloat(f)
		if err != nil {
			t.Fatal(err)
		}
		return a
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
		if got, err := c.Charge(); !errors.Is(err, ErrCharge) || got != (Charge{}) {
			t.Errorf("%T%v costs %v (%v)", c, c, got, err)
		}
	}
}
