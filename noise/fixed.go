package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// fixed is a non-negative number in 64.64 fixed point, rounded down: the number
// meant is in [fixed, fixed + 2^-64).
type fixed struct{ whole, frac uint64 }

// toFixed rounds num/den down. What is 2^64 or more becomes the largest fixed;
// nobody asks for exp of minus that and can tell.
func toFixed(num, den *big.Int) fixed {
	if num.IsUint64() && den.IsUint64() { // needs no memory
		whole, rest := bits.Div64(0, num.Uint64(), den.Uint64())
		frac, _ := bits.Div64(rest, 0, den.Uint64())
		return fixed{whole, frac}
	}
	q := new(big.Int).Lsh(num, 64)
	q.Quo(q, den)
	if q.BitLen() > 128 {
		return fixed{math.MaxUint64, math.MaxUint64}
	}
	low := new(big.Int).And(q, new(big.Int).SetUint64(math.MaxUint64))
	return fixed{q.Rsh(q, 64).Uint64(), low.Uint64()}
}

// double returns 2x, rounded down where x was, to within 2^-63 of twice the
// number meant.
func (x fixed) double() fixed {
	if x.whole>>63 != 0 {
		return fixed{math.MaxUint64, math.MaxUint64}
	}
	return fixed{x.whole<<1 | x.frac>>63, x.frac << 1}
}

// one is the number 1 where numbers in [0, 1] are counted in units of 2^-63.
const one = 1 << 63

// times returns the product of two numbers in units of 2^-63, rounded down.
//
// Where a and b are off by at most e and f units, the product is off by at most
// e + f + 1: |ab - AB| <= a|b - B| + B|a - A|, with a and B at most 1.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<1 | lo>>63
}
