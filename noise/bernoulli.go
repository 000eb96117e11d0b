package noise

import "math/big"

// BernoulliExp returns true with probability exactly exp(-x). It panics where x
// is negative. It draws 32 bits and more only where these do not decide, which
// is once in billions of calls.
func BernoulliExp(src *Source, x *big.Rat) bool {
	switch x.Sign() {
	case -1:
		panic("noise: BernoulliExp of a negative number: exp(-x) is no probability")
	case 0:
		return true
	}
	num, den := x.Num(), x.Denom()
	// The fixed-point argument is off by less than 2^-64, half a unit.
	return coin(src, src.Bits(32), expNeg(toFixed(num, den)), expError+1, func() (*big.Int, *big.Int) { return num, den })
}

// coin reports whether the uniform number with the 32 leading digits v is below
// exp(-x). It is given y, exp(-x) in units of 2^-63, off by at most slack units;
// where that does not decide, it asks for x itself.
//
// The uniform number is in [v, v+1] 2^-32.
func coin(src *Source, v, y, slack uint64, x func() (num, den *big.Int)) bool {
	if (v+1)<<31+slack <= y {
		return true
	}
	if v<<31 >= y+slack {
		return false
	}
	num, den := x()
	return newPrefix(v, 32).belowExp(src, num, den)
}
