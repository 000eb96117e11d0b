package survey

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// randomness is what a client draws from. The tests have one that walks through every
// way the draws can come out.
type randomness interface {
	flip(*coin) bool
	below(n uint64) uint64
}

// dice are the randomness of production.
type dice struct{ src *noise.Source }

func (d dice) flip(c *coin) bool     { return c.flip(d.src) }
func (d dice) below(n uint64) uint64 { return noise.Uniform(d.src, n) }

// coin is true with probability exactly b/(b + exp(epsilon)): that of a lie, where
// there are b of them and the truth is exp(epsilon) times as likely as each.
//
// It compares a uniform number U, drawn digit by digit, with that probability, in
// the way of package noise: after n digits U is known to be in an interval of length
// 2^-n, and where the whole interval is on one side, so is U. The probability is
// enclosed as tightly as the digits need, by integers. exp of a rational other than
// 0 is transcendental (Lindemann 1882), so the probability is no fraction and the
// digits decide in the end; that n of them do not has probability 2^-n.
//
// Two coins of probability exp(-epsilon) and one half would do as well, by
// rejection. This one takes eight digits nearly always, and oue needs k of them.
type coin struct {
	b       uint64
	epsilon dp.Amount
	lo, hi  uint64 // lo <= 2^64 b/(b + exp(epsilon)) <= hi
}

func newCoin(b uint64, epsilon dp.Amount) *coin {
	c := &coin{b: b, epsilon: epsilon}
	lo, hi := c.enclose(64)
	c.lo, c.hi = lo.Uint64(), hi.Uint64()
	return c
}

func (c *coin) flip(src *noise.Source) bool {
	v := src.Bits(8) // U is in [v, v+1) 2^-8
	if v < c.lo>>56 {
		return true
	}
	if v > c.hi>>56 {
		return false
	}
	v = v<<56 | src.Bits(56)
	if v < c.lo {
		return true
	}
	if v >= c.hi {
		return false
	}
	return c.refine(src, new(big.Int).SetUint64(v))
}

// refine decides where 64 digits do not, once in 2^63 flips.
func (c *coin) refine(src *noise.Source, digits *big.Int) bool {
	const guard = 32
	next := new(big.Int)
	for n := uint(128); ; n += 64 {
		digits.Lsh(digits, 64)
		digits.Or(digits, next.SetUint64(src.Uint64()))
		lo, hi := c.enclose(n + guard)
		// U is in [digits, digits+1) 2^-n.
		if end := next.Add(digits, big.NewInt(1)); end.Lsh(end, guard).Cmp(lo) <= 0 {
			return true
		}
		if begin := next.Lsh(digits, guard); begin.Cmp(hi) >= 0 {
			return false
		}
	}
}

// enclose returns integers around 2^n b/(b + exp(epsilon)), which is decreasing in
// the exponential.
func (c *coin) enclose(n uint) (lo, hi *big.Int) {
	prec := n + 64
	low, high := expSpan(c.epsilon, prec)
	b := new(big.Int).SetUint64(c.b)
	scaled := new(big.Int).Lsh(b, prec)
	above := new(big.Int).Lsh(scaled, n)
	lo = new(big.Int).Quo(above, high.Add(high, scaled))
	hi = above.Quo(above, low.Add(low, scaled))
	return lo, hi.Add(hi, big.NewInt(1))
}

// expSpan returns integers around 2^prec exp(x), x = epsilon, by Taylor's series, all
// of whose terms are positive: one sum of terms rounded down and one of terms rounded
// up. From i+1 >= 2x on each term is at most half the one before, so all that follow
// term i are together at most as much as it is.
func expSpan(epsilon dp.Amount, prec uint) (lo, hi *big.Int) {
	x := new(big.Int).SetUint64(uint64(epsilon)) // in units of 2^-40
	one := big.NewInt(1)
	low := new(big.Int).Lsh(one, prec)
	high := new(big.Int).Set(low)
	lo, hi = new(big.Int).Set(low), new(big.Int).Set(low)
	by, rest := new(big.Int), new(big.Int)
	for i := uint64(1); ; i++ {
		by.SetUint64(i)
		by.Lsh(by, 40)
		low.Mul(low, x)
		low.Quo(low, by)
		high.Mul(high, x)
		high.QuoRem(high, by, rest)
		if rest.Sign() != 0 {
			high.Add(high, one)
		}
		lo.Add(lo, low)
		hi.Add(hi, high)
		if (i+1)<<40 >= 2*uint64(epsilon) && high.Cmp(one) <= 0 {
			return lo, hi.Add(hi, high)
		}
	}
}
