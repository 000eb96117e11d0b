package noise

import (
	"fmt"
	"math"
	"math/big"
)

// Reals is a vector of real random numbers, of which as many digits are drawn as somebody asks for.
// The numbers are all there from the beginning, in the sense that nothing anybody asks changes
// them: a question only makes more of their digits known. It is not safe for concurrent use, and
// shares its Source with nobody, or else the digits depend on who asks first.
//
// It prints as [noise]: with it and an answer one has what the noise was added to.
type Reals struct {
	src     *Source
	normals []normal
	// steps are exponential numbers, whose sum is the length of a radial vector. There are
	// none where the normal numbers are what was asked for.
	steps []positive
	words int // so many words of every number are drawn at least
}

// NewNormals draws n independent numbers of density exp(-x^2/2)/sqrt(2 pi).
func NewNormals(src *Source, n int) *Reals {
	r := &Reals{src: src, normals: make([]normal, n)}
	r.drawNormals(&sourceComparisons{src: src})
	return r
}

func (r *Reals) drawNormals(c *sourceComparisons) {
	for i := range r.normals {
		z := newNormal(c)
		z.part = z.part.clone()
		r.normals[i] = z
	}
}

func (r *Reals) Len() int                 { return len(r.normals) }
func (*Reals) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[noise]") }

// Approximate returns every number with an error of at most 2^-bits. Asked again, it
// returns approximations of the same numbers, whatever was asked in between.
func (r *Reals) Approximate(bits uint) []*big.Float {
	for {
		if out, ok := r.middles(bits); ok {
			return out
		}
		r.extend()
	}
}

// middles returns the middle of what every number is known to lie in, where no such
// interval is longer than 2^(1-bits).
func (r *Reals) middles(bits uint) ([]*big.Float, bool) {
	if r.prec() < bits {
		return nil, false
	}
	known, ok := r.magnitudes()
	if !ok {
		return nil, false
	}
	out := make([]*big.Float, len(known))
	longest := new(big.Int).Lsh(bigOne, r.prec()-bits+1)
	gap := new(big.Int)
	for i, k := range known {
		if gap.Sub(k.hi, k.lo).Cmp(longest) > 0 {
			return nil, false
		}
		twice := gap.Add(k.lo, k.hi)
		// As many bits as the integer has: nothing is rounded here.
		f := new(big.Float).SetPrec(uint(max(64, twice.BitLen()))).SetInt(twice)
		f.SetMantExp(f, -int(r.prec())-1)
		if r.normals[i].minus {
			f.Neg(f)
		}
		out[i] = f
	}
	return out, true
}

// prec is how many binary digits of every number are drawn.
func (r *Reals) prec() uint { return uint(r.words) * wordBits }

// extend draws one more word of every number that does not have it already, in their
// order. The order of the digits in the Source therefore is the same whoever asks for
// what, and so are the numbers.
func (r *Reals) extend() {
	for _, x := range r.steps {
		x.part.at(r.words, r.src)
	}
	for _, z := range r.normals {
		z.part.at(r.words, r.src)
	}
	r.words++
}

// magnitudes encloses the absolute values of the numbers, in units of 2^-prec, or
// says that there are not yet digits enough to do so.
func (r *Reals) magnitudes() ([]span, bool) {
	normals := make([]span, len(r.normals))
	for i, z := range r.normals {
		normals[i] = z.enclose(r.words)
	}
	if r.steps == nil {
		return normals, true
	}
	length := span{new(big.Int), new(big.Int)}
	for _, x := range r.steps {
		length.add(x.enclose(r.words))
	}
	return scaleTo(length, normals)
}

// enclose encloses the number as its first words tell it, in units of its last digit.
func (p positive) enclose(words int) span {
	lo := new(big.Int).SetUint64(p.whole)
	for i := range words {
		lo.Lsh(lo, wordBits)
		lo.Or(lo, new(big.Int).SetUint64(p.part.at(i, nil)))
	}
	return span{lo, new(big.Int).Add(lo, bigOne)}
}

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

