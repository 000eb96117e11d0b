package noise

import (
	"errors"
	"math"
	"math/big"
)

// Sharpened makes Laplace noise of a smaller scale out of a draw of a larger one, such that the two
// together tell no more than the smaller one alone.
//
// Theorem. Let X1 be discrete Laplace noise of scale b1 and X2 the draw that is made of it here, of
// scale b2 < b1. Then X2 is discrete Laplace noise of scale b2, and X1 = X2 + M with an M that is
// independent of X2. So y + X1 is a function of y + X2 and of coins, for every number y.
//
// Proof. Let a = exp(-1/b1), and call a number geometric at a if it is k with probability (1 - a)
// a^k. Discrete Laplace noise at a is G - H for independent G and H that are geometric at a.
// Given G - H = x, the pair is (max(x, 0) + m, max(-x, 0) + m) with a probability in proportion
// to a^(abs(x) + 2m), so m is geometric at a^2 = exp(-2/b1), whatever x is: this is how the pair
// is drawn back. Now let J be geometric at c = exp(-(1/b2 - 1/b1)), independent of G. At least k
// are both with probability a^k c^k, so min(G, J) is geometric at a c = exp(-1/b2); and how far
// the larger one is above the smaller, and which it is, does not depend on min(G, J), because
// both forget: given that both are at least k, what they are above k has the law that they began
// with. So G - min(G, J) is independent of min(G, J). The same for H with a J of its own. X2 is
// min(G, J) - min(H, J'), and M what is left.
//
// It does not change and is safe for concurrent use with different Sources.
type Sharpened struct{ pair, thin *Geometric }

// ErrSharpened is returned where there is nothing to sharpen: the second scale has to be the
// smaller.
var ErrSharpened = errors.New("the second scale is not smaller than the first")

// NewSharpened returns how a draw of the first scale becomes one of the second.
func NewSharpened(from, to *big.Rat) (*Sharpened, error) {
	if to.Sign() <= 0 || from.Cmp(to) <= 0 {
		return nil, ErrSharpened
	}
	pair, err := NewGeometric(new(big.Rat).Quo(from, big.NewRat(2, 1)))
	if err != nil {
		return nil, err
	}
	scale := new(big.Rat).Mul(from, to)
	thin, err := NewGeometric(scale.Quo(scale, new(big.Rat).Sub(from, to)))
	return &Sharpened{pair, thin}, err
}

// Coins are what one of them draws. They do not depend on what is sharpened.
type Coins struct{ back, left, right int64 }

// Draw draws the coins of one of them.
func (r *Sharpened) Draw(src *Source) Coins {
	return Coins{r.pair.Draw(src), r.thin.Draw(src), r.thin.Draw(src)}
}

// Sharpen turns a draw of the first scale into one of the second.
func (c Coins) Sharpen(x int64) int64 {
	left, right := max(x, 0), max(-max(x, -math.MaxInt64), 0)
	return min(upTo(left, c.back), c.left) - min(upTo(right, c.back), c.right)
}

// upTo adds two numbers that are not negative, up to the largest there is. No draw of a scale that
// is allowed comes near it.
func upTo(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
