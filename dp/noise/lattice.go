package noise

import (
	"math"
	"math/big"
	"math/bits"
	"sort"
)

// lattice is the distribution P(k) ~ exp(-rate |k|^power) on the integers, the
// discrete Laplace where power is 1 and the discrete Gaussian where it is 2,
// prepared for drawing. It does not change after newLattice.
//
// The magnitude is written as W h + u, with W = 2^shift and 0 <= u < W: block h and offset u. Then
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
// The step of a lattice with shift > 0 is in (1/16, 1/8] where power is 1 and in (1/512, 1/128]
// where it is 2: W is between an eighth and a sixteenth of the scale or of sigma. With shift = 0 it
// is at least as large. Narrower blocks would be kept more often, but take longer to tabulate.
func newLattice(power uint, num, den *big.Int, shift uint) *lattice {
	l := &lattice{power: power, num: num, den: den, shift: shift}
	l.step = toFixed(l.steps(), den)
	l.table.build(l)
	return l
}

// steps returns the numerator of step over den.
func (l *lattice) steps() *big.Int { return new(big.Int).Lsh(l.num, l.shift*l.power) }

// choices are the random decisions that a draw is made of. Production takes them from a Source; a
// test takes all of them in turn and adds up what every result weighs, through the same draw.
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
		return withSign(l.magnitude(h, 0), c.digits(1))
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
		return withSign(k, minus)
	}
}

func (l *lattice) magnitude(h, u uint64) int64 {
	if h > math.MaxInt64>>l.shift {
		return math.MaxInt64
	}
	return int64(h<<l.shift | u)
}

// withSign returns k, or -k where minus is 1, without a branch that no processor could predict.
func withSign(k int64, minus uint64) int64 { return (k ^ -int64(minus)) + int64(minus) }

// sourceChoices takes choices from a Source.
type sourceChoices struct{ src *Source }

func (r sourceChoices) digits(n uint) uint64    { return r.src.Bits(n) }
func (r sourceChoices) block(l *lattice) uint64 { return l.table.pick(l, r.src) }

// acceptError bounds the error of the exponent in accept, in units of 2^-64.
const acceptError = 1 << 13

// accept decides on 8 random bits where it can, because exp(-x) >= 1 - x and x is small; on 32 bits
// and expNeg nearly always else; and exactly where these do not decide.
//
// The exponent is x = step f where power is 1 and x = step f (2h + f) where it is 2, with f = u/W.
// f is exact in 0.64 fixed point. step is too small by less than 1 unit of 2^-64, and so step f by
// less than 2 after rounding. Times 2h + f, which is at most 2^11, and rounded, that is less than
// 2^12 + 1 units, within acceptError. From the tail come blocks so far out that this does not hold,
// or that x is not small; they are left to the exact arithmetic.
func (r sourceChoices) accept(l *lattice, h, u uint64) bool {
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
	return decideBelowExp(r.src, v, y, slack, func() (*big.Int, *big.Int) { return l.exponent(h, u), l.den })
}

