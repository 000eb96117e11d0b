package noise

import (
	"math"
	"math/big"
)

// Round returns the whole numbers nearest to scale times the numbers. It asks for
// digits until no interval has a half in it, so that what it returns is the rounding of
// the real numbers themselves. One that does not fit in an int64 becomes 2^63-1 or
// -(2^63-1). It panics where the scale is not positive.
//
// How many digits it asks for depends on the numbers and the scale and on nothing else.
func (r *Reals) Round(scale *big.Rat) []int64 {
	if scale.Sign() <= 0 {
		panic("noise: Round needs a scale above zero")
	}
	for {
		if r.words > 0 {
			if out, ok := r.nearest(scale); ok {
				return out
			}
		}
		r.extend()
	}
}

// nearest rounds every number, where its digits tell how. The number is half-way between
// two integers with probability zero.
func (r *Reals) nearest(scale *big.Rat) ([]int64, bool) {
	known, ok := r.magnitudes()
	if !ok {
		return nil, false
	}
	// floor(scale x + 1/2) for x = m 2^-prec is the quotient of 2 num m + unit by 2 unit,
	// where unit = den 2^prec.
	unit := new(big.Int).Lsh(scale.Denom(), r.prec())
	twice := new(big.Int).Lsh(unit, 1)
	num := new(big.Int).Lsh(scale.Num(), 1)
	whole := func(m *big.Int) *big.Int {
		m.Mul(m, num).Add(m, unit)
		return m.Quo(m, twice)
	}
	out := make([]int64, len(known))
	for i, k := range known {
		a := whole(k.lo)
		if a.Cmp(whole(k.hi)) != 0 {
			return nil, false
		}
		v := int64(math.MaxInt64)
		if a.IsInt64() {
			v = a.Int64()
		}
		if r.normals[i].minus {
			v = -v
		}
		out[i] = v
	}
	return out, true
}
