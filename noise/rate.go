package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// rate is what an integer gap is multiplied with in an exponent: the exact
// fraction num/den, and floor(2^128 num/den) as three words.
type rate struct {
	num, den         *big.Int
	whole, high, low uint64
}

func newRate(r *big.Rat) rate {
	if r.Sign() < 0 {
		panic("noise: a negative rate: exp(-rate gap) would be no probability")
	}
	q := new(big.Int).Lsh(r.Num(), 128)
	q.Quo(q, r.Denom())
	if q.BitLen() > 192 {
		return rate{r.Num(), r.Denom(), math.MaxUint64, math.MaxUint64, math.MaxUint64}
	}
	var words [24]byte
	q.FillBytes(words[:])
	word := func(b []byte) uint64 { return new(big.Int).SetBytes(b).Uint64() }
	return rate{r.Num(), r.Denom(), word(words[:8]), word(words[8:16]), word(words[16:])}
}

// times returns rate times gap in fixed point. The result is below the number
// meant by less than 2^-63: the rate is too small by less than 2^-128, which the
// gap multiplies by less than 2^64, and the product is cut once. Numbers of 2^64
// and more become the largest fixed.
func (r rate) times(gap uint64) fixed {
	low, _ := bits.Mul64(gap, r.low)
	middle, frac := bits.Mul64(gap, r.high)
	over, whole := bits.Mul64(gap, r.whole)
	frac, carry := bits.Add64(frac, low, 0)
	whole, carry = bits.Add64(whole, middle, carry)
	if over|carry != 0 {
		return fixed{math.MaxUint64, math.MaxUint64}
	}
	return fixed{whole, frac}
}

// exponent returns rate times gap exactly, as a numerator over den.
func (r rate) exponent(gap uint64) *big.Int {
	e := new(big.Int).SetUint64(gap)
	return e.Mul(e, r.num)
}
