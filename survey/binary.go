package survey

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
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
	c, err := cost(epsilon)
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
		return nil, fmt.Errorf("%w: the bias is a number above 0 and below 1/2, such as 1/4", ErrEpsilon)
	}
	lies := new(big.Rat).Sub(half, g)
	if lies.Denom().BitLen() > 62 {
		return nil, fmt.Errorf("%w: write the bias as a fraction with a denominator below 2^61", ErrEpsilon)
	}
	// (1/2 + g)/(1/2 - g) = 1 + 2g/(1/2 - g).
	more, _ := new(big.Rat).Quo(new(big.Rat).Add(g, g), lies).Float64()
	// The quotient is rounded once, and the logarithm within units in the last place.
	epsilon, err := dp.CeilFloat(math.Log1p(more) * (1 + 0x1p-48))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEpsilon, err)
	}
	c, err := cost(epsilon)
	if err != nil {
		return nil, err
	}
	q, _ := lies.Float64()
	gap, _ := new(big.Rat).Add(g, g).Float64()
	return &Binary{cost: c, rates: rates{p: 1 - q, q: q, gap: gap}, lies: lies.Num().Uint64(), of: lies.Denom().Uint64()}, nil
}

// Cost is what one answer costs the person who gives it.
func (b *Binary) Cost() dp.Cost { return b.cost }

// Randomize returns what a person answers.
func (b *Binary) Randomize(src *noise.Source, truth bool) bool { return b.answer(dice{src}, truth) }

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
	beta, err := miss(confidence)
	switch {
	case err != nil:
		return Estimate{}, err
	case n == 0:
		return Estimate{}, ErrNobody
	case yes < 0 || yes > n:
		return Estimate{}, fmt.Errorf("%w: %d of %d said yes", ErrReport, yes, n)
	}
	i := b.interval(yes, n, beta, of)
	return Estimate{b.estimate(yes, n), i[0], i[1]}, nil
}
