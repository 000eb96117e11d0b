package survey

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// reference computes 2^200 b/(b + exp(epsilon)), to some 190 digits, another way: the
// exponential by squaring (1 + y + y^2/2 + ... + y^8/8!) with y = x/2^32, in floats of 400
// bits.
func reference(b uint64, epsilon dp.Amount) *big.Float {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	y := f(0).SetMantExp(f(0).SetUint64(uint64(epsilon)), -40-32)
	sum, term := f(1), f(1)
	for i := 1; i <= 12; i++ {
		term.Mul(term, y)
		term.Quo(term, f(float64(i)))
		sum.Add(sum, term)
	}
	for range 32 {
		sum.Mul(sum, sum)
	}
	n := f(float64(b))
	return n.Quo(n, sum.Add(sum, f(float64(b))))
}

var coins = []struct {
	b       uint64
	epsilon string
}{{1, "1"}, {1, "0.1"}, {1, "1e-12"}, {1, "32"}, {3, "1"}, {2, "5"}, {1 << 24, "0.001"}, {1<<24 - 2, "20"}, {7, "2.0794415416798357"}}

// TestCoinEncloses compares the enclosure with the reference, and asks that it is tight.
func TestCoinEncloses(t *testing.T) {
	for _, c := range coins {
		k := newCoin(c.b, amount(t, c.epsilon))
		want := reference(c.b, amount(t, c.epsilon))
		for _, n := range []uint{64, 100, 160} {
			lo, hi := k.enclose(n)
			exact, _ := new(big.Float).SetMantExp(want, int(n)).Int(nil)
			// The integer part of the truth is between, and they are a unit or two apart.
			if lo.Cmp(exact) > 0 || hi.Cmp(exact) < 0 || new(big.Int).Sub(hi, lo).Cmp(big.NewInt(2)) > 0 {
				t.Errorf("b = %d, epsilon %s, %d digits: [%v, %v] around %v", c.b, c.epsilon, n, lo, hi, exact)
			}
		}
	}
}

// TestCoinIsExact: the decision is a comparison of the digits with the probability, at every
// place where the digits can end it. Bisection over the first 64 digits finds where it
// changes, and there over the next 64.
func TestCoinIsExact(t *testing.T) {
	for _, c := range coins {
		k := newCoin(c.b, amount(t, c.epsilon))
		want := reference(c.b, amount(t, c.epsilon))
		first := bisect(func(v uint64) bool { return k.flip(digits(v, 0, 0)) })
		// The digits of the probability begin with first, and the next word decides.
		second := bisect(func(v uint64) bool { return k.flip(digits(first-1, v, 0)) })
		got := new(big.Int).SetUint64(first - 1)
		got.Lsh(got, 64)
		got.Add(got, new(big.Int).SetUint64(second-1))
		exact, _ := new(big.Float).SetMantExp(want, 128).Int(nil)
		if got.Cmp(exact) != 0 {
			t.Errorf("b = %d, epsilon %s: changes at %x, want %x", c.b, c.epsilon, got, exact)
		}
		// Both sides of the change, with all digits that follow.
		for _, v := range []uint64{0, 1, 1 << 32, first / 2, first - 2} {
			if v < first-1 && !k.flip(digits(v, math.MaxUint64)) {
				t.Errorf("b = %d, epsilon %s: false at %x", c.b, c.epsilon, v)
			}
		}
		for _, v := range []uint64{first, first + 1, math.MaxUint64} {
			if k.flip(digits(v)) {
				t.Errorf("b = %d, epsilon %s: true at %x", c.b, c.epsilon, v)
			}
		}
	}
}

// bisect returns the first word at which a decision is no longer true.
func bisect(decide func(uint64) bool) uint64 {
	lo, hi := uint64(0), uint64(math.MaxUint64)
	for lo < hi {
		if mid := lo + (hi-lo)/2; decide(mid) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func TestCoinAllocates(t *testing.T) {
	k, src := newCoin(1, dp.One), seeded(1)
	if n := testing.AllocsPerRun(10000, func() { k.flip(src) }); n != 0 {
		t.Errorf("%v allocations per flip", n)
	}
}