// NewRadial draws a vector of n numbers whose density is in proportion to exp(-|x|),
// with the Euclidean norm: the noise of the K-norm mechanism (Hardt, Talwar 2010) for
// that norm, and of Chaudhuri, Monteleoni, Sarwate 2011.
//
// In n dimensions |x| has a density in proportion to t^(n-1) exp(-t), which is the sum of n
// exponential numbers, and the direction is independent of it and uniform, which the direction
// of n independent normal numbers is: x = (e_1 + ... + e_n) z/|z|.
func NewRadial(src *Source, n int) *Reals {
	r := &Reals{src: src, steps: make([]positive, n), normals: make([]normal, n)}
	c := &sourceComparisons{src: src}
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
// All numbers are integers in units of 2^-p. Squares are in units of 2^-2p, so the integer root of
// their sum is in the units of z, rounded down, and one more is above the root. A product of two
// units divided by one is one unit. Everything is positive and rises or falls in each of its parts,
// so the ends of the intervals give the ends of the result, rounded down and up.
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

// normal is a real number with a sign.
type normal struct {
	positive
	minus bool
}

// newNormal draws a number of density exp(-x^2/2)/sqrt(2 pi): Karney 2016,
// "Sampling exactly from the normal distribution", Algorithm N.
func newNormal(c comparisons) normal {
	for {
		if p, ok := tryNormal(c); ok {
			return normal{p, c.bernoulli(1, 2)}
		}
	}
}

// tryNormal draws a magnitude k + x, or nothing. The weights of its steps are
//
//	exp(-k/2)            for k (up to a constant),
//	exp(-k(k-1)/2)       to go on with k,
//	1                    for x in [0, 1), and
//	exp(-x(2k + x)/2)    to keep x,
//
// and their product is exp(-(k + x)^2/2), because k/2 + k(k-1)/2 = k^2/2.
func tryNormal(c comparisons) (p positive, ok bool) {
	var k uint64
	for fallingCoin(c, oneHalf) {
		k++
	}
	// k(k-1) coins; k is small, because each step to the next has probability exp(-1/2).
	for i := uint64(0); k > 0 && i < k*(k-1); i++ {
		if !fallingCoin(c, oneHalf) {
			return positive{}, false
		}
	}
	x := c.newFraction()
	for range k + 1 {
		if !slopeCoin(c, k, x) {
			return positive{}, false
		}
	}
	return positive{k, x}, true
}

// slopeCoin is true with probability exp(-x(2k + x)/(2k + 2)): Karney 2016,
// Algorithm B. It is fallingCoin with a second condition for every step, of
// probability q = (2k + x)/(2k + 2), so that P(N >= j) = (x q)^j/j!.
func slopeCoin(c comparisons, k uint64, x *fraction) bool {
	y, even := x, true
	for {
		u := c.newFraction()
		if !c.less(u, y) || !slope(c, k, x) {
			return even
		}
		y, even = u, !even
	}
}

// slope is true with probability (2k + x)/(2k + 2): of 2k + 2 equal parts 2k are
// true, one is false, and one is true with probability x.
func slope(c comparisons, k uint64, x *fraction) bool {
	if k > 0 && c.bernoulli(2*k, 2*k+2) {
		return true
	}
	return c.bernoulli(1, 2) && c.less(c.newFraction(), x)
}

// positive is a real number whole + part.
type positive struct {
	whole uint64
	part  *fraction
}

// exponential draws a number of density exp(-x), x > 0, by comparisons only (von Neumann 1951).
//
// A uniform x is kept with probability exp(-x). It is refused with probability 1 - (1 - 1/e) = 1/e,
// whatever happens later, and each refusal adds one: whole is l with probability e^-l (1 - 1/e),
// and part has density exp(-x)/(1 - 1/e). Together that is exp(-(l + x)).
func exponential(c comparisons) positive {
	for whole := uint64(0); ; whole++ {
		if x := c.newFraction(); fallingCoin(c, x) {
			return positive{whole, x}
		}
	}
}

// comparisons are the random decisions that real numbers are drawn by. Production
// takes them from a Source; a test takes all of them in turn and adds up what every
// way weighs, through the same code.
type comparisons interface {
	// newFraction returns a uniform number in [0, 1) that is independent of all others.
	newFraction() *fraction
	// less reports whether u < v. Two numbers are equal with probability zero.
	less(u, v *fraction) bool
	// bernoulli is true with probability num/den, at most 1.
	bernoulli(num, den uint64) bool
}

// sourceComparisons compares numbers whose digits come from a Source.
type sourceComparisons struct {
	src   *Source
	spare []fraction // most numbers are thrown away soon, so they are made many at a time
}

func (d *sourceComparisons) newFraction() *fraction {
	if len(d.spare) == 0 {
		d.spare = make([]fraction, 32)
	}
	f := &d.spare[0]
	d.spare = d.spare[1:]
	return f
}

func (d *sourceComparisons) bernoulli(num, den uint64) bool { return Uniform(d.src, den) < num }

// less draws digits of both until they differ. That they have not after n digits
// has the probability 2^-n.
func (d *sourceComparisons) less(u, v *fraction) bool {
	for i := 0; ; i++ {
		if a, b := u.at(i, d.src), v.at(i, d.src); a != b {
			return a < b
		}
	}
}

// fallingCoin is true with probability exp(-x): John von Neumann, 1951.
//
// Let N be how long x > u1 > u2 > ... goes on, for fresh u. P(N >= j) = x^j/j!,
// because j numbers below x are in falling order once in j! times. So P(N is even) is
// the sum of (-x)^j/j!, which is exp(-x).
func fallingCoin(c comparisons, x *fraction) bool {
	even := true
	for {
		u := c.newFraction()
		if !c.less(u, x) {
			return even
		}
		x, even = u, !even
	}
}

// fraction is a uniform number in [0, 1) of which as many digits exist as somebody
// has needed: wordBits binary digits to a word. Digits that exist never change, and
// digits that do not exist are independent of everything. So a comparison that is
// made as soon as the digits tell is the comparison of the whole numbers, and a
// digit that is drawn later is the one that would have been drawn at once.
type fraction struct {
	first uint64   // most fractions never need another word
	more  []uint64 // the words that follow
	n     int      // how many words there are
	// constant is the number first 2^-wordBits: nothing is drawn, and nothing changes.
	constant bool
}

// wordBits is how many digits are drawn at once.
const wordBits = 64

var oneHalf = &fraction{first: 1 << (wordBits - 1), constant: true}

// at returns word i and draws, where they are missing, all words up to it.
func (f *fraction) at(i int, src *Source) uint64 {
	if f.constant && i > 0 {
		return 0
	}
	for !f.constant && f.n <= i {
		w := src.Bits(wordBits)
		if f.n == 0 {
			f.first = w
		} else {
			f.more = append(f.more, w)
		}
		f.n++
	}
	if i == 0 {
		return f.first
	}
	return f.more[i-1]
}

// clone returns the same number, with the digits that there are, in memory of its
// own. The first is not to be used any more: it would have other digits from here on.
func (f *fraction) clone() *fraction {
	g := *f
	return &g
}
