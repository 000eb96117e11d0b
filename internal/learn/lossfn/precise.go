package lossfn

import "math/big"

// Precise is the derivative of phi in z, within 2^-bits.
func (l Loss) Precise(z *big.Float, y float64, bits uint) *big.Float {
	y = l.Target(y)
	p := bits + 64 // room for widths up to 2^10, and for the few roundings
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(p).SetFloat64(x) }
	number := func() *big.Float { return new(big.Float).SetPrec(p) }
	switch l.kind {
	case logistic:
		out := falling(number().Mul(z, exact(y)), bits)
		if y > 0 {
			out.Neg(out)
		}
		return out
	case huber:
		// Each of these rounds by 2^-p in proportion, and what is brought into [0, 1] is at most 1.
		// y is a sign, and 1+h has at most 64 bits.
		m := number().Mul(exact(y), z)
		out := number().Quo(m.Sub(number().Add(exact(1), exact(l.width)), m), exact(2*l.width))
		return out.Mul(clamp(out, exact(0), exact(1)), exact(-y))
	}
	return clamp(number().Sub(z, exact(y)), exact(-l.width), exact(l.width))
}

func clamp(x, lo, hi *big.Float) *big.Float {
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// falling is 1/(1 + e^t), within 2^-bits.
//
// Where |t| >= bits it is within e^-|t| < 2^-bits of 0 or 1. Otherwise e^|t| is the 2^k-th power of
// the series for s = |t|/2^k < 2^-8. All terms of that are positive, so N of them have an error of
// (3N+1) 2^-p in proportion, with what is left out (less than the first term that is left out,
// twice) among it; squaring k times makes it 2^k times as much and adds less than 2^k roundings. t
// may be rounded to p bits first: that moves e^|t| by |t| 2^-p in proportion, at most bits 2^-p.
// With N < 2^12 all this is below 2^(k+16-p) while bits < 2^15, and the two operations of 1/(1+e)
// are far below; p is larger than that asks for.
func falling(t *big.Float, bits uint) *big.Float {
	negative := t.Signbit()
	one := big.NewFloat(1)
	if limit := new(big.Float).SetUint64(uint64(bits)); new(big.Float).Abs(t).Cmp(limit) >= 0 {
		if negative {
			return one
		}
		return new(big.Float)
	}
	k := max(0, t.MantExp(nil)+8) // |t| < 2^MantExp
	if bits > 256 {
		k += 8 // fewer terms, for more squarings
	}
	p := bits + uint(k) + 32
	s := new(big.Float).SetPrec(p).Abs(t)
	s.SetMantExp(s, -k)
	sum := new(big.Float).SetPrec(p).SetInt64(1)
	term := new(big.Float).SetPrec(p).SetInt64(1)
	divisor := new(big.Float).SetPrec(64)
	for i := int64(1); i < 1<<12; i++ {
		term.Mul(term, s)
		term.Quo(term, divisor.SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -int(p) {
			break
		}
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	// 1/(1+e), or e/(1+e) = 1/(1 + 1/e)
	if negative {
		above := new(big.Float).SetPrec(p).Add(sum, one)
		return sum.Quo(sum, above)
	}
	sum.Add(sum, one)
	return sum.Quo(new(big.Float).SetPrec(p).SetInt64(1), sum)
}
