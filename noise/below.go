package noise

import (
	"math/big"
	"math/bits"
)

// Below returns a number below n, each with probability exactly 1/n. It panics
// where n is zero.
//
// It is [Uniform] for an n that must stay secret: it draws 128 bits whatever n is,
// and more with probability n 2^-128. The result is floor(U n) for a uniform number U
// in [0, 1), and U is in an interval of length 1/n for each. After 128 digits v, U n
// is in [v n, v n + n] 2^-128; where both ends have the same integer part, so has
// U n, and otherwise more digits tell.
func Below(src *Source, n uint64) uint64 {
	if n == 0 {
		panic("noise: Below needs at least one number to choose from, and n is 0")
	}
	high, low := src.Uint64(), src.Uint64()
	whole, middle := bits.Mul64(high, n)
	over, rest := bits.Mul64(low, n)
	middle, carry := bits.Add64(middle, over, 0)
	whole += carry
	_, carry = bits.Add64(rest, n, 0)
	if _, carry = bits.Add64(middle, 0, carry); carry == 0 {
		return whole
	}
	p := newPrefix(high, 64)
	p.digits.Lsh(p.digits, 64).Or(p.digits, new(big.Int).SetUint64(low))
	p.n = 128
	return p.below(src, n)
}

// below returns floor(U n) for the uniform number U that begins with p.
func (p prefix) below(src *Source, n uint64) uint64 {
	size := new(big.Int).SetUint64(n)
	for {
		p.extend(src)
		a := new(big.Int).Mul(p.digits, size)
		b := new(big.Int).Add(a, size)
		b.Sub(b, bigOne) // U is below the end of its interval
		if a.Rsh(a, p.n).Cmp(b.Rsh(b, p.n)) == 0 {
			return a.Uint64()
		}
	}
}