func (r sourceChoices) acceptExact(l *lattice, h, u, v uint64) bool {
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

const (
	slotBits = 11      // digits that the first look-up takes
	restBits = 21      // digits that the second one adds to make 32
	mixed    = 1 << 15 // marks a slot that does not lie within one block
)

// table finds the block that a uniform number falls into when the blocks are laid
// out side by side in [0, 1), each as long as its probability.
//
// bound[j] stands for 2^32 c, where c is the left end of block j, and is close below it: bound[j]
// <= 2^32 c < bound[j] + 2. A uniform number with the 32 leading digits v lies in [v, v+1] 2^-32,
// so it is left of c for certain where v < bound[j], right of c for certain where v >= bound[j] +
// 2, and these digits do not tell where v is one of the two values between. Then, and in the tail
// that is not tabulated, the exact arithmetic of pickExact decides.
//
// slot answers for most of the numbers from their first 11 digits alone.
type table struct {
	slot  [1 << slotBits]uint16
	bound []uint32 // the first is 0, and the last begins the tail
}

func (t *table) pick(l *lattice, src *Source) uint64 {
	s := src.Bits(slotBits)
	e := t.slot[s]
	if e < mixed {
		return uint64(e)
	}
	return t.pickMixed(l, src, s)
}

func (t *table) pickMixed(l *lattice, src *Source, s uint64) uint64 {
	v := uint32(s<<restBits | src.Bits(restBits))
	j := int(t.slot[s] &^ mixed)
	for j+1 < len(t.bound) && t.bound[j+1] <= v {
		j++
	}
	if j == len(t.bound)-1 || j > 0 && v-t.bound[j] < 2 {
		return l.pickExact(src, newPrefix(uint64(v), 32))
	}
	return uint64(j)
}

// build fills the table. That takes microseconds, because a table that is right to
// 2^-36 is good enough, and 64-bit integers suffice for that.
//
// The weights exp(-step h^power) follow from each other by multiplication with
// a ratio. Where power is 1 it is exp(-step) always. Where power is 2 it is
// exp(-step (2h+1)), and falls by exp(-2 step) from block to block.
//
// Proof that the bounds are right to 2^-36. Count errors in units of 2^-63.
//   - exp(-step) and exp(-2 step) are off by at most 8 + 2 = 10 (expNeg, and step
//     rounded down).
//   - A ratio is off by at most 10 where power is 1, and by at most 10 + 11h after h
//     multiplications where power is 2 (see times).
//   - A weight is then off by at most 11h, or by at most 11 h(h+1)/2.
//   - The summation ends when a weight is below 2^-48. A step is more than 1/16
//     where power is 1 and more than 1/512 where it is 2, and products are rounded
//     down, so a weight in the code is at most exp(-h/16), or exp(-h^2/512), times
//     (1 + 2^-58)^(h^2), which is next to nothing. So n <= 533 (48 ln 2 times 16)
//     weights are summed, or n <= 131 (the root of 48 ln 2 times 512).
//   - The sum of n weights is off by at most 11 n^2/2, or 11 n^3/6, both at most
//     2^22, and by 2^23 where weights are doubled. That is 2^-40.
//   - Weights are summed in units of 2^-56, rounded down, which adds at most
//     2 533 2^-56, less than 2^-45.
//   - What is not summed is a tail. Its first weight is below 2^-47 (power 1) or
//     2^-46 (power 2), errors included, and the tail is at most 1/(1-r) times that,
//     with r the ratio there: 16.6 times (power 1, step 1/16), or 2.7 times (power
//     2, where r < exp(-2 step n) with step n^2 > 31 and n <= 131). Doubled, that is
//     less than 2^-41.
//
// So any partial sum, and the total, are off by less than 2^-39. The left end c of a block is a
// quotient of the two, at most 1, and the total is at least 1, so c is off by less than 2^-38.
// Taking off 2^-36 leaves a number that is not above c; 2^32 times that, cut to an integer, is
// below 2^32 c by less than 1 + 2^32 (2^-36 + 2^-38) < 2.
func (t *table) build(l *lattice) {
	ratio := expNeg(l.step)
	fall := uint64(fixedOne)
	if l.power == 2 {
		fall = expNeg(l.step.double())
	}
	var sums [640]uint64 // sums[j] is the left end of block j, in units of 2^-56
	n, total := 0, uint64(0)
	for weight := uint64(fixedOne); weight >= fixedOne>>48; n++ {
		sums[n] = total
		total += weight >> 7
		if l.shift == 0 && n > 0 {
			total += weight >> 7
		}
		weight = mulFixed(weight, ratio)
		ratio = mulFixed(ratio, fall)
	}
	sums[n] = total // the left end of the tail

	t.bound = make([]uint32, 1, n+1)
	for j := 1; j <= n; j++ {
		b := uint32(1<<32 - 1)
		if sums[j] < total {
			c, _ := bits.Div64(sums[j], 0, total)
			b = uint32((c - min(c, 1<<28)) >> 32)
		}
		t.bound = append(t.bound, b)
		if b >= 1<<32-3 {
			break // no 32 digits would be right of this bound for certain
		}
	}
	t.fill()
}

// fill finds for every slot the block that all its numbers fall into, if it is
// one, or the first block that they can fall into.
func (t *table) fill() {
	j := 0
	for s := range t.slot {
		first := uint32(s) << restBits
		last := first | (1<<restBits - 1)
		for j+1 < len(t.bound) && t.bound[j+1] <= first {
			j++
		}
		e := uint16(j)
		if j+1 == len(t.bound) || t.bound[j+1] <= last || j > 0 && first-t.bound[j] < 2 {
			e |= mixed
		}
		t.slot[s] = e
	}
}

// guardBits is how many more bits than the digits drawn a refinement computes with.
const guardBits = 32

// belowExp reports whether the uniform number that begins with p is below
// exp(-num/den). It draws more digits until that is certain. For num = 0 it is
// certain at once; otherwise exp(-num/den) is irrational (Lindemann 1882), and the
// probability that the digits do not tell halves with every digit.
func (p prefix) belowExp(src *Source, num, den *big.Int) bool {
	for {
		p.extend(src) // nobody asks while the digits so far tell
		e := expSpan(num, den, p.n+guardBits)
		a := new(big.Int).Lsh(p.digits, guardBits)
		b := new(big.Int).Add(p.digits, bigOne)
		b.Lsh(b, guardBits)
		if b.Cmp(e.lo) <= 0 {
			return true
		}
		if a.Cmp(e.hi) >= 0 {
			return false
		}
	}
}

// pickExact returns the block that the uniform number beginning with p falls
// into. It encloses the ends of all blocks, and the sum of all weights with its
// infinite tail, and draws more digits until the number is within one block for
// certain. It falls on the end of a block with probability zero.
func (l *lattice) pickExact(src *Source, p prefix) uint64 {
	for {
		p.extend(src)
		ends, total := l.blocks(p.n + guardBits)
		// The number times the total is in [a, b], in the units of the ends.
		a := new(big.Int).Mul(p.digits, total.lo)
		b := new(big.Int).Add(p.digits, bigOne)
		b.Mul(b, total.hi)
		a.Rsh(a, p.n)
		upRsh(b, p.n)
		// The only block that can hold [a, b] is the first that ends at b or later.
		h := sort.Search(len(ends), func(h int) bool { return ends[h].lo.Cmp(b) >= 0 })
		if h < len(ends) && (h == 0 || ends[h-1].hi.Cmp(a) <= 0) {
			return uint64(h)
		}
	}
}

// blocks encloses the right end of every block, before division by the total, and the total. It
// goes on until the weights are below 2^10 units of 2^-prec, so that a higher precision reaches
// further, and bounds the tail that follows: where weights fall by the ratio r at first and then by
// r or faster, it is at most weight/(1-r).
func (l *lattice) blocks(prec uint) (ends []span, total span) {
	steps := l.steps()
	ratio := expSpan(steps, l.den, prec)
	var fall span
	if l.power == 2 {
		fall = expSpan(steps.Lsh(steps, 1), l.den, prec)
	}
	unit := new(big.Int).Lsh(bigOne, prec)
	weight := span{new(big.Int).Set(unit), new(big.Int).Set(unit)}
	total = span{new(big.Int), new(big.Int)}
	scratch := new(big.Int)
	// Rounding up keeps a weight from falling below 1/(1-r) units, and r is at most exp(-1/512).
	for weight.hi.BitLen() > 10 {
		total.add(weight)
		if l.shift == 0 && len(ends) > 0 {
			total.add(weight) // for the other sign
		}
		ends = append(ends, total.clone())
		weight.scale(ratio, prec, scratch)
		if l.power == 2 {
			ratio.scale(fall, prec, scratch)
		}
	}
	tail := weight.hi.Lsh(weight.hi, prec+1) // twice, for the other sign
	tail.Quo(tail, unit.Sub(unit, ratio.hi))
	tail.Add(tail, bigOne)
	return ends, span{total.lo, tail.Add(tail, total.hi)}
}
