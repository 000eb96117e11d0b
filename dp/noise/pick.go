package noise

import (
	"math/big"
	"math/bits"
	"sort"
)

// Pick returns i with a probability exactly in proportion to
//
//	counts[i] exp(-r gaps[i]),
//
// where counts that are nil are all 1. It panics where r is negative, where all counts are zero, so
// that there is nothing to pick, and where they do not add up within 64 bits.
//
// Only differences between the gaps matter: the smallest one is taken off. Then the weights are
// laid side by side, and one uniform number U in [0, 1) says where in their total to look. U is
// drawn to 64 digits. The ends of the weights are known in fixed point with a bound on their error,
// proven at weigh, and where U times the total is within one weight by more than all errors
// together, further digits would change nothing. Where it is not, digits and precision are doubled
// until it is, as everywhere in this package, so no weight is rounded in the end, not even one of
// exp(-1000).
//
// Pick draws 64 bits whatever the gaps and counts are. For n weights it draws more
// with a probability of less than n (2^-51 + n 2^-60), the share of U that is within
// the margins of find, and then takes seconds for a million. It takes the same steps
// for all gaps but in that case, and in the search for the answer.
func Pick(src *Source, r *big.Rat, gaps, counts []uint64) int {
	w := weigh(newRate(r), gaps, counts)
	v := src.Uint64()
	if i, ok := w.find(v); ok {
		return i
	}
	return w.refine(src, newPrefix(v, 64))
}

// weights are weights laid side by side, each with its right end.
type weights struct {
	rate         rate
	gaps, counts []uint64
	least        uint64 // the smallest gap that counts
	first, last  int    // the first and the last that count
	size         uint64 // the sum of the counts
	ends         []wide
	slack        wide // bounds the error of every end
}

func (w *weights) count(i int) uint64 {
	if w.counts == nil {
		return 1
	}
	return w.counts[i]
}

// weigh computes the right end of every weight, in units of 2^-f with f = 127 - the
// length of the sum of all counts, so that nothing overflows.
//
// Proof of the slack, in those units. The exponent x is too small by less than 2^-63, and s is off
// by less than 3.4 + m/2 + 1 units of 2^-63 (expParts), with m <= 185 below x = 128: that is less
// than 98 2^-63, and since exp(-t) is hardly below 1/2, a share of less than 2^-55. Multiplying by
// the count is exact, and shifting rounds down by less than 1. From x = 128 on the weight is less
// than count 2^-184, and count 2^f is below 2^127, so that zero is off by less than 1. So an end, a
// sum of up to n weights, is off by less than a share of 2^-55 and n more; and as no true end is
// above total (1 + 2^-54) + 2n, all ends are off by less than total 2^-54 + n + 2.
func weigh(r rate, gaps, counts []uint64) *weights {
	w := &weights{rate: r, gaps: gaps, counts: counts, first: -1}
	for i, g := range gaps {
		c := w.count(i)
		if c == 0 {
			continue
		}
		if w.first < 0 || g < w.least {
			w.least = g
		}
		if w.first < 0 {
			w.first = i
		}
		w.last = i
		sum, carry := bits.Add64(w.size, c, 0)
		if carry != 0 {
			panic("noise: Pick from more than 2^64 elements")
		}
		w.size = sum
	}
	if w.first < 0 {
		panic("noise: Pick needs at least one element with a count above zero")
	}
	f := 127 - bits.Len64(w.size)
	var end wide
	w.ends = make([]wide, len(gaps))
	for i, g := range gaps {
		c := w.count(i)
		x := r.times(g - min(g, w.least))
		far := x.whole >= 128
		if far {
			x = fixed{127, 0} // all gaps take the same steps, those that weigh nothing too
		}
		s, m := expParts(x)
		if far {
			m = 1 << 10
		}
		hi, lo := bits.Mul64(c, s)
		end = end.add(wide{hi, lo}.shift(f - 63 - int(m)))
		w.ends[i] = end
	}
	w.slack = end.shift(-54).add(wide{0, uint64(len(gaps)) + 2})
	return w
}

// find returns the weight in which the uniform number with the leading digits v lies,
// where they tell.
//
// With T the total as computed and c = floor(v T/2^64), the number times the true total is from c -
// slack to c + slack + T/2^64 + 2. So it is within weight i for certain where c is between the
// computed ends of i by a margin of twice the slack and T/2^64 + 2. Nothing lies to the left of the
// first weight or to the right of the last one, so there no margin is needed.
func (w *weights) find(v uint64) (int, bool) {
	total := w.ends[len(w.ends)-1]
	c := total.share(v)
	margin := w.slack.add(w.slack).add(wide{0, total.hi}).add(wide{0, 2})
	right := c.add(margin)
	i := sort.Search(w.last, func(i int) bool { return right.atMost(w.ends[i]) })
	return i, i == w.first || i > 0 && w.ends[i-1].add(margin).atMost(c)
}

