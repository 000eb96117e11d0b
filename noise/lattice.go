package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// lattice is the distribution P(k) ~ exp(-rate |k|^power) on the integers, the
// discrete Laplace where power is 1 and the discrete Gaussian where it is 2,
// prepared for drawing. It does not change after newLattice.
//
// The magnitude is written as W h + u, with W = 2^shift and 0 <= u < W: block h
// and offset u. Then
//
//	exp(-rate (W h + u)^power) =
//	  exp(-step h^power) exp(-rate ((W h + u)^power - (W h)^power))
//
// with step = rate W^power. Block h is drawn with a probability in proportion to
// the first factor, u uniformly, and the pair is kept with the second factor as
// probability. What is kept has the product as its weight. A sign is drawn, and
// zero with a minus is refused, so that zero is not counted twice.
//
// Narrow distributions have W = 1: there is no offset, and the weights of all
// blocks but 0 are doubled, so that each stands for both signs.
type lattice struct {
	power    uint
	num, den *big.Int // rate
	shift    uint
	step     fixed
	table    table
}

// newLattice prepares the lattice of rate num/den, which nobody may change later.
//
// The step of a lattice with shift > 0 is in (1/16, 1/8] where power is 1 and in
// (1/512, 1/128] where it is 2: W is between an eighth and a sixteenth of the
// scale or of sigma. With shift = 0 it is at least as large. Narrower blocks
// would be kept more often, but take longer to tabulate.
func newLattice(power uint, num, den *big.Int, shift uint) *lattice {
	l := &lattice{power: power, num: num, den: den, shift: shift}
	l.step = toFixed(l.steps(), den)
	l.table.build(l)
	return l
}

// steps returns the numerator of step over den.
func (l *lattice) steps() *big.Int { return new(big.Int).Lsh(l.num, l.shift*l.power) }

// choices are the random decisions that a draw is made of. Production takes them
// from a Source; a test takes all of them in turn and adds up what every result
// weighs, through the same draw.
type choices interface {
	// digits returns a uniform number of n bits.
	digits(n uint) uint64
	// block returns h with a probability in proportion to its weight.
	block(l *lattice) uint64
	// accept returns true with probability exp(-rate ((W h + u)^power - (W h)^power)).
	accept(l *lattice, h, u uint64) bool
}

// draw returns k with probability P(k), or saturates: a k that leaves int64 has
// probability below exp(-2^22), see the package comment.
func (l *lattice) draw(c choices) int64 {
	if l.shift == 0 {
		h := c.block(l)
		if h == 0 {
			return 0
		}
		return signed(l.magnitude(h, 0), c.digits(1))
	}
	for {
		h := c.block(l)
		v := c.digits(l.shift + 1)
		u, minus := v>>1, v&1
		if !c.accept(l, h, u) {
			continue
		}
		k := l.magnitude(h, u)
		if k == 0 && minus == 1 {
			continue
		}
		return signed(k, minus)
	}
}

func (l *lattice) magnitude(h, u uint64) int64 {
	if h > math.MaxInt64>>l.shift {
		return math.MaxInt64
	}
	return int64(h<<l.shift | u)
}

// signed returns k, or -k where minus is 1, without a branch that no processor
// could predict.
func signed(k int64, minus uint64) int64 {
	return (k ^ -int64(minus)) + int64(minus)
}

// random takes choices from a Source.
type random struct{ src *Source }

func (r random) digits(n uint) uint64 { return r.src.Bits(n) }

func (r random) block(l *lattice) uint64 { return l.table.pick(l, r.src) }

// acceptError bounds the error of the exponent in accept, in units of 2^-64.
const acceptError = 1 << 13

// accept decides on 8 random bits where it can, because exp(-x) >= 1 - x and x is
// small; on 32 bits and expNeg nearly always else; and exactly where these
// do not decide.
//
// The exponent is x = step f where power is 1 and x = step f (2h + f) where it is 2,
// with f = u/W. f is exact in 0.64 fixed point. step is too small by less than 1
// unit of 2^-64, and so step f by less than 2 after rounding. Times 2h + f, which
// is at most 2^11, and rounded, that is less than 2^12 + 1 units, within
// acceptError. From the tail come blocks so far out that this does not hold, or
// that x is not small; they are left to the exact arithmetic.
func (r random) accept(l *lattice, h, u uint64) bool {
	f := u << (64 - l.shift)
	x, _ := bits.Mul64(f, l.step.frac)
	if l.power == 2 {
		over, twice := bits.Mul64(x, 2*h)
		once, _ := bits.Mul64(x, f)
		sum, carry := bits.Add64(twice, once, 0)
		if over|carry != 0 || h >= 1<<10 {
			return r.acceptExact(l, h, u, r.src.Bits(32))
		}
		x = sum
	}
	if x >= 15<<60 {
		return r.acceptExact(l, h, u, r.src.Bits(32))
	}
	v := r.src.Bits(8)
	// The uniform number is at most (v+1)/256, so it is below exp(-x) for certain
	// where x <= 1 - (v+1)/256 = (255-v)/256.
	if x+acceptError <= (255-v)<<56 {
		return true
	}
	v = v<<24 | r.src.Bits(24)
	y := expNeg(fixed{0, x})
	const slack = acceptError/2 + expError // in units of 2^-63
	return coin(r.src, v, y, slack, func() (*big.Int, *big.Int) { return l.exponent(h, u), l.den })
}

func (r random) acceptExact(l *lattice, h, u, v uint64) bool {
	return newPrefix(v, 32).belowExp(r.src, l.exponent(h, u), l.den)
}

// exponent returns rate ((W h + u)^power - (W h)^power), times den.
func (l *lattice) exponent(h, u uint64) *big.Int {
	e := new(big.Int).SetUint64(u)
	if l.power == 2 { // u (2 W h + u)
		b := new(big.Int).SetUint64(h)
		b.Lsh(b, l.shift+1)
		e.Mul(e, b.Add(b, e))
	}
	return e.Mul(e, l.num)
}
