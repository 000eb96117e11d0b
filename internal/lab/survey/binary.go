package survey

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// Binary asks a question with the answers yes and no. The truth is told with
// probability 1/2 + g, and its opposite otherwise (Warner 1965), so that
//
//	epsilon = ln((1/2 + g)/(1/2 - g)), g = tanh(epsilon/2)/2.
type Binary struct {
	cost dp.Cost
	rates
	// One of the two: a coin of the probability of a lie, or the number of lies among
	// so many equally likely outcomes.
	lie      *coin
	lies, of uint64
}

// NewBinary returns randomized response at exactly epsilon.
func NewBinary(epsilon dp.Amount) (*Binary, error) {
	c, err := reportCost(epsilon)
	if err != nil {
		return nil, err
	}
	return &Binary{cost: c, rates: directRates(2, epsilon), lie: newCoin(1, epsilon)}, nil
}

// NewBiased returns randomized response with a bias g between 0 and 1/2, such as 1/4:
// people toss a coin, tell the truth on heads, and on tails let a second coin answer.
// The truth is told with probability exactly 1/2 + g. Its epsilon is a logarithm of a
// fraction, ln 3 for 1/4, and the cost is that rounded up.
func NewBiased(g *big.Rat) (*Binary, error) {
	half := big.NewRat(1, 2)
	if g == nil || g.Sign() <= 0 || g.Cmp(half) >= 0 {
		return nil, fmt.Errorf("%w: the bias must be a number above 0 and below 1/2, such as 1/4", errEpsilon)
	}
	lies := new(big.Rat).Sub(half, g)
	if lies.Denom().BitLen() > 62 {
		return nil, fmt.Errorf("%w: write the bias as a fraction with a denominator below 2^61", errEpsilon)
	}
	// (1/2 + g)/(1/2 - g) = 1 + 2g/(1/2 - g).
	more, _ := new(big.Rat).Quo(new(big.Rat).Add(g, g), lies).Float64()
	// The quotient is rounded once, and the logarithm within units in the last place.
	epsilon, err := dp.CeilFloat(math.Log1p(more) * (1 + 0x1p-48))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEpsilon, err)
	}
	c, err := reportCost(epsilon)
	if err != nil {
		return nil, err
	}
	q, _ := lies.Float64()
	gap, _ := new(big.Rat).Add(g, g).Float64()
	return &Binary{cost: c, rates: rates{p: 1 - q, q: q, gap: gap}, lies: lies.Num().Uint64(), of: lies.Denom().Uint64()}, nil
}

// Cost is what one answer costs the person who gives it.
func (b *Binary) Cost() dp.Cost { return b.cost }

func (b *Binary) Randomize(src *noise.Source, truth bool) bool {
	return b.answer(sourceRandomness{src}, truth)
}

func (b *Binary) answer(c randomness, truth bool) bool {
	lie := false
	if b.lie != nil {
		lie = c.flip(b.lie)
	} else {
		lie = c.below(b.of) < b.lies
	}
	return truth != lie
}

// Estimate returns the unbiased estimate of the proportion of people whose true answer
// is yes, (mean - 1/2 + g)/(2g), and its interval, from how many of n said yes.
func (b *Binary) Estimate(yes, n int64, confidence float64, of Population) (Estimate, error) {
	beta, err := missProbability(confidence)
	switch {
	case err != nil:
		return Estimate{}, err
	case n == 0:
		return Estimate{}, errNobody
	case yes < 0 || yes > n:
		return Estimate{}, fmt.Errorf("%w: %d of %d said yes", errReport, yes, n)
	}
	i := b.interval(yes, n, beta, of)
	return Estimate{b.estimate(yes, n), i[0], i[1]}, nil
}

// randomness is what a client draws from. The tests have one that walks through every
// way the draws can come out.
type randomness interface {
	flip(*coin) bool
	below(n uint64) uint64
}

type sourceRandomness struct{ src *noise.Source }

func (d sourceRandomness) flip(c *coin) bool     { return c.flip(d.src) }
func (d sourceRandomness) below(n uint64) uint64 { return noise.Uniform(d.src, n) }

