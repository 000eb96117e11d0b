package noise

import "math/bits"

// expError bounds the error of expNeg, in units of 2^-63.
const expError = 8

// ln2 is floor(2^64 ln 2), digits from OEIS A002162.
const ln2 = 0xB17217F7D1CF79AB

// taylor holds floor(2^63/n!).
var taylor = func() (c [21]uint64) {
	f := uint64(1)
	for n := range c {
		c[n] = one / f
		f *= uint64(n + 1)
	}
	return c
}()

// expNeg returns exp(-x) in units of 2^-63, off by at most expError of them, for
// the fixed-point number x itself. An argument that is off by e moves the result
// by at most e more, because the slope of exp(-x) is at most 1 in size.
//
// It is used to decide quickly and never to decide finally: whoever compares
// with it adds the error on both sides and refines where that does not suffice.
//
// Proof of the bound, in units of 2^-63. Write x = m ln 2 + t, so that exp(-x) is
// exp(-t)/2^m.
//   - From 64 on, exp(-x) < 2^-92, and 0 is off by less than 1.
//   - The constant ln2 is less than 2^-64 too small, so t, where the code has it
//     in [0, ln2], is too large by less than m 2^-64, that is m/2 units, and the
//     result is off by less than (m/2)/2^m <= 1/4.
//   - exp(-t) is summed to degree 20. What is left out is at most t^21/21!, less
//     than 2^-76.
//   - Horner's rule s := c[n] - t s rounds c[n] down by less than 1 and t s down by
//     less than 1, in opposite directions, so a step adds an error between -1 and
//     +1 and passes on the previous one multiplied by t < 0.6932. Together less
//     than 1/(1-0.6932) < 3.3.
//   - The shift by m rounds down by less than 1.
//
// The sum is below 5. No step goes below zero: s <= c[n+1] <= c[n].
func expNeg(x fixed) uint64 {
	if x.whole >= 64 {
		return 0
	}
	s, m := expParts(x)
	return s >> m
}

// expParts returns s and m with exp(-x) close to s 2^-m, s in units of 2^-63 and
// at most one, for x below 128.
//
// By the proof above, without its last step, s is within 3.4 + m/2 units of
// exp(-t). The shift by m is left to the caller, who may multiply first and lose no
// digits of a small number: s is at least about a half, so its error is relative.
func expParts(x fixed) (s, m uint64) {
	// m is the integer part of x/ln 2 or one less: 1477/1024 is just below
	// 1/ln 2, by a share that makes less than one at 128, and x is cut to ten
	// fractional bits. The loop corrects what is missing.
	m = (x.whole<<10 | x.frac>>54) * 1477 >> 20
	hi, lo := bits.Mul64(m, ln2)
	t, borrow := bits.Sub64(x.frac, lo, 0)
	over, _ := bits.Sub64(x.whole, hi, borrow)
	for over > 0 || t > ln2 {
		t, borrow = bits.Sub64(t, ln2, 0)
		over -= borrow
		m++
	}
	s = taylor[20]
	for n := 19; n >= 0; n-- {
		hi, _ := bits.Mul64(t, s)
		s = taylor[n] - hi
	}
	return s, m
}