// refine decides by interval arithmetic. It ends with probability one, because the
// number falls on an end with probability zero.
func (w *weights) refine(src *Source, p prefix) int {
	for {
		p.extend(src)
		if i, ok := w.findExact(p); ok {
			return i
		}
	}
}

// findExact is find with enclosures of the ends, as narrow as the digits are. It
// goes through the weights twice, for the total and for the place in it.
func (w *weights) findExact(p prefix) (int, bool) {
	prec := p.n + guardBits + uint(bits.Len64(w.size))
	seen := map[uint64]span{}
	scratch := new(big.Int)
	// addTo adds a weight to a sum.
	addTo := func(sum span, i int) {
		g := w.gaps[i]
		e, ok := seen[g]
		if !ok {
			e = expSpan(w.rate.exponent(g-w.least), w.rate.den, prec)
			seen[g] = e
		}
		c := new(big.Int).SetUint64(w.count(i))
		sum.lo.Add(sum.lo, scratch.Mul(e.lo, c))
		sum.hi.Add(sum.hi, scratch.Mul(e.hi, c))
	}
	total := span{new(big.Int), new(big.Int)}
	for i := range w.gaps {
		if w.count(i) > 0 {
			addTo(total, i)
		}
	}
	// The number times the total is in [a, b].
	a := new(big.Int).Mul(p.digits, total.lo)
	b := new(big.Int).Add(p.digits, bigOne)
	b.Mul(b, total.hi)
	a.Rsh(a, p.n)
	upRsh(b, p.n)
	end := span{new(big.Int), new(big.Int)}
	left := new(big.Int) // the upper bound on the end before
	for i := w.first; ; i++ {
		if w.count(i) == 0 {
			continue
		}
		left.Set(end.hi)
		addTo(end, i)
		if i == w.last || end.lo.Cmp(b) >= 0 {
			return i, i == w.first || left.Cmp(a) <= 0
		}
	}
}

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

// Uniform returns a number below n, each with probability exactly 1/n. It panics
// where n is zero, because then there is no such number.
//
// It draws as many bits as n-1 has and starts again where they are not below n.
// Every number below n is then one word out of equally many, which is the whole
// proof; less than two attempts are needed on average.
func Uniform(src *Source, n uint64) uint64 {
	if n == 0 {
		panic("noise: Uniform needs at least one number to choose from, and n is 0")
	}
	width := uint(bits.Len64(n - 1))
	for {
		if v := src.Bits(width); v < n {
			return v
		}
	}
}

// Below returns a number below n, each with probability exactly 1/n. It panics where n is zero.
//
// It is [Uniform] for an n that must stay secret: it draws 128 bits whatever n is, and more with
// probability n 2^-128. The result is floor(U n) for a uniform number U in [0, 1), and U is in an
// interval of length 1/n for each. After 128 digits v, U n is in [v n, v n + n] 2^-128; where both
// ends have the same integer part, so has U n, and otherwise more digits tell.
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

// BernoulliExp returns true with probability exactly exp(-x). It panics where x is negative. It
// draws 32 bits and more only where these do not decide, which is once in billions of calls.
func BernoulliExp(src *Source, x *big.Rat) bool {
	switch x.Sign() {
	case -1:
		panic("noise: BernoulliExp of a negative number: exp(-x) is no probability")
	case 0:
		return true
	}
	num, den := x.Num(), x.Denom()
	// The fixed-point argument is off by less than 2^-64, half a unit.
	return decideBelowExp(src, src.Bits(32), expNeg(toFixed(num, den)), expError+1, func() (*big.Int, *big.Int) { return num, den })
}

// decideBelowExp reports whether the uniform number with the 32 leading digits v is below
// exp(-x). It is given y, exp(-x) in units of 2^-63, off by at most slack units;
// where that does not decide, it asks for x itself.
//
// The uniform number is in [v, v+1] 2^-32.
func decideBelowExp(src *Source, v, y, slack uint64, x func() (num, den *big.Int)) bool {
	if (v+1)<<31+slack <= y {
		return true
	}
	if v<<31 >= y+slack {
		return false
	}
	num, den := x()
	return newPrefix(v, 32).belowExp(src, num, den)
}

// prefix is a uniform number in [0, 1) as far as it has been drawn: it lies in
// [digits, digits+1] 2^-n, and nothing else about it exists yet. Drawing more
// digits later is therefore the same as having drawn them at once, and a decision
// made as soon as the digits allow is the decision of the whole number.
type prefix struct {
	digits *big.Int
	n      uint
}

func newPrefix(digits uint64, n uint) prefix { return prefix{new(big.Int).SetUint64(digits), n} }

// extend draws as many digits again.
func (p *prefix) extend(src *Source) {
	for more := p.n; more > 0; {
		w := min(more, 64)
		p.digits.Lsh(p.digits, w)
		p.digits.Or(p.digits, new(big.Int).SetUint64(src.Bits(w)))
		p.n += w
		more -= w
	}
}
