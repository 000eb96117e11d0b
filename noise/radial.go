package noise

import "math/big"

// NewRadial draws a vector of n numbers whose density is in proportion to exp(-|x|),
// with the Euclidean norm: the noise of the K-norm mechanism (Hardt, Talwar 2010) for
// that norm, and of Chaudhuri, Monteleoni, Sarwate 2011.
//
// In n dimensions |x| has a density in proportion to t^(n-1) exp(-t), which is the sum of n
// exponential numbers, and the direction is independent of it and uniform, which the direction
// of n independent normal numbers is: x = (e_1 + ... + e_n) z/|z|.
func NewRadial(src *Source, n int) *Reals {
	r := &Reals{src: src, steps: make([]positive, n), normals: make([]normal, n)}
	c := &drawn{src: src}
	for i := range r.steps {
		x := exponential(c)
		x.part = x.part.clone()
		r.steps[i] = x
	}
	r.drawNormals(c)
	return r
}

// scaleTo encloses length z_i/|z|, all in the same units, or says that |z| is not known
// to be above zero.
//
// All numbers are integers in units of 2^-p. Squares are in units of 2^-2p, so the
// integer root of their sum is in the units of z, rounded down, and one more is above
// the root. A product of two units divided by one is one unit. Everything is positive and rises
// or falls in each of its parts, so the ends of the intervals give the ends of the
// result, rounded down and up.
func scaleTo(length span, z []span) ([]span, bool) {
	lo, hi, square := new(big.Int), new(big.Int), new(big.Int)
	for _, s := range z {
		lo.Add(lo, square.Mul(s.lo, s.lo))
		hi.Add(hi, square.Mul(s.hi, s.hi))
	}
	lo.Sqrt(lo)
	hi.Sqrt(hi).Add(hi, bigOne)
	if len(z) > 0 && lo.Sign() == 0 {
		return nil, false
	}
	out := make([]span, len(z))
	for i, s := range z {
		a := new(big.Int).Mul(length.lo, s.lo)
		b := new(big.Int).Mul(length.hi, s.hi)
		b.Quo(b, lo)
		out[i] = span{a.Quo(a, hi), b.Add(b, bigOne)}
	}
	return out, true
}
