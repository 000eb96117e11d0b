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

// double returns 2x, rounded down where x was, to within 2^-63 of twice the number meant.
func (x fixed) double() fixed {
	if x.whole>>63 != 0 {
		return fixed{math.MaxUint64, math.MaxUint64}
	}
	return fixed{x.whole<<1 | x.frac>>63, x.frac << 1}
}

// fixedOne is the number 1 where numbers in [0, 1] are counted in units of 2^-63.
const fixedOne = 1 << 63

// mulFixed returns the product of two numbers in units of 2^-63, rounded down.
//
// Where a and b are off by at most e and f units, the product is off by at most
// e + f + 1: |ab - AB| <= a|b - B| + B|a - A|, with a and B at most 1.
func mulFixed(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<1 | lo>>63
}

// expError bounds the error of expNeg, in units of 2^-63.
const expError = 8

// ln2 is floor(2^64 ln 2), digits from OEIS A002162.
const ln2 = 0xB17217F7D1CF79AB

// taylor holds floor(2^63/n!).
var taylor = func() (c [21]uint64) {
	f := uint64(1)
	for n := range c {
		c[n] = fixedOne / f
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
// Proof of the bound, in units of 2^-63. Write x = m ln 2 + t, so that exp(-x) is exp(-t)/2^m.
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

// times returns rate times gap in fixed point. The result is below the number meant by less than
// 2^-63: the rate is too small by less than 2^-128, which the gap multiplies by less than 2^64, and
// the product is cut once. Numbers of 2^64 and more become the largest fixed.
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

type wide struct{ hi, lo uint64 }

func (a wide) add(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

func (a wide) atMost(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo <= b.lo }

// shift multiplies by 2^n, or divides by 2^-n and rounds down. A shift by 128 or
// more to the right leaves zero.
func (a wide) shift(n int) wide {
	switch {
	case n >= 64:
		return wide{a.lo << (n - 64), 0}
	case n >= 0:
		return wide{a.hi<<n | a.lo>>(64-n), a.lo << n}
	case n > -64:
		return wide{a.hi >> -n, a.lo>>-n | a.hi<<(64+n)}
	}
	return wide{0, a.hi >> (-n - 64)}
}

// share returns floor(a v/2^64).
func (a wide) share(v uint64) wide {
	hi, lo := bits.Mul64(a.hi, v)
	low, _ := bits.Mul64(a.lo, v)
	return wide{hi, lo}.add(wide{0, low})
}

var bigOne = big.NewInt(1)

// span encloses a real number: lo <= 2^prec r <= hi, at a precision that its
// user knows. Every operation rounds outwards, so that the enclosure is a proof
// whatever the precision; a higher precision only makes it narrower.
type span struct{ lo, hi *big.Int }

func (s span) add(t span) {
	s.lo.Add(s.lo, t.lo)
	s.hi.Add(s.hi, t.hi)
}

func (s span) clone() span { return span{new(big.Int).Set(s.lo), new(big.Int).Set(s.hi)} }

// scale multiplies s, in place, by another number that is not negative. The
// scratch saves memory, which is what costs most here.
func (s span) scale(t span, prec uint, scratch *big.Int) {
	s.lo.Rsh(scratch.Mul(s.lo, t.lo), prec)
	s.hi.Rsh(scratch.Mul(s.hi, t.hi), prec)
	s.hi.Add(s.hi, bigOne)
}

// upRsh divides x by 2^n in place and rounds up, to the next integer that is larger.
func upRsh(x *big.Int, n uint) *big.Int {
	x.Rsh(x, n)
	return x.Add(x, bigOne)
}

// expSpan encloses exp(-num/den) for num >= 0 and den > 0.
//
// The argument is halved until it is below 2^-8, the alternating series is summed, and the result
// is squared as often. With y the halved argument, Y = floor(2^q y), and all in units of 2^-q:
//
//   - A term is the previous one times Y/n, rounded down twice, so its error e
//     becomes at most (e/256 + 1)/n + 1, which stays below 3. The series
//     alternates and falls, so that what follows the last term that is not zero is
//     at most the next term, and that is below 3 as well. With n-1 terms summed the sum is
//     within 3n of exp(-Y).
//   - y is above Y by less than 1 unit, so exp(-y) is below exp(-Y) by less than 1.
//
// The guard bits make the result about as narrow as prec allows. They have no
// part in its being an enclosure.
func expSpan(num, den *big.Int, prec uint) span {
	if num.Sign() == 0 {
		e := new(big.Int).Lsh(bigOne, prec)
		return span{e, new(big.Int).Set(e)}
	}
	size := num.BitLen() - den.BitLen() + 1 // num/den < 2^size
	if size > 64 || new(big.Int).Mul(den, new(big.Int).SetUint64(uint64(prec))).Cmp(num) <= 0 {
		return span{new(big.Int), big.NewInt(1)} // num/den >= prec, and exp(-prec) < 2^-prec
	}
	halvings := uint(max(size, 0) + 8)
	q := prec + halvings + 16
	y := new(big.Int).Lsh(num, q-halvings)
	y.Quo(y, den)

	term := new(big.Int).Lsh(bigOne, q)
	sum := new(big.Int).Set(term)
	n := int64(1)
	for ; ; n++ {
		term.Mul(term, y).Rsh(term, q)
		term.Quo(term, big.NewInt(n))
		if term.Sign() == 0 {
			break
		}
		if n%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	slack := big.NewInt(3 * n)
	hi := new(big.Int).Add(sum, slack)
	lo := sum.Sub(sum, slack.Add(slack, bigOne))
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	e := span{lo, hi}
	for range halvings {
		e.scale(e, q, term)
	}
	return span{e.lo.Rsh(e.lo, q-prec), upRsh(e.hi, q-prec)}
}
