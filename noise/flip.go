package noise

import "math/big"

// Flip sets keep[i] to true with probability exactly exp(-r gaps[i]), independently
// for all i. It panics where r is negative or keep is shorter than gaps.
//
// It is [BernoulliExp] for many exponents that must stay secret: every coin takes 64
// bits, the certain ones too, and more with a probability below 2^-58. Every coin
// takes the same steps but in that case.
func Flip(src *Source, r *big.Rat, gaps []uint64, keep []bool) {
	step, certain := newRate(r), r.Sign() == 0
	for i, g := range gaps {
		v := src.Uint64()
		x := step.times(g)
		far := x.whole >= 64 // where expNeg would return 0 at once
		if far {
			x = fixed{63, 0}
		}
		y := expNeg(x)
		if far {
			y = 0
		}
		// The uniform number is in [v/2, v/2 + 1] 2^-63, with v/2 rounded down, and
		// the exponent is off by less than one unit of 2^-63.
		const slack = expError + 1
		switch {
		case g == 0 || certain: // exp(-0) is 1
			keep[i] = true
		case v>>1+1+slack <= y:
			keep[i] = true
		case v>>1 >= y+slack:
			keep[i] = false
		default:
			keep[i] = newPrefix(v, 64).belowExp(src, step.exponent(g), step.den)
		}
	}
}