// coin is true with probability exactly b/(b + exp(epsilon)): that of a lie, where
// there are b of them and the truth is exp(epsilon) times as likely as each.
//
// It compares a uniform number U, drawn digit by digit, with that probability, in the way of
// package noise: after n digits U is known to be in an interval of length 2^-n, and where the whole
// interval is on one side, so is U. The probability is enclosed as tightly as the digits need, by
// integers. exp of a rational other than 0 is transcendental (Lindemann 1882), so the probability
// is no fraction and the digits decide in the end; that n of them do not has probability 2^-n.
//
// Two coins of probability exp(-epsilon) and one half would do as well, by
// rejection. This one takes eight digits nearly always, and oue needs k of them.
type coin struct {
	b       uint64
	epsilon dp.Amount
	lo, hi  uint64 // lo <= 2^64 b/(b + exp(epsilon)) <= hi
}

func newCoin(b uint64, epsilon dp.Amount) *coin {
	c := &coin{b: b, epsilon: epsilon}
	lo, hi := c.enclose(64)
	c.lo, c.hi = lo.Uint64(), hi.Uint64()
	return c
}

func (c *coin) flip(src *noise.Source) bool {
	v := src.Bits(8) // U is in [v, v+1) 2^-8
	if v < c.lo>>56 {
		return true
	}
	if v > c.hi>>56 {
		return false
	}
	v = v<<56 | src.Bits(56)
	if v < c.lo {
		return true
	}
	if v >= c.hi {
		return false
	}
	return c.refine(src, new(big.Int).SetUint64(v))
}

// refine decides where 64 digits do not, once in 2^63 flips.
func (c *coin) refine(src *noise.Source, digits *big.Int) bool {
	const guard = 32
	next := new(big.Int)
	for n := uint(128); ; n += 64 {
		digits.Lsh(digits, 64)
		digits.Or(digits, next.SetUint64(src.Uint64()))
		lo, hi := c.enclose(n + guard)
		// U is in [digits, digits+1) 2^-n.
		if end := next.Add(digits, big.NewInt(1)); end.Lsh(end, guard).Cmp(lo) <= 0 {
			return true
		}
		if begin := next.Lsh(digits, guard); begin.Cmp(hi) >= 0 {
			return false
		}
	}
}

// enclose returns integers around 2^n b/(b + exp(epsilon)), which is decreasing in the exponential.
func (c *coin) enclose(n uint) (lo, hi *big.Int) {
	prec := n + 64
	low, high := expSpan(c.epsilon, prec)
	b := new(big.Int).SetUint64(c.b)
	scaled := new(big.Int).Lsh(b, prec)
	above := new(big.Int).Lsh(scaled, n)
	lo = new(big.Int).Quo(above, high.Add(high, scaled))
	hi = above.Quo(above, low.Add(low, scaled))
	return lo, hi.Add(hi, big.NewInt(1))
}

// expSpan returns integers around 2^prec exp(x), x = epsilon, by Taylor's series, all
// of whose terms are positive: one sum of terms rounded down and one of terms rounded
// up. From i+1 >= 2x on each term is at most half the one before, so all that follow
// term i are together at most as much as it is.
func expSpan(epsilon dp.Amount, prec uint) (lo, hi *big.Int) {
	x := new(big.Int).SetUint64(uint64(epsilon)) // in units of 2^-40
	one := big.NewInt(1)
	low := new(big.Int).Lsh(one, prec)
	high := new(big.Int).Set(low)
	lo, hi = new(big.Int).Set(low), new(big.Int).Set(low)
	by, rest := new(big.Int), new(big.Int)
	for i := uint64(1); ; i++ {
		by.SetUint64(i)
		by.Lsh(by, 40)
		low.Mul(low, x)
		low.Quo(low, by)
		high.Mul(high, x)
		high.QuoRem(high, by, rest)
		if rest.Sign() != 0 {
			high.Add(high, one)
		}
		lo.Add(lo, low)
		hi.Add(hi, high)
		if (i+1)<<40 >= 2*uint64(epsilon) && high.Cmp(one) <= 0 {
			return lo, hi.Add(hi, high)
		}
	}
}
